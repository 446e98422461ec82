import Testing

@testable import RPCurlProtobuf

/// Look-ups of files in descriptor sets by name and by package.
@Suite struct SchemaFilesTests {
  private func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { delimitedField(number, content) }

  private func field(_ number: UInt8, _ text: String) -> [UInt8] { delimitedField(number, Array(text.utf8)) }

  private func message(_ name: String) -> [UInt8] { field(4, field(1, name)) }

  private func file(_ name: [UInt8], package: [UInt8], _ content: [UInt8] = []) -> [UInt8] {
    field(1, field(1, name) + field(2, package) + content)
  }

  private func file(_ name: String, package: String = "p", _ content: [UInt8] = []) -> [UInt8] {
    file(Array(name.utf8), package: Array(package.utf8), content)
  }

  private func pool(_ sets: [UInt8]...) throws -> DescriptorPool {
    let pool = DescriptorPool()
    for (number, set) in sets.enumerated() { try pool.add(SchemaBytes(set), source: "set \(number + 1)") }
    return pool
  }

  private func reason(_ set: [UInt8]) -> SchemaError.Reason? {
    #expect(throws: SchemaError.self) { try pool(set) }?.reason
  }

  private static let names = [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 127, 128, 300, 20_000].map { length in
    [UInt8]((0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) })
  }

  @Test(arguments: names) func rejectsInvalidBytesInNames(name: [UInt8]) throws {
    for position in Set([0, name.count / 2, name.count - 1]) {
      for byte: UInt8 in [0, 0x1f, 0x7f, 0x80, 0xbf, 0xdf, 0xff] {
        var damaged = name
        damaged[position] = byte
        #expect(
          reason(file(damaged, package: name))
            == .notADescriptorSet("the name of its file 1 contains control characters or is not UTF-8"))
        #expect(
          reason(file("a.proto") + file(name, package: damaged))
            == .notADescriptorSet("its file 2 has an invalid package name"))
      }
    }
  }

  @Test(arguments: names) func findsFilesWithNamesOfAnyLength(name: [UInt8]) throws {
    let text = String(decoding: name, as: UTF8.self)
    let pool = try pool(file(name, package: name, message("M")) + file("b.proto"))
    #expect(try pool.fileOptions(of: text) != nil)
    #expect(try pool.fileOptions(of: text + "a") == nil)
    #expect(try pool.messageType(named: text + ".M")?.file() == text)
    #expect(try pool.messageType(named: text + "a.M") == nil)
    #expect(pool.fileNames == [text, "b.proto"])
  }

  @Test func findsNamesThatAreNotASCII() throws {
    let pool = try pool(file("dossier/été.proto", package: "paquet.été", message("M")))
    #expect(try pool.messageType(named: "paquet.été.M")?.file() == "dossier/été.proto")
  }

  @Test(arguments: [0, 1, 2, 3])
  func findsFilesWithAnyFirstFields(form: Int) throws {
    let (name, package) = (field(1, "a.proto"), field(2, "q"))
    let content = [
      package + name + message("M"), field(3, "b.proto") + name + message("M") + package,
      name + message("M") + field(12, "proto3") + package,
      [0x8a, 0] + name.dropFirst() + package + message("M"),
    ]
    let pool = try pool(field(1, content[form]))
    #expect(try pool.messageType(named: "q.M")?.file() == "a.proto")
  }

  @Test func findsFilesWithoutPackage() throws {
    let pool = try pool(
      field(1, field(1, "a.proto") + message("M")) + file("b.proto", package: "", message("N")))
    #expect(pool.messageNames == ["M", "N"])
    #expect(try pool.messageType(named: "N")?.file() == "b.proto")
  }

  @Test func ignoresOtherFieldsOfSet() throws {
    let others: [UInt8] = [0x10, 1] + field(3, "x") + [0x8a, 0, 0]
    let error = reason([0x10, 1] + field(3, "x"))
    #expect(error == .notADescriptorSet("it contains no files"))
    #expect(reason(file("a.proto") + others) == .notADescriptorSet("its file 2 has no name"))
    let pool = try pool(
      [0x10, 1] + file("a.proto", message("M")) + field(3, "x") + file("b.proto", message("N")))
    #expect(pool.messageNames == ["p.M", "p.N"])
  }

  @Test func rejectsTruncatedSet() throws {
    let set = file("a.proto", message("M")) + file("b.proto", message("N"))
    let whole = file("a.proto", message("M")).count
    for length in 1..<set.count where length != whole {
      #expect(throws: SchemaError.self) { try pool(Array(set.prefix(length))) }
    }
  }

  /// No compiler makes one, and upb refuses it too: its values would be read in another form than they are written.
  @Test func rejectsMapOfGroups() throws {
    let key = field(1, "key") + [0x18, 1, 0x20, 1, 0x28, 9]
    let value = field(1, "value") + [0x18, 2, 0x20, 1, 0x28, 10] + field(6, ".p.M")
    let entry = field(1, "E") + field(2, key) + field(2, value) + field(7, [0x38, 1])
    let map = field(1, "map") + [0x18, 1, 0x20, 3, 0x28, 11] + field(6, ".p.M.E")
    let pool = try pool(file("a.proto", field(4, field(1, "M") + field(2, map) + field(3, entry))))
    let error = #expect(throws: SchemaError.self) { try pool.messageType(named: "p.M")?.fields() }
    #expect(error?.reason == .invalid("p.M.map has map values of type group"))
  }

  /// Many packages, whose files are not adjacent.
  private func manyFiles() -> [UInt8] {
    (0..<3000).flatMap { file("f\($0).proto", package: "p\($0 % 1000)", message("M\($0)")) }
  }

  @Test func findsEachSymbolOfManyFiles() throws {
    let pool = try pool(manyFiles())
    for number in stride(from: 0, to: 3000, by: 7) {
      let type = try pool.messageType(named: "p\(number % 1000).M\(number)")
      #expect(try type?.file() == "f\(number).proto")
      #expect(try pool.messageType(named: "p\((number + 1) % 1000).M\(number)") == nil)
    }
    #expect(pool.messageNames.count == 3000)
    #expect(try pool.messageType(named: "p1.M1")?.file() == "f1.proto")
  }

  @Test func findsSymbolsOfSetAddedAfterLookUp() throws {
    let pool = try pool(manyFiles())
    #expect(try pool.messageType(named: "p1.M1") != nil)
    #expect(try pool.messageType(named: "p1.X") == nil)
    let more = file("f1.proto", package: "p1", message("X")) + file("g.proto", package: "p1", message("Y"))
    try pool.add(SchemaBytes(more), source: "more")
    // The first source of a file takes precedence.
    #expect(try pool.messageType(named: "p1.X") == nil)
    #expect(try pool.messageType(named: "p1.Y")?.file() == "g.proto")
    #expect(pool.messageNames.count == 3001)
    #expect(try pool.messageType(named: "p2.M2") != nil)
  }

  /// Packages whose marks are the same: they are as long and end alike.
  @Test func listsTheFilesOfPackagesAfterSomeSearches() throws {
    let count = 2000
    let packages = (0..<count).map { "p\($0 + count).the.same.end" }
    let set = SchemaBytes(
      packages.enumerated().flatMap { file("f\($0).proto", package: $1) + file("g\($0).proto", package: $1) })
    #expect(Set(packages.map { mark(of: $0) }).count == 1)
    var files = SchemaFiles()
    try files.append(set.bytes, source: 0)
    #expect(files.merge(from: 0) == nil)
    for (number, package) in packages.enumerated() {
      #expect(take(package, from: &files) == [number * 2, number * 2 + 1])
      #expect(take(package, from: &files) == [])
    }
    #expect(files.searchCount == SchemaFiles.searchLimit)
    #expect(take("missing.the.same.end", from: &files) == [])
  }

  @Test func remembersThePackagesThatWereSearched() throws {
    let set = SchemaBytes(manyFiles())
    var files = SchemaFiles()
    try files.append(set.bytes, source: 0)
    #expect(files.merge(from: 0) == nil)
    #expect(take("p7", from: &files) == [7, 1007, 2007])
    for _ in 0..<10 { #expect(take("p7", from: &files) == []) }
    #expect(files.searchCount == 1)
  }

  @Test func distinguishesNamesWithTheSameHash() throws {
    var seen: [UInt32: String] = [:]
    var pair: (String, String)?
    for number in 0..<400_000 where pair == nil {
      let name = "file\(number).proto"
      let hash = Array(name.utf8).withUnsafeBytes { NameTable.fold(NameTable.hash($0)) }
      if let other = seen.updateValue(name, forKey: hash) { pair = (other, name) }
    }
    let (a, b) = try #require(pair)
    let files = file(a, message("A")) + file(b, message("B"))
    let pool = try pool(files + files)
    #expect(pool.fileNames == [a, b])
    #expect(try pool.messageType(named: "p.A")?.file() == a)
    #expect(try pool.messageType(named: "p.B")?.file() == b)
    #expect(reason(files + file(b)) == .conflictingFile)
  }

  private func mark(of package: String) -> UInt32 {
    Array(package.utf8).withUnsafeBytes { DescriptorSetScanner.mark(ofPackage: $0) }
  }

  private func take(_ package: String, from files: inout SchemaFiles) -> [Int] {
    Array(package.utf8).withUnsafeBytes { package in
      var taken: [Int] = []
      while let file = files.takePending(of: package, from: taken.last.map { $0 + 1 } ?? 0) {
        taken.append(file)
      }
      return taken
    }
  }

  @Test func leavesOutFilesThatRepeat() throws {
    let (a, b, c) = (
      file("a.proto", message("A")), file("b.proto", message("B")), file("c.proto", message("C"))
    )
    let pool = try pool(a + a + b + a, b + c + c)
    #expect(pool.fileNames == ["a.proto", "b.proto", "c.proto"])
    #expect(pool.fileNames(exceptOf: "set 1") == ["c.proto"])
    #expect(pool.messageNames == ["p.A", "p.B", "p.C"])
  }

  @Test func keepsFilesBeforeDifferingFile() throws {
    let pool = DescriptorPool()
    let set =
      file("a.proto", message("A")) + file("b.proto") + file("a.proto", message("B")) + file("c.proto")
    let error = #expect(throws: SchemaError.self) { try pool.add(SchemaBytes(set), source: "s") }
    #expect(error?.reason == .conflictingFile && error?.file == "a.proto")
    #expect(pool.fileNames == ["a.proto", "b.proto"])
    // A malformed set is reported first.
    #expect(reason(set + [0x0a]) != .conflictingFile)
  }

  @Test func reportsEachDamagedFileOfPackageOnce() throws {
    let pool = try pool(
      file("a.proto", [0x22, 9]) + file("b.proto", message("B")) + file("c.proto", [0x22, 9]))
    let errors = (0..<2).map { _ in
      #expect(throws: SchemaError.self) { try pool.messageType(named: "p.B") }?.file
    }
    #expect(errors == ["a.proto", "c.proto"])
    #expect(try pool.messageType(named: "p.B") != nil)
  }
}
