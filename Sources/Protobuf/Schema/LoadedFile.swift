import RPCurlCSchemas

/// A file whose descriptor has been unpacked with protobuf-c.
///
/// The unpacked content is untrusted: protobuf-c checks the encoding, not the meaning.
final class LoadedFile {
  typealias Message = UnsafeMutablePointer<Rpcurl__Schemas__DescriptorProto>
  typealias Enumeration = UnsafeMutablePointer<Rpcurl__Schemas__EnumDescriptorProto>
  typealias Service = UnsafeMutablePointer<Rpcurl__Schemas__ServiceDescriptorProto>
  typealias Method = UnsafeMutablePointer<Rpcurl__Schemas__MethodDescriptorProto>
  typealias FieldProto = UnsafeMutablePointer<Rpcurl__Schemas__FieldDescriptorProto>

  /// A declaration and its inherited features.
  struct Scoped<Declaration> {
    let file: LoadedFile
    let declaration: Declaration
    let fullName: String
    let features: Features
  }

  let source: String
  let name: String
  let package: String
  let features: Features
  private let proto: UnsafeMutablePointer<Rpcurl__Schemas__FileDescriptorProto>
  /// The names of the declarations in the lists that were searched, which can be long.
  private var names: [UnsafeRawPointer: NameTable] = [:]

  init(_ file: SchemaIndex.File, source: String) throws(SchemaError) {
    let name = String(decoding: file.name, as: UTF8.self)
    let failure = { (reason: SchemaError.Reason) in SchemaError(reason, source: source, file: name) }
    let nesting: Int
    do { nesting = try DescriptorSetScanner.nesting(ofFile: file.bytes) } catch {
      throw failure(.invalid("malformed descriptor: \(error.what)"))
    }
    guard nesting <= nestingLimit else { throw failure(.tooDeep) }
    let found = KnownMessage.unpack(file.bytes, rpcurl__schemas__file_descriptor_proto__unpack) {
      var message = Rpcurl__Schemas__FileDescriptorProto()
      rpcurl__schemas__file_descriptor_proto__init(&message)
      return message.base.descriptor
    }
    guard let proto = found else { throw failure(.invalid("malformed descriptor")) }
    self.source = source
    self.name = name
    package = String(decoding: file.package, as: UTF8.self)
    self.proto = proto
    do {
      features = try LoadedFile.features(of: proto.pointee, failure)
    } catch {
      rpcurl__schemas__file_descriptor_proto__free_unpacked(proto, nil)
      throw error
    }
  }

  deinit { rpcurl__schemas__file_descriptor_proto__free_unpacked(proto, nil) }

  private static func features(
    of proto: Rpcurl__Schemas__FileDescriptorProto, _ failure: (SchemaError.Reason) -> SchemaError
  ) throws(SchemaError) -> Features {
    let base: Features
    switch text(proto.syntax) {
    case "", "proto2": base = .proto2
    case "proto3": base = .proto3
    case "editions":
      switch proto.edition.rawValue {
      case 998: base = .proto2
      case 999: base = .proto3
      case 1000...1002: base = .edition2023
      default: throw failure(.unsupportedEdition(Int(proto.edition.rawValue)))
      }
    case let other: throw failure(.invalid("unknown syntax \"\(other)\""))
    }
    return base.overridden(by: proto.options?.pointee.features)
  }

  /// The error for this file.
  func failure(_ reason: SchemaError.Reason) -> SchemaError {
    SchemaError(reason, source: source, file: name)
  }

  var dependencies: [String] {
    texts(proto.pointee.dependency, proto.pointee.n_dependency)
  }

  var options: SerializedOptions { SerializedOptions(proto.pointee.options, "FileOptions") }

  // MARK: Finding declarations

  /// The message at a path of names, starting with a top-level one.
  func message(_ path: [String]) -> Scoped<Message>? {
    guard let first = path.first else { return nil }
    let file = proto.pointee
    guard var found = find(first, in: file.message_type, file.n_message_type, { $0.pointee.name }) else {
      return nil
    }
    var scope = features.inherited(by: found)
    for name in path.dropFirst() {
      guard let next = nested(name, in: found) else { return nil }
      found = next
      scope = scope.inherited(by: found)
    }
    return Scoped(file: self, declaration: found, fullName: qualified(path), features: scope)
  }

  /// The message in another one.
  func nested(_ name: String, in parent: Message) -> Message? {
    find(name, in: parent.pointee.nested_type, parent.pointee.n_nested_type) { $0.pointee.name }
  }

  func enumeration(_ path: [String]) -> Scoped<Enumeration>? {
    guard let name = path.last else { return nil }
    var list = (proto.pointee.enum_type, proto.pointee.n_enum_type)
    var scope = features
    if path.count > 1 {
      guard let parent = message(path.dropLast()) else { return nil }
      list = (parent.declaration.pointee.enum_type, parent.declaration.pointee.n_enum_type)
      scope = parent.features
    }
    guard let found = find(name, in: list.0, list.1, { $0.pointee.name }) else { return nil }
    return Scoped(
      file: self, declaration: found, fullName: qualified(path),
      features: scope.overridden(by: found.pointee.options?.pointee.features))
  }

  func service(_ name: String) -> Scoped<Service>? {
    guard let found = find(name, in: proto.pointee.service, proto.pointee.n_service, { $0.pointee.name })
    else { return nil }
    return Scoped(file: self, declaration: found, fullName: qualified([name]), features: features)
  }

  func extensionField(_ name: String, scope: [String]) -> Scoped<FieldProto>? {
    var list = (proto.pointee.`extension`, proto.pointee.n_extension)
    var inherited = features
    if !scope.isEmpty {
      guard let parent = message(scope) else { return nil }
      list = (parent.declaration.pointee.`extension`, parent.declaration.pointee.n_extension)
      inherited = parent.features
    }
    guard let found = find(name, in: list.0, list.1, { $0.pointee.name }) else { return nil }
    return Scoped(file: self, declaration: found, fullName: qualified(scope + [name]), features: inherited)
  }

  /// The first element of a repeated field of protobuf-c with a name.
  private func find<Element>(
    _ name: String, in list: UnsafeMutablePointer<UnsafeMutablePointer<Element>?>?, _ count: Int,
    _ nameOf: (UnsafeMutablePointer<Element>) -> UnsafeMutablePointer<CChar>?
  ) -> UnsafeMutablePointer<Element>? {
    guard let list else { return nil }
    func bytes(_ index: Int) -> UnsafeRawBufferPointer {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      guard let start = list[index].flatMap(nameOf) else { return none }
      var count = 0
      while start[count] != 0 { count += 1 }
      return UnsafeRawBufferPointer(start: start, count: count)
    }
    var table = names[list] ?? NameTable(capacity: count)
    if table.count == 0 {
      for index in 0..<count {
        let name = bytes(index)
        table.insert(NameTable.hash(name), index) { sameBytes(bytes($0), name) }
      }
      names[list] = table
    }
    var name = name
    let index = name.withUTF8 {
      let name = UnsafeRawBufferPointer($0)
      return table.find(NameTable.hash(name)) { sameBytes(bytes($0), name) }
    }
    return index.flatMap { list[$0] }
  }

  private func qualified(_ path: [String]) -> String {
    package.isEmpty ? path.joined(separator: ".") : package + "." + path.joined(separator: ".")
  }
}

/// Calls a closure with the elements of a repeated field of protobuf-c, without NULL ones.
func each<Element>(
  _ start: UnsafeMutablePointer<UnsafeMutablePointer<Element>?>?, _ count: Int
) -> [UnsafeMutablePointer<Element>] {
  guard let start else { return [] }
  return UnsafeBufferPointer(start: start, count: count).compactMap { $0 }
}

/// A string of protobuf-c; NULL is empty, and invalid UTF-8 is replaced.
func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String {
  guard let pointer else { return "" }
  return String(cString: pointer)
}

/// Bytes of protobuf-c as text; invalid UTF-8 is replaced.
func text(_ bytes: ProtobufCBinaryData) -> String {
  String(decoding: UnsafeBufferPointer(start: bytes.data, count: bytes.len), as: UTF8.self)
}

/// The strings of a repeated field of protobuf-c.
func texts(_ start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ count: Int) -> [String] {
  each(start, count).map { text($0) }
}
