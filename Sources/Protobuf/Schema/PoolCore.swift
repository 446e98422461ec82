import RPCurlBase
import RPCurlCSchemas
import Synchronization

/// The state of a pool and of its types.
///
/// Types are compiled on first use, on any thread that has a message: one lock guards everything, and results
/// are immutable.
package final class PoolCore: @unchecked Sendable {
  private struct ExtensionKey: Hashable {
    let extendee: String
    let number: UInt32
  }

  private struct NestedExtensions: Hashable {
    let extendee: String
    let scope: String
  }

  private let lock = Lock()
  private var index = SchemaIndex()
  private var loaded: [Int: LoadedFile] = [:]
  private var acyclic: Set<Int> = []
  private var types: [String: MessageNode] = [:]
  private var enums: [String: EnumNode] = [:]
  /// The enums of fields whose files cannot be used; they have no values.
  private var unusableEnums: [String: EnumNode] = [:]
  private var extensions: [String: FieldNode] = [:]
  private var extensionIndex: [String: (file: Int, found: DescriptorSetScanner.Extension)] = [:]
  private var extensionNumbers: [ExtensionKey: String] = [:]
  /// The file that assigns the same number to another extension.
  private var extensionRivals: [ExtensionKey: Int] = [:]
  /// The full names of the extensions of a type that are declared in a message.
  private var nestedExtensions: [NestedExtensions: [String]] = [:]
  private var indexedExtensions = 0
  /// The packages of the first `files` files.
  private var packages: (files: Int, names: Set<String>) = (0, [])
  private let metRequiredFields = Atomic<Bool>(false)

  // MARK: API

  func add(_ set: SchemaBytes, source: String) throws(SchemaError) {
    try lock.holding { () throws(SchemaError) in try index.add(set, source: source) }
  }

  /// Calls a closure with the index of files and names.
  package func withIndex<Result>(
    _ body: (inout SchemaIndex) throws(SchemaError) -> Result
  ) throws(SchemaError) -> Result {
    try lock.holding { () throws(SchemaError) in try body(&index) }
  }

  /// All packages, including parent packages.
  package func packageNames() throws(SchemaError) -> Set<String> {
    try lock.holding { () throws(SchemaError) in
      guard packages.files != index.files.count else { return packages.names }
      var names: Set<String> = []
      for file in index.files {
        var name = String(decoding: file.package, as: UTF8.self)
        while !name.isEmpty, names.insert(name).inserted {
          name = name.lastIndex(of: ".").map { String(name[..<$0]) } ?? ""
        }
      }
      packages = (index.files.count, names)
      return names
    }
  }

  func names(of kind: SchemaIndex.Kind) throws(SchemaError) -> [String] {
    try lock.holding { () throws(SchemaError) in try index.names(of: kind) }
  }

  /// The reason to reject an Any of a type that the pool does not define.
  func unknownType(_ name: String) -> MessageParseError.Reason {
    let names = (try? names(of: .message)) ?? []
    let last = name.split(separator: ".").last.map(String.init) ?? name
    var nearest = EditDistance.endings(with: last, among: names, separator: ".")
    if nearest.isEmpty { nearest = EditDistance.nearest(to: name, among: names) }
    if nearest.isEmpty {
      let parts = names.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
      let near = Set(EditDistance.nearest(to: last, among: parts))
      nearest = Array(zip(names, parts).filter { near.contains($0.1) }.map(\.0).sorted().prefix(3))
    }
    return .unknownAnyType(name, nearest: nearest)
  }

  func hasService(named name: String) throws(SchemaError) -> Bool {
    try lock.holding { () throws(SchemaError) in try index.find(name)?.symbol.kind == .service }
  }

  func service(named name: String) throws(SchemaError) -> ServiceDescriptor? {
    try lock.holding { () throws(SchemaError) in
      guard let found = try service(name) else { return nil }
      return try describe(found)
    }
  }

  /// A method of a service; the types of the others are not looked up.
  func method(named name: String, of service: String) throws(SchemaError) -> MethodDescriptor? {
    try lock.holding { () throws(SchemaError) in
      guard let found = try self.service(service),
        let method = try methods(of: found).first(where: { $0.name == name })
      else { return nil }
      return try describe(method, of: found)
    }
  }

  func messageType(named name: String) throws(SchemaError) -> MessageNode? {
    let type = try lock.holding { () throws(SchemaError) -> MessageNode? in
      // Finding the declaration of a name takes much longer.
      if let known = types[name], known.isCompiled { return known }
      guard let location = try index.find(name) else { return nil }
      guard location.symbol.kind == .message, try message(at: location) != nil else { return nil }
      return self.type(named: name)
    }
    _ = try type?.table()
    return type
  }

  func enumType(named name: String) throws(SchemaError) -> EnumNode? {
    try lock.holding { () throws(SchemaError) in try enumeration(named: name) }
  }

  func extensionField(named name: String) throws(SchemaError) -> FieldNode? {
    try lock.holding { () throws(SchemaError) in
      try indexExtensions()
      return try knownExtension(name)
    }
  }

  func extensionField(of type: String, number: UInt32) throws(SchemaError) -> FieldNode? {
    try lock.holding { () throws(SchemaError) in
      try indexExtensions()
      let key = ExtensionKey(extendee: type, number: number)
      guard let name = extensionNumbers[key] else { return nil }
      if let rival = extensionRivals[key], let file = extensionIndex[name]?.file {
        throw index.conflict("extension \(number) of \(type)", files: file, rival)
      }
      return try knownExtension(name)
    }
  }

  func extensionNumbers(of type: String) throws(SchemaError) -> [UInt32] {
    try lock.holding { () throws(SchemaError) in
      try indexExtensions()
      return extensionNumbers.keys.filter { $0.extendee == type }.map(\.number).sorted()
    }
  }

  /// The item of a message set that is declared in its own message, whose name it has in text format.
  func item(_ message: String, of type: String) throws(SchemaError) -> FieldNode? {
    try lock.holding { () throws(SchemaError) in
      try indexExtensions()
      let key = NestedExtensions(extendee: type, scope: message)
      guard let names = nestedExtensions[key] else { return nil }
      for name in names.sorted() {
        guard let field = try knownExtension(name), field.kind == .message, !field.isRepeated,
          field.messageType?.name == message
        else { continue }
        nestedExtensions[key] = [name]
        return field
      }
      nestedExtensions[key] = nil
      return nil
    }
  }

  func compile(_ type: MessageNode) throws(SchemaError) -> MessageTable {
    try lock.holding { () throws(SchemaError) in
      guard let location = try index.find(type.name), location.symbol.kind == .message,
        let message = try message(at: location)
      else {
        let user = index.sources.first?.name ?? "schema"
        throw SchemaError(.wrongKind(name: type.name, expected: "a message type"), source: user)
      }
      let table = try TypeCompiler(resolver: self, message: message).compile()
      if table.fields.contains(where: \.isRequired) { metRequiredFields.store(true, ordering: .releasing) }
      return table
    }
  }

  func fileOptions(of name: String) throws(SchemaError) -> DescriptorOptions? {
    try lock.holding { () throws(SchemaError) in
      var name = name
      let number = name.withUTF8 { index.file(named: UnsafeRawBufferPointer($0)) }
      guard let number else { return nil }
      return DescriptorOptions(try load(number).options, pool: self)
    }
  }

  /// Whether any compiled type has required fields: if not, no message lacks one.
  var hasMetRequiredFields: Bool { metRequiredFields.load(ordering: .acquiring) }

  // MARK: Under the lock

  private func load(_ number: Int) throws(SchemaError) -> LoadedFile {
    if let file = loaded[number] { return file }
    try checkImports(from: number)
    let entry = index.files[number]
    let file = try LoadedFile(entry, source: index.sources[entry.source].name)
    loaded[number] = file
    return file
  }

  /// Follows the imports of a file, and throws for a cycle.
  private func checkImports(from start: Int) throws(SchemaError) {
    if acyclic.contains(start) { return }
    var path: [(file: Int, imports: [Int])] = [(start, try imports(of: start))]
    var onPath: Set<Int> = [start]
    while let last = path.indices.last {
      guard let next = path[last].imports.popLast() else {
        let done = path.removeLast().file
        onPath.remove(done)
        acyclic.insert(done)
        continue
      }
      if onPath.contains(next) {
        let circle = path.map(\.file).drop { $0 != next } + [next]
        let names = circle.map { String(decoding: index.files[$0].name, as: UTF8.self) }
        throw index.schemaError(.importCycle(names), file: next)
      }
      if acyclic.contains(next) { continue }
      onPath.insert(next)
      path.append((next, try imports(of: next)))
    }
  }

  private func imports(of number: Int) throws(SchemaError) -> [Int] {
    do {
      return try DescriptorSetScanner.dependencies(of: index.files[number].bytes)
        .compactMap { index.file(named: $0) }
    } catch {
      throw index.schemaError(.invalid("malformed descriptor: \(error.what)"), file: number)
    }
  }

  private func message(
    at location: SchemaIndex.Location
  ) throws(SchemaError) -> LoadedFile.Scoped<LoadedFile.Message>? {
    let file = try load(location.symbol.file)
    return file.message([String(decoding: location.symbol.name, as: UTF8.self)] + location.nested)
  }

  private func type(named name: String) -> MessageNode {
    if let type = types[name] { return type }
    let type = MessageNode(name: name, pool: self)
    types[name] = type
    return type
  }

  private func enumeration(named name: String) throws(SchemaError) -> EnumNode? {
    if let found = enums[name] { return found }
    guard let location = try index.find(name) else { return nil }
    let file = try load(location.symbol.file)
    let path = [String(decoding: location.symbol.name, as: UTF8.self)] + location.nested
    guard let found = file.enumeration(path) else { return nil }
    let type = try TypeCompiler.compile(found, resolver: self)
    enums[name] = type
    return type
  }

  private func indexExtensions() throws(SchemaError) {
    while indexedExtensions < index.files.count {
      let number = indexedExtensions
      indexedExtensions += 1
      guard let found = try? DescriptorSetScanner.extensions(of: index.files[number]) else { continue }
      for entry in found {
        if extensionIndex[entry.fullName] == nil { extensionIndex[entry.fullName] = (number, entry) }
        let key = ExtensionKey(extendee: entry.extendee, number: entry.number)
        if let earlier = extensionNumbers[key] {
          guard earlier != entry.fullName, let file = extensionIndex[earlier]?.file else { continue }
          if index.isSameSource(file, number) { extensionRivals[key] = number }
        } else {
          extensionNumbers[key] = entry.fullName
          if !entry.scope.isEmpty, let dot = entry.fullName.lastIndex(of: ".") {
            let scope = String(entry.fullName[..<dot])
            nestedExtensions[NestedExtensions(extendee: entry.extendee, scope: scope), default: []]
              .append(entry.fullName)
          }
        }
      }
    }
  }

  private func knownExtension(_ name: String) throws(SchemaError) -> FieldNode? {
    if let field = extensions[name] { return field }
    guard let (number, entry) = extensionIndex[name] else { return nil }
    let file = try load(number)
    let last = String(name.split(separator: ".").last ?? "")
    guard let found = file.extensionField(last, scope: entry.scope) else { return nil }
    let field = try TypeCompiler.compile(extensionField: found, resolver: self)
    extensions[name] = field
    return field
  }

  private func service(_ name: String) throws(SchemaError) -> LoadedFile.Scoped<LoadedFile.Service>? {
    guard let location = try index.find(name), location.symbol.kind == .service else { return nil }
    return try load(location.symbol.file).service(String(decoding: location.symbol.name, as: UTF8.self))
  }

  /// The methods of a service, whose names are checked.
  private func methods(
    of found: LoadedFile.Scoped<LoadedFile.Service>
  ) throws(SchemaError) -> [(name: String, proto: LoadedFile.Method)] {
    let proto = found.declaration.pointee
    let methods = each(proto.method, proto.n_method).map { (name: text($0.pointee.name), proto: $0) }
    var names: Set<String> = []
    for (name, _) in methods {
      guard !name.isEmpty else {
        throw found.file.failure(.invalid("\(found.fullName) has a method without a name"))
      }
      guard names.insert(name).inserted else {
        throw found.file.failure(.invalid("\(found.fullName) has two methods \(name)"))
      }
    }
    return methods
  }

  private func describe(
    _ method: (name: String, proto: LoadedFile.Method),
    of found: LoadedFile.Scoped<LoadedFile.Service>
  ) throws(SchemaError) -> MethodDescriptor {
    let proto = method.proto.pointee
    func type(_ reference: UnsafeMutablePointer<CChar>?) throws(SchemaError) -> MessageType {
      MessageType(
        try messageHandle(
          text(reference), scope: found.fullName, user: "\(found.fullName)/\(method.name)", file: found.file))
    }
    return MethodDescriptor(
      service: found.fullName, name: method.name, input: try type(proto.input_type),
      output: try type(proto.output_type),
      clientStreaming: proto.client_streaming != 0, serverStreaming: proto.server_streaming != 0,
      idempotency: proto.options.flatMap {
        IdempotencyLevel(rawValue: $0.pointee.idempotency_level.rawValue)
      },
      isDeprecated: proto.options.map { $0.pointee.deprecated != 0 } ?? false,
      options: DescriptorOptions(SerializedOptions(proto.options, "MethodOptions"), pool: self))
  }

  private func describe(
    _ found: LoadedFile.Scoped<LoadedFile.Service>
  ) throws(SchemaError) -> ServiceDescriptor {
    let proto = found.declaration.pointee
    var methods: [MethodDescriptor] = []
    for method in try self.methods(of: found) { methods.append(try describe(method, of: found)) }
    return ServiceDescriptor(
      name: found.fullName, file: found.file.name, methods: methods,
      isDeprecated: proto.options.map { $0.pointee.deprecated != 0 } ?? false,
      options: DescriptorOptions(SerializedOptions(proto.options, "ServiceOptions"), pool: self))
  }
}

extension PoolCore: TypeResolver {
  /// Whether an extension extends a message set.
  func isMessageSet(_ extensionField: LoadedFile.Scoped<LoadedFile.FieldProto>) throws(SchemaError) -> Bool {
    let reference = text(extensionField.declaration.pointee.extendee)
    for name in candidates(reference, scope: extensionField.fullName) {
      guard let location = try index.find(name), location.symbol.kind == .message else { continue }
      let options = try message(at: location)?.declaration.pointee.options
      return options.map { $0.pointee.message_set_wire_format != 0 } ?? false
    }
    return false
  }

  /// The type that `reference` names within `scope`; it is compiled later.
  func messageHandle(
    _ reference: String, scope: String, user: String, file: LoadedFile
  ) throws(SchemaError) -> MessageNode {
    for name in candidates(reference, scope: scope) {
      guard let location = try index.find(name) else { continue }
      guard location.symbol.kind == .message else {
        throw file.failure(.wrongKind(name: name, expected: "a message type"))
      }
      // Compiling checks whether a nested message exists, except while the scope is searched.
      if !reference.hasPrefix("."), !location.nested.isEmpty, try message(at: location) == nil { continue }
      return type(named: name)
    }
    throw unknown(reference, user: user, file: file)
  }

  func enumeration(
    _ reference: String, scope: String, user: String, file: LoadedFile
  ) throws(SchemaError) -> EnumNode {
    for name in candidates(reference, scope: scope) {
      do throws(SchemaError) {
        if let found = try enumeration(named: name) { return found }
      } catch {
        guard case .unsupportedEdition = error.reason else { throw error }
        // The other fields of the message are usable. Numbers of this one are, too: only a name is an error.
        let type =
          unusableEnums[name]
          ?? EnumNode(
            name: name, file: error.file ?? "", values: [], isClosed: false, options: .none, failure: error)
        unusableEnums[name] = type
        return type
      }
    }
    throw unknown(reference, user: user, file: file)
  }

  private func unknown(_ reference: String, user: String, file: LoadedFile) -> SchemaError {
    let missing = file.dependencies.filter { name in
      var name = name
      return name.withUTF8 { index.file(named: UnsafeRawBufferPointer($0)) } == nil
    }
    let name = reference.hasPrefix(".") ? String(reference.dropFirst()) : reference
    return file.failure(
      .unknownType(name: name.isEmpty ? "a type without a name" : name, usedBy: user, missingImports: missing)
    )
  }

  /// The possible full names of a reference: one if it starts with a dot, as `protoc` writes it.
  private func candidates(_ reference: String, scope: String) -> [String] {
    if reference.isEmpty { return [] }
    if reference.hasPrefix(".") { return [String(reference.dropFirst())] }
    var parts = scope.split(separator: ".")
    var result: [String] = []
    while !parts.isEmpty {
      result.append(parts.joined(separator: ".") + "." + reference)
      parts.removeLast()
    }
    return result + [reference]
  }
}
