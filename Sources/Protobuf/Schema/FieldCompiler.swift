import RPCurlCSchemas

/// Compiles a field descriptor to a `Field`.
struct FieldCompiler<Resolver: TypeResolver> {
  let resolver: Resolver
  let file: LoadedFile
  /// The full name of the scope of the field; relative type names are resolved from there.
  let scope: String

  func compile(
    _ proto: Rpcurl__Schemas__FieldDescriptorProto, number: UInt32, slot: Int, features inherited: Features,
    oneof: Int?, isOneofMember: Bool, mapEntry: LoadedFile.Scoped<LoadedFile.Message>?,
    extensionName: String? = nil, jsonName: String? = nil
  ) throws(SchemaError) -> FieldNode {
    let name = text(proto.name)
    let user = extensionName ?? scope + "." + name
    let features = inherited.overridden(by: proto.options?.pointee.features)
    guard proto.has_type != 0, var kind = FieldKind(rawValue: UInt8(truncatingIfNeeded: proto.type.rawValue)),
      proto.type.rawValue <= 18
    else { throw file.failure(.invalid("\(user) has no valid type")) }
    let label = proto.has_label != 0 ? proto.label.rawValue : 1
    guard (1...3).contains(label) else { throw file.failure(.invalid("\(user) has no valid label")) }
    let isRepeated = label == 3
    if isRepeated && isOneofMember { throw file.failure(.invalid("\(user) is repeated and in a oneof")) }

    var messageType: MessageNode?
    var enumType: EnumNode?
    var mapKey: FieldNode?
    var mapValue: FieldNode?
    if kind.isMessage {
      messageType = try resolver.messageHandle(text(proto.type_name), scope: scope, user: user, file: file)
      if let mapEntry { (mapKey, mapValue) = try compileMap(mapEntry, user: user) }
      if kind == .message, features.messageEncoding == .delimited, mapEntry == nil { kind = .group }
    } else if kind == .enumeration {
      enumType = try resolver.enumeration(text(proto.type_name), scope: scope, user: user, file: file)
    }

    var traits = traits(
      proto, kind, label: label, features, isInOneofOrExtends: isOneofMember || extensionName != nil)
    if mapKey != nil { traits.insert(.isMap) }
    if extensionName != nil { traits.insert(.isExtension) }
    return FieldNode(
      name: name, fullName: extensionName ?? name,
      jsonName: jsonName ?? extensionName.map { "[\($0)]" }
        ?? (proto.json_name == nil ? JSONName.camelCase(name) : text(proto.json_name)),
      number: number, kind: kind, traits: traits, oneofIndex: oneof,
      messageType: messageType, enumType: enumType, mapKey: mapKey, mapValue: mapValue,
      defaultText: proto.has_default_value == 0 ? nil : text(proto.default_value),
      options: SerializedOptions(proto.options, "FieldOptions"), slot: slot)
  }

  /// The properties that follow from the descriptor, its label and its features.
  private func traits(
    _ proto: Rpcurl__Schemas__FieldDescriptorProto, _ kind: FieldKind, label: UInt32, _ features: Features,
    isInOneofOrExtends: Bool
  ) -> FieldNode.Traits {
    var traits: FieldNode.Traits = []
    if label == 3 {
      traits.insert(.isRepeated)
      let statesPacked = proto.options.flatMap { $0.pointee.has_packed != 0 ? $0.pointee.packed != 0 : nil }
      if kind.isPackable, statesPacked ?? (features.repeatedEncoding == .packed) { traits.insert(.isPacked) }
    } else {
      if kind.isMessage || isInOneofOrExtends || proto.proto3_optional != 0 || features.presence != .implicit
      {
        traits.insert(.hasPresence)
      }
      if label == 2 || features.presence == .legacyRequired { traits.insert(.isRequired) }
    }
    if features.textValidation == .verify { traits.insert(.validatesUTF8) }
    if let options = proto.options, options.pointee.deprecated != 0 { traits.insert(.isDeprecated) }
    return traits
  }

  private func compileMap(
    _ entry: LoadedFile.Scoped<LoadedFile.Message>, user: String
  ) throws(SchemaError) -> (FieldNode, FieldNode) {
    var found: [Int32: FieldNode] = [:]
    let proto = entry.declaration.pointee
    for pointer in each(proto.field, proto.n_field) {
      let field = pointer.pointee
      guard field.number == 1 || field.number == 2, found[field.number] == nil, field.label.rawValue != 3
      else {
        throw file.failure(.invalid("\(user) has an invalid map entry"))
      }
      found[field.number] = try FieldCompiler(resolver: resolver, file: file, scope: entry.fullName)
        .compile(
          field, number: UInt32(field.number), slot: Int(field.number) - 1, features: entry.features,
          oneof: nil,
          isOneofMember: false, mapEntry: nil)
    }
    guard let key = found[1], let value = found[2] else {
      throw file.failure(.invalid("\(user) has a map entry without key or value"))
    }
    switch key.kind {
    case .double, .float, .bytes, .enumeration, .message, .group:
      throw file.failure(.invalid("\(user) has a map key of type \(key.kind.protoName)"))
    default: break
    }
    guard value.kind != .group else { throw file.failure(.invalid("\(user) has map values of type group")) }
    return (key, value)
  }
}

/// Names in JSON.
enum JSONName {
  /// `foo_bar` → `fooBar`, as in `protoc`.
  static func camelCase(_ name: String) -> String {
    var result = ""
    var raise = false
    for character in name.unicodeScalars {
      if character == "_" {
        raise = true
      } else if raise, ("a"..."z").contains(character), let upper = UnicodeScalar(character.value - 32) {
        result.unicodeScalars.append(upper)
        raise = false
      } else {
        result.unicodeScalars.append(character)
        raise = false
      }
    }
    return result
  }
}
