import RPCurlProtobuf

extension DescriptorPool {
  /// A declared name and its place.
  package struct Symbol: Sendable, Hashable {
    /// The full name: `pkg.Message.field`, `pkg.Enum.VALUE`; for methods `pkg.Service/Method`.
    package let name: String
    /// The kind of the declaration.
    package let kind: SymbolKind
    /// The `.proto` file.
    package let file: String
    /// The source that contains the file.
    package let source: String

    /// Makes a symbol that was found in another way.
    package init(name: String, kind: SymbolKind, file: String, source: String = "") {
      self.name = name
      self.kind = kind
      self.file = file
      self.source = source
    }
  }

  /// All declarations of these kinds, in the order of the sources. Files are not unpacked, so an invalid one
  /// may contribute some.
  ///
  /// If several files declare the same name, the first one counts.
  ///
  /// - Parameter ending: If given, only declarations with this last part of the full name.
  package func symbols(_ kinds: Set<SymbolKind>, ending: String? = nil) -> [Symbol] {
    let looksIntoMessages = !kinds.isSubset(of: [.service, .method])
    let end = ending.map { Array($0.utf8) }
    var seen: Set<String> = []
    var found: [Symbol] = []
    let add = { (index: inout SchemaIndex) in
      for file in index.files {
        let name = String(decoding: file.name, as: UTF8.self)
        let source = index.sources[file.source].name
        // Declarations read before the damage of a file are valid.
        try? DescriptorSetScanner.declarations(of: file, kinds, intoMessages: looksIntoMessages, ending: end)
        { kind, symbol in
          guard seen.insert(symbol).inserted else { return }
          found.append(Symbol(name: symbol, kind: kind, file: name, source: source))
        }
      }
    }
    try? core.withIndex(add)
    return found
  }

  /// A file as it was written; nil if no source has it.
  package func file(named name: String) throws(SchemaError) -> FileDeclaration? {
    guard let (bytes, source) = try serialized(file: name) else { return nil }
    do {
      return try DeclarationReader.read(bytes, pool: core)
    } catch {
      throw SchemaError(.invalid("malformed descriptor: \(error)"), source: source, file: name)
    }
  }

  /// The name of the file that has a declaration, by its full name; nil if no source does. That of a value of an enum may contain
  /// the name of the enum; in protobuf, its scope is that of the enum.
  package func fileName(declaring name: String) throws(SchemaError) -> String? {
    let found = try fileName(declaringMember: name)
    guard found == nil, let last = name.split(separator: ".").last else { return found }
    // The scope of an enum that is not in a message is its package, which is no declaration.
    let scope = { (name: Substring) in name.lastIndex(of: ".").map { name[..<$0] } ?? "" }
    return symbols([.enumValue], ending: String(last)).first {
      scope(scope($0.name[...])) == scope(name[...])
    }?
    .file
  }

  /// Finds a service, a message, an enum, a top-level extension, or a member of these.
  private func fileName(declaringMember name: String) throws(SchemaError) -> String? {
    try core.withIndex { (index) throws(SchemaError) in
      var rest = name.split(separator: "/", omittingEmptySubsequences: false).joined(separator: ".")
      for _ in 0..<2 {
        if let location = try index.find(rest) {
          return String(decoding: index.files[location.symbol.file].name, as: UTF8.self)
        }
        guard let dot = rest.lastIndex(of: ".") else { return nil }
        rest = String(rest[..<dot])
      }
      return nil
    }
  }

  /// The name of the file that declares the extension of a message with a number; nil if no source does.
  package func fileName(
    declaringExtension number: UInt32, of type: String
  ) throws(SchemaError) -> String? {
    try extensionField(of: type, number: number).flatMap { (field) throws(SchemaError) in
      try fileName(declaring: field.fullName)
    }
  }

  /// The descriptors of a file and of all its imports, each before its own imports; nil if no source has the file.
  package func files(importedBy name: String) throws(SchemaError) -> [[UInt8]]? {
    guard try serialized(file: name) != nil else { return nil }
    var files: [[UInt8]] = []
    for name in try importedFiles(ofFiles: [name]).names.reversed() {
      if let (bytes, _) = try serialized(file: name) { files.append(bytes) }
    }
    return files
  }

  /// Finds the declaration of a full name, and its file.
  package func declaration(
    named name: String
  ) throws(SchemaError) -> (declaration: Declaration, file: FileDeclaration)? {
    guard let fileName = try fileName(declaring: name), let file = try file(named: fileName),
      let declaration = file.declaration(named: name)
    else { return nil }
    return (declaration, file)
  }

  /// The descriptor of a file, and the source that has it; nil if none has.
  func serialized(file name: String) throws(SchemaError) -> (bytes: [UInt8], source: String)? {
    try core.withIndex { (index) throws(SchemaError) in
      var name = name
      let number = name.withUTF8 { index.file(named: UnsafeRawBufferPointer($0)) }
      guard let number else { return nil }
      let file = index.files[number]
      return (Array(file.bytes), index.sources[file.source].name)
    }
  }

  // MARK: Closures

  /// A descriptor set of these files and all their imports, each one after its own imports, so that any tool
  /// can load it; and the imports that no source has.
  ///
  /// The result depends only on the files and the sources.
  package func descriptorSet(
    ofFiles names: [String]
  ) throws(SchemaError) -> (serialized: [UInt8], missingImports: [String]) {
    try core.withIndex { (index) throws(SchemaError) in try ImportClosure(names, index).descriptorSet(index) }
  }

  /// The names of these files and of all their imports, each one after its own imports, and the imports that no source
  /// has.
  package func importedFiles(
    ofFiles names: [String]
  ) throws(SchemaError) -> (names: [String], missingImports: [String]) {
    try core.withIndex { (index) throws(SchemaError) in
      let closure = try ImportClosure(names, index)
      let files = closure.files.map { String(decoding: index.files[$0].name, as: UTF8.self) }
      return (files, closure.missing.sorted())
    }
  }
}

extension MessageType {
  /// A descriptor set of all files of this type's schema, each one after its imports.
  package func schemaFiles() throws(SchemaError) -> [UInt8] {
    try pool.withIndex { (index) throws(SchemaError) in
      let names = index.files.map { String(decoding: $0.name, as: UTF8.self) }
      return try ImportClosure(names, index).descriptorSet(index).serialized
    }
  }
}

/// Orders files after their imports.
private struct ImportClosure {
  private(set) var files: [Int] = []
  private(set) var missing: Set<String> = []
  private var seen: Set<Int> = []

  /// The files of these names and their imports; names that no source has are ignored.
  init(_ names: [String], _ index: SchemaIndex) throws(SchemaError) {
    for var name in names {
      let number = name.withUTF8 { index.file(named: UnsafeRawBufferPointer($0)) }
      if let number { try add(number, index) }
    }
  }

  func descriptorSet(_ index: SchemaIndex) -> (serialized: [UInt8], missingImports: [String]) {
    var set: [UInt8] = []
    // A set may be large: it does not grow. A tag and a length are at most six bytes.
    set.reserveCapacity(files.reduce(0) { $0 + 6 + index.files[$1].bytes.count })
    for number in files {
      set.append(0x0A)
      set.append(delimited: index.files[number].bytes)
    }
    return (set, missing.sorted())
  }

  private mutating func add(_ start: Int, _ index: SchemaIndex) throws(SchemaError) {
    guard seen.insert(start).inserted else { return }
    var path = [(file: start, imports: try imports(of: start, index))]
    while let last = path.indices.last {
      guard let next = path[last].imports.popLast() else {
        files.append(path.removeLast().file)
        continue
      }
      if seen.insert(next).inserted { path.append((next, try imports(of: next, index))) }
    }
  }

  /// The files that a file imports, the last one first.
  private mutating func imports(of number: Int, _ index: SchemaIndex) throws(SchemaError) -> [Int] {
    do {
      var found: [Int] = []
      for name in try DescriptorSetScanner.dependencies(of: index.files[number].bytes).reversed() {
        if let file = index.file(named: name) {
          found.append(file)
        } else {
          missing.insert(String(decoding: name, as: UTF8.self))
        }
      }
      return found
    } catch {
      throw index.schemaError(.invalid("malformed descriptor: \(error.what)"), file: number)
    }
  }
}
