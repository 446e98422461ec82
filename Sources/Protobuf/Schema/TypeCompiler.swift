import RPCurlCSchemas

/// Finds the types that descriptors refer to.
protocol TypeResolver {
  func messageHandle(
    _ reference: String, scope: String, user: String, file: LoadedFile
  ) throws(SchemaError) -> MessageNode
  func enumeration(
    _ reference: String, scope: String, user: String, file: LoadedFile
  ) throws(SchemaError) -> EnumNode
}

/// Compiles an untrusted message descriptor to a valid table.
struct TypeCompiler<Resolver: TypeResolver> {
  let resolver: Resolver
  let message: LoadedFile.Scoped<LoadedFile.Message>

  func compile() throws(SchemaError) -> MessageTable {
    let proto = message.declaration.pointee
    let oneofs = try realOneofs(proto)
    var numbers: Set<UInt32> = []
    var names: Set<String> = []
    var pending: [(number: UInt32, field: LoadedFile.FieldProto)] = []
    for field in each(proto.field, proto.n_field) {
      let name = text(field.pointee.name)
      let number = try fieldNumber(field.pointee, in: message.fullName, message.file)
      guard !name.isEmpty else { throw failure("\(message.fullName) has a field without a name") }
      guard names.insert(name).inserted else { throw failure("\(message.fullName) has two fields \(name)") }
      guard numbers.insert(number).inserted else {
        throw failure("\(message.fullName) has two fields with the number \(number)")
      }
      pending.append((number, field))
    }
    guard pending.count <= Int(Int16.max) else { throw failure("\(message.fullName) has too many fields") }
    pending.sort { $0.number < $1.number }
    var fields: [FieldNode] = []
    for (number, field) in pending {
      fields.append(try compile(field.pointee, number: number, slot: fields.count, oneofs: oneofs))
    }
    var ranges: [(numbers: Range<UInt32>, options: SerializedOptions)] = []
    for range in each(proto.extension_range, proto.n_extension_range) {
      let (start, end) = (range.pointee.start, range.pointee.end)
      guard start > 0, end > start else {
        throw failure("\(message.fullName) has an invalid extension range")
      }
      ranges.append((UInt32(start)..<UInt32(end), SerializedOptions(ofRange: range.pointee)))
    }
    func table() -> MessageTable {
      MessageTable(
        name: message.fullName, file: message.file.name, fields: fields, oneofs: oneofs.real,
        extensionRanges: ranges,
        isMessageSet: proto.options.map { $0.pointee.message_set_wire_format != 0 } ?? false,
        reservedNames: Set(texts(proto.reserved_name, proto.n_reserved_name)),
        options: SerializedOptions(proto.options, "MessageOptions"))
    }
    let compiled = table()
    guard !compiled.sharedJSONNames.isEmpty else { return compiled }
    // Fields of proto2 may have one JSON name. In JSON, they have their original names.
    for (slot, (number, field)) in pending.enumerated()
    where compiled.sharedJSONNames.contains(fields[slot].jsonName) {
      fields[slot] = try compile(
        field.pointee, number: number, slot: slot, oneofs: oneofs, jsonName: fields[slot].name)
    }
    return table()
  }

  private func failure(_ what: String) -> SchemaError { message.file.failure(.invalid(what)) }

  // MARK: Oneofs

  private struct Oneofs {
    var real: [(name: String, options: SerializedOptions)] = []
    let declared: [UnsafeMutablePointer<Rpcurl__Schemas__OneofDescriptorProto>]
    /// The index among the real oneofs for each declared one; nil for synthetic ones of `optional` fields.
    var indices: [Int?] = []
  }

  private func realOneofs(_ proto: Rpcurl__Schemas__DescriptorProto) throws(SchemaError) -> Oneofs {
    var synthetic: Set<Int32> = []
    for field in each(proto.field, proto.n_field) where field.pointee.has_oneof_index != 0 {
      guard field.pointee.oneof_index >= 0, Int(field.pointee.oneof_index) < proto.n_oneof_decl else {
        throw failure("\(message.fullName).\(text(field.pointee.name)) has an invalid oneof_index")
      }
      if field.pointee.proto3_optional != 0 { synthetic.insert(field.pointee.oneof_index) }
    }
    var result = Oneofs(declared: each(proto.oneof_decl, proto.n_oneof_decl))
    for (index, oneof) in result.declared.enumerated() {
      if synthetic.contains(Int32(truncatingIfNeeded: index)) {
        result.indices.append(nil)
      } else {
        result.indices.append(result.real.count)
        result.real.append(
          (text(oneof.pointee.name), SerializedOptions(oneof.pointee.options, "OneofOptions")))
      }
    }
    return result
  }

  // MARK: Fields

  private func compile(
    _ proto: Rpcurl__Schemas__FieldDescriptorProto, number: UInt32, slot: Int, oneofs: Oneofs,
    jsonName: String? = nil
  ) throws(SchemaError) -> FieldNode {
    var features = message.features
    var oneof: Int?
    if proto.has_oneof_index != 0 {
      let index = Int(proto.oneof_index)
      guard index < oneofs.declared.count else {
        throw failure("\(message.fullName) has an invalid oneof_index")
      }
      oneof = oneofs.indices[index]
      features = features.overridden(by: oneofs.declared[index].pointee.options?.pointee.features)
    }
    let isOneofMember = proto.has_oneof_index != 0
    return try FieldCompiler(resolver: resolver, file: message.file, scope: message.fullName)
      .compile(
        proto, number: number, slot: slot, features: features, oneof: oneof, isOneofMember: isOneofMember,
        mapEntry: mapEntry(of: proto), jsonName: jsonName)
  }

  /// The entry type of a map field, which is nested in the field's message.
  private func mapEntry(
    of proto: Rpcurl__Schemas__FieldDescriptorProto
  ) -> LoadedFile.Scoped<LoadedFile.Message>? {
    guard proto.label.rawValue == 3, proto.type.rawValue == UInt32(FieldKind.message.rawValue) else {
      return nil
    }
    let reference = text(proto.type_name)
    let scope = "." + message.fullName + "."
    let name = reference.hasPrefix(scope) ? String(reference.dropFirst(scope.count)) : reference
    guard let nested = message.file.nested(name, in: message.declaration),
      let options = nested.pointee.options, options.pointee.map_entry != 0
    else { return nil }
    return LoadedFile.Scoped(
      file: message.file, declaration: nested, fullName: message.fullName + "." + name,
      features: message.features.inherited(by: nested))
  }
}

extension TypeCompiler where Resolver == PoolCore {
  static func compile(
    extensionField found: LoadedFile.Scoped<LoadedFile.FieldProto>, resolver: PoolCore
  ) throws(SchemaError) -> FieldNode {
    let number = try fieldNumber(found.declaration.pointee, in: found.fullName, found.file) {
      () throws(SchemaError) in
      let proto = found.declaration.pointee
      // What a message set contains, since the others have a tag.
      guard proto.type.rawValue == UInt32(FieldKind.message.rawValue), proto.label.rawValue != 3 else {
        return false
      }
      return try resolver.isMessageSet(found)
    }
    return try FieldCompiler(resolver: resolver, file: found.file, scope: found.fullName)
      .compile(
        found.declaration.pointee, number: number, slot: -1, features: found.features, oneof: nil,
        isOneofMember: false, mapEntry: nil, extensionName: found.fullName)
  }

  static func compile(
    _ found: LoadedFile.Scoped<LoadedFile.Enumeration>, resolver: PoolCore
  ) throws(SchemaError) -> EnumNode {
    let proto = found.declaration.pointee
    var values: [EnumNode.Value] = []
    var names: Set<String> = []
    for value in each(proto.value, proto.n_value) {
      let name = text(value.pointee.name)
      guard !name.isEmpty, names.insert(name).inserted else {
        throw found.file.failure(.invalid("\(found.fullName) has values without a name or with the same"))
      }
      values.append(
        EnumNode.Value(
          name: name, number: value.pointee.number,
          isDeprecated: value.pointee.options.map { $0.pointee.deprecated != 0 } ?? false,
          options: SerializedOptions(value.pointee.options, "EnumValueOptions")))
    }
    guard !values.isEmpty else { throw found.file.failure(.invalid("\(found.fullName) has no values")) }
    return EnumNode(
      name: found.fullName, file: found.file.name, values: values,
      isClosed: found.features.enumKind == .closed,
      options: SerializedOptions(proto.options, "EnumOptions"))
  }
}

/// The number of a field, if it is valid. Extensions of a message set may have all positive numbers, because
/// theirs are not in tags.
private func fieldNumber(
  _ proto: Rpcurl__Schemas__FieldDescriptorProto, in scope: String, _ file: LoadedFile,
  extendsMessageSet: () throws(SchemaError) -> Bool = { false }
) throws(SchemaError) -> UInt32 {
  let number = proto.number
  let isInRange = try number < 1 << 29 ? true : extendsMessageSet()
  guard number > 0, isInRange, !(19000...19999).contains(number) else {
    throw file.failure(.invalid("\(scope).\(text(proto.name)) has the invalid number \(number)"))
  }
  return UInt32(number)
}
