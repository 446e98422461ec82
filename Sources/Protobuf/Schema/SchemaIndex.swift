/// Finds the file that defines a symbol, without having unpacked any.
///
/// Adding a set reads each file's name and package only; the names of a file's top-level symbols are read when a
/// symbol of its package is looked up.
struct SchemaIndex {
  struct Source {
    let bytes: SchemaBytes
    let name: String
  }

  /// A serialized FileDescriptorProto within a source.
  struct File {
    let source: Int
    let bytes: UnsafeRawBufferPointer
    let name: UnsafeRawBufferPointer
    let package: UnsafeRawBufferPointer
    /// The next file of the package.
    var next: Int?
  }

  /// The files of a package, as a list: a set may hold ten thousand packages, of which a call looks into two.
  private struct Package {
    let name: UnsafeRawBufferPointer
    /// The first file whose symbols are not in the table yet.
    var pending: Int?
    var last: Int
  }

  enum Kind: UInt8 {
    case message = 4
    case enumeration = 5
    case service = 6
    case extensionField = 7
  }

  /// A top-level declaration of a file.
  struct Symbol {
    let file: Int
    let kind: Kind
    let name: UnsafeRawBufferPointer
    /// The serialized declaration.
    let bytes: UnsafeRawBufferPointer
  }

  /// Where a name leads: to a top-level symbol and on into what it nests.
  struct Location {
    let symbol: Symbol
    /// The names of the nested messages on the way, the last one being what was looked up.
    let nested: [String]
  }

  private(set) var sources: [Source] = []
  private(set) var files: [File] = []
  private var fileTable = NameTable()
  private var packages: [Package] = []
  private var packageTable = NameTable()
  private var symbols: [Symbol] = []
  private var symbolTable = NameTable()
  /// The file that defines a symbol too, but differently.
  private var rivals: [Int: Int] = [:]

  // MARK: Adding

  mutating func add(_ set: SchemaBytes, source: String) throws(SchemaError) {
    guard set.bytes.count > 0 else { throw SchemaError(.emptySource, source: source) }
    let found: [File]
    do {
      found = try DescriptorSetScanner.files(of: set.bytes, source: sources.count)
    } catch {
      throw SchemaError(
        .notADescriptorSet(DescriptorSetScanner.guess(set.bytes) ?? error.what), source: source)
    }
    let firstNew = files.count
    if firstNew == 0 { files.reserveCapacity(found.count) }
    fileTable.reserve(firstNew + found.count)
    sources.append(Source(bytes: set, name: source))
    for file in found { try add(file, firstNew: firstNew, source: source) }
  }

  private mutating func add(_ file: File, firstNew: Int, source: String) throws(SchemaError) {
    let hash = NameTable.hash(file.name)
    if let earlier = fileTable.find(hash, matches: { sameBytes(files[$0].name, file.name) }) {
      guard earlier < firstNew || sameBytes(files[earlier].bytes, file.bytes) else {
        throw SchemaError(.conflictingFile, source: source, file: String(decoding: file.name, as: UTF8.self))
      }
      return
    }
    fileTable.insert(hash, files.count)
    let packageHash = NameTable.hash(file.package)
    if let package = packageTable.find(packageHash, matches: { sameBytes(packages[$0].name, file.package) }) {
      if packages[package].pending == nil {
        packages[package].pending = files.count
      } else {
        files[packages[package].last].next = files.count
      }
      packages[package].last = files.count
    } else {
      packageTable.insert(packageHash, packages.count)
      packages.append(Package(name: file.package, pending: files.count, last: files.count))
    }
    files.append(file)
  }

  // MARK: Looking up

  func file(named name: UnsafeRawBufferPointer) -> Int? {
    fileTable.find(NameTable.hash(name)) { sameBytes(files[$0].name, name) }
  }

  /// Finds a symbol by its full name, without a leading dot.
  mutating func find(_ name: String) throws(SchemaError) -> Location? {
    var parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if parts.contains("") { return nil }
    var nested: [String] = []
    while let last = parts.popLast() {
      if let symbol = try find(last, in: parts.joined(separator: ".")) {
        if nested.isEmpty || symbol.kind == .message {
          return Location(symbol: symbol, nested: nested.reversed())
        }
      }
      nested.append(last)
    }
    return nil
  }

  private mutating func find(_ name: String, in package: String) throws(SchemaError) -> Symbol? {
    var package = package
    var name = name
    let index = package.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      return packageTable.find(NameTable.hash(bytes)) { sameBytes(packages[$0].name, bytes) }
    }
    guard let index else { return nil }
    try indexSymbols(ofPackage: index)
    let found = name.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      let hash = NameTable.hash(bytes, seed: NameTable.hash(packages[index].name))
      let found = symbolTable.find(hash) {
        sameBytes(symbols[$0].name, bytes)
          && sameBytes(files[symbols[$0].file].package, packages[index].name)
      }
      return found
    }
    guard let found else { return nil }
    if let rival = rivals[found] {
      throw conflict(fullName(of: symbols[found]), files: symbols[found].file, rival)
    }
    return symbols[found]
  }

  private mutating func indexSymbols(ofPackage index: Int) throws(SchemaError) {
    while let number = packages[index].pending {
      let file = files[number]
      packages[index].pending = file.next
      let seed = NameTable.hash(file.package)
      do {
        try DescriptorSetScanner.symbols(of: file, number: number) { symbol in
          let hash = NameTable.hash(symbol.name, seed: seed)
          let earlier = symbolTable.find(hash) {
            sameBytes(symbols[$0].name, symbol.name)
              && sameBytes(files[symbols[$0].file].package, file.package)
          }
          if let earlier {
            let isSame =
              symbols[earlier].kind == symbol.kind && sameBytes(symbols[earlier].bytes, symbol.bytes)
            if !isSame, isSameSource(symbols[earlier].file, number) { rivals[earlier] = number }
          } else {
            symbolTable.insert(hash, symbols.count)
            symbols.append(symbol)
          }
        }
      } catch {
        throw schemaError(.invalid("malformed descriptor: \(error.what)"), file: number)
      }
    }
  }

  /// Full names of all top-level symbols of a kind, in no order.
  mutating func names(of kind: Kind) throws(SchemaError) -> [String] {
    for index in packages.indices { try indexSymbols(ofPackage: index) }
    return symbols.filter { $0.kind == kind }.map { fullName(of: $0) }
  }

  func fullName(of symbol: Symbol) -> String {
    let package = files[symbol.file].package
    let name = String(decoding: symbol.name, as: UTF8.self)
    return package.isEmpty ? name : String(decoding: package, as: UTF8.self) + "." + name
  }

  /// Whether two files contradict each other when they define the same: of several sources the first wins.
  func isSameSource(_ first: Int, _ second: Int) -> Bool {
    files[first].source == files[second].source
  }

  /// The error that two files define something differently.
  func conflict(_ what: String, files first: Int, _ second: Int) -> SchemaError {
    let names = [first, second].map { String(decoding: files[$0].name, as: UTF8.self) }
    return SchemaError(
      .conflictingSymbol(what, files: names), source: sources[files[first].source].name)
  }

  func schemaError(_ reason: SchemaError.Reason, file: Int) -> SchemaError {
    SchemaError(
      reason, source: sources[files[file].source].name,
      file: String(decoding: files[file].name, as: UTF8.self))
  }
}
