/// Finds the file that defines a symbol, without unpacking files.
///
/// Adding a set reads only the name and package of each file; a file's top-level symbols are read when a
/// symbol of its package is looked up.
package struct SchemaIndex {
  package struct Source {
    let bytes: SchemaBytes
    package let name: String
  }

  /// A serialized FileDescriptorProto within a source.
  package struct File {
    package let source: Int
    package let bytes: UnsafeRawBufferPointer
    package let name: UnsafeRawBufferPointer
    package let package: UnsafeRawBufferPointer
  }

  package enum Kind: UInt8 {
    case message = 4
    case enumeration = 5
    case service = 6
    case extensionField = 7
  }

  /// A top-level declaration of a file.
  package struct Symbol {
    package let file: Int
    package let kind: Kind
    let name: UnsafeRawBufferPointer
    /// The serialized declaration.
    let bytes: UnsafeRawBufferPointer
  }

  /// The result of resolving a name: a top-level symbol, and names nested in it.
  package struct Location {
    package let symbol: Symbol
    /// The names of the nested messages on the path; the last one is the name that was looked up.
    package let nested: [String]
  }

  package private(set) var sources: [Source] = []
  package private(set) var files = SchemaFiles()
  private var symbols: [Symbol] = []
  private var symbolTable = NameTable()
  /// The file with a different definition of a symbol.
  private var rivals: [Int: Int] = [:]

  // MARK: Adding

  mutating func add(_ set: SchemaBytes, source: String) throws(SchemaError) {
    guard set.bytes.count > 0 else { throw SchemaError(.emptySource, source: source) }
    let firstNew = files.count
    do {
      try files.append(set.bytes, source: sources.count)
    } catch {
      throw SchemaError(
        .notADescriptorSet(DescriptorSetScanner.guess(set.bytes) ?? error.what), source: source)
    }
    sources.append(Source(bytes: set, name: source))
    if let name = files.merge(from: firstNew) {
      throw SchemaError(.conflictingFile, source: source, file: name)
    }
  }

  // MARK: Looking up

  package func file(named name: UnsafeRawBufferPointer) -> Int? {
    files.number(named: name)
  }

  /// Finds a symbol by its full name, without a leading dot.
  package mutating func find(_ name: String) throws(SchemaError) -> Location? {
    try Array(name.utf8).withUnsafeBufferPointer { (name) throws(SchemaError) in
      try find(UnsafeRawBufferPointer(name))
    }
  }

  private mutating func find(_ name: UnsafeRawBufferPointer) throws(SchemaError) -> Location? {
    let dots = name.indices.filter { name[$0] == UInt8(ascii: ".") }
    let bounds = zip([-1] + dots, dots + [name.count])
    if bounds.contains(where: { $1 - $0 == 1 }) { return nil }
    var nested: [String] = []
    for (before, end) in bounds.reversed() {
      let part = UnsafeRawBufferPointer(rebasing: name[(before + 1)..<end])
      let package = UnsafeRawBufferPointer(rebasing: name[..<max(before, 0)])
      if let symbol = try find(part, in: package), nested.isEmpty || symbol.kind == .message {
        return Location(symbol: symbol, nested: nested.reversed())
      }
      nested.append(String(decoding: part, as: UTF8.self))
    }
    return nil
  }

  private mutating func find(
    _ name: UnsafeRawBufferPointer, in package: UnsafeRawBufferPointer
  ) throws(SchemaError) -> Symbol? {
    var start = 0
    while let file = files.takePending(of: package, from: start) {
      start = file + 1
      try indexSymbols(of: file)
    }
    guard let found = number(of: name, in: package) else { return nil }
    if let rival = rivals[found] {
      throw conflict(fullName(of: symbols[found]), files: symbols[found].file, rival)
    }
    return symbols[found]
  }

  /// The index of a symbol among those read so far.
  private func number(of name: UnsafeRawBufferPointer, in package: UnsafeRawBufferPointer) -> Int? {
    symbolTable.find(NameTable.hash(name, seed: NameTable.hash(package))) {
      sameBytes(symbols[$0].name, name) && sameBytes(files[symbols[$0].file].package, package)
    }
  }

  private mutating func indexSymbols(of number: Int) throws(SchemaError) {
    let file = files[number]
    do {
      try DescriptorSetScanner.symbols(of: file, number: number) { add($0, package: file.package) }
    } catch {
      throw schemaError(.invalid("malformed descriptor: \(error.what)"), file: number)
    }
  }

  private mutating func add(_ symbol: Symbol, package: UnsafeRawBufferPointer) {
    guard let earlier = number(of: symbol.name, in: package) else {
      symbolTable.insert(NameTable.hash(symbol.name, seed: NameTable.hash(package)), symbols.count)
      symbols.append(symbol)
      return
    }
    let isSame = symbols[earlier].kind == symbol.kind && sameBytes(symbols[earlier].bytes, symbol.bytes)
    if !isSame, isSameSource(symbols[earlier].file, symbol.file) { rivals[earlier] = symbol.file }
  }

  /// The full names of all top-level symbols of a kind, in no order.
  mutating func names(of kind: Kind) throws(SchemaError) -> [String] {
    for number in files.indices where files.isPending(number) {
      let package = files[number].package
      var start = 0
      while let file = files.takePending(of: package, from: start) {
        start = file + 1
        try indexSymbols(of: file)
      }
    }
    return symbols.filter { $0.kind == kind }.map { fullName(of: $0) }
  }

  func fullName(of symbol: Symbol) -> String {
    let package = files[symbol.file].package
    let name = String(decoding: symbol.name, as: UTF8.self)
    return package.isEmpty ? name : String(decoding: package, as: UTF8.self) + "." + name
  }

  /// Whether different definitions in two files are an error: among several sources the first takes
  /// precedence.
  func isSameSource(_ first: Int, _ second: Int) -> Bool {
    files.source(of: first) == files.source(of: second)
  }

  /// The error for different definitions in two files.
  func conflict(_ what: String, files first: Int, _ second: Int) -> SchemaError {
    let names = [first, second].map { String(decoding: files[$0].name, as: UTF8.self) }
    return SchemaError(
      .conflictingSymbol(what, files: names), source: sources[files[first].source].name)
  }

  package func schemaError(_ reason: SchemaError.Reason, file: Int) -> SchemaError {
    SchemaError(
      reason, source: sources[files[file].source].name,
      file: String(decoding: files[file].name, as: UTF8.self))
  }
}
