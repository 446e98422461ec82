import RPCurlBase
import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// The types of a call's schema in the plugin's form, made when a plugin asks for them. `[any thread]`
// Sendable because its variables require the lock.
final class PluginSchema: @unchecked Sendable {
  /// What a name denotes.
  enum Kind: String {
    case message = "message type"
    case enumeration = "enum"
    case service = "service"
  }

  /// A type of the schema; nil without a schema.
  private let type: MessageType?
  private let lock = Lock()
  // The following members require the lock.
  private let arena = Arena()
  private var made: [String: UnsafeRawPointer] = [:]
  private var files: rpcurl_text?

  init(_ type: MessageType?) { self.type = type }

  /// Finds a declaration by its full name. The result lives as long as this object.
  func find(_ kind: Kind, _ name: String) throws -> UnsafeRawPointer {
    let type = try known()
    return try lock.holding {
      let key = "\(kind) \(name)"
      if let known = made[key] { return known }
      let declared =
        switch kind {
        case .message: try type.relative(named: name).map { try plain($0) }
        case .enumeration: try type.schemaEnum(named: name).map(plain)
        case .service: try type.schemaService(named: name).map(plain)
        }
      let found = try declared.required("the schema has no \(kind.rawValue) \(name)")
      made[key] = found
      return found
    }
  }

  /// Finds the message type with a full name, or that of a method's request.
  func messageType(_ name: String) throws -> MessageType {
    let type = try known()
    let found: MessageType?
    if name.contains("/") {
      let method = try HostFunctions.methodName(name)
      found = try type.schemaMethod(service: method.service, method: method.method)?.input
    } else {
      found = try type.relative(named: name)
    }
    return try found.required("the schema has no message type or method \(name)")
  }

  /// All files of the schema, as a serialized FileDescriptorSet. The result lives as long as this object.
  func descriptorSet() throws -> rpcurl_text {
    let type = try known()
    return try lock.holding {
      if let files { return files }
      let made = arena.text(try type.schemaFiles())
      files = made
      return made
    }
  }

  private func known() throws -> MessageType {
    guard let type else { throw ABIFailure(RPCURL_EUNSUPPORTED, "there is no schema") }
    return type
  }

  private func text(_ options: DescriptorOptions) -> rpcurl_text { arena.text(options.serialized) }

  private func plain(_ type: MessageType) throws(SchemaError) -> UnsafeRawPointer {
    let oneofs = try type.oneofNames()
    let fields = try type.fields().map { field in
      let value = field.mapValue ?? field
      let properties =
        (field.isRepeated ? RPCURL_FIELD_REPEATED : 0) | (field.isMap ? RPCURL_FIELD_MAP : 0)
        | (field.hasPresence ? RPCURL_FIELD_PRESENCE : 0) | (field.isRequired ? RPCURL_FIELD_REQUIRED : 0)
      return rpcurl_field_type(
        struct_size: MemoryLayout<rpcurl_field_type>.size, name: arena.text(field.name),
        json_name: arena.text(field.jsonName), number: field.number, kind: UInt32(value.kind.rawValue),
        key_kind: UInt32(field.mapKey?.kind.rawValue ?? 0), properties: UInt32(properties),
        type_name: arena.text(value.messageType?.name ?? value.enumType?.name ?? ""),
        oneof: arena.text(field.oneofIndex.map { oneofs[$0] } ?? ""), options: text(field.options))
    }
    let plain = rpcurl_message_type(
      struct_size: MemoryLayout<rpcurl_message_type>.size, name: arena.text(type.name),
      fields: arena.array(fields), field_count: fields.count, options: text(try type.options()))
    return UnsafeRawPointer(arena.array([plain]))
  }

  private func plain(_ type: EnumType) -> UnsafeRawPointer {
    let values = type.values.map {
      rpcurl_enum_value(
        struct_size: MemoryLayout<rpcurl_enum_value>.size, name: arena.text($0.name), number: $0.number,
        reserved: 0, options: text($0.options))
    }
    let plain = rpcurl_enum_type(
      struct_size: MemoryLayout<rpcurl_enum_type>.size, name: arena.text(type.name),
      values: arena.array(values),
      value_count: values.count, options: text(type.options))
    return UnsafeRawPointer(arena.array([plain]))
  }

  private func plain(_ service: ServiceDescriptor) -> UnsafeRawPointer {
    let methods = service.methods.map { method in
      let kind = CallKind(clientStreams: method.clientStreaming, serverStreams: method.serverStreaming)
      return rpcurl_method_type(
        struct_size: MemoryLayout<rpcurl_method_type>.size, name: arena.text(method.name), kind: kind.number,
        idempotency: method.idempotencyNumber, request_type: arena.text(method.input.name),
        response_type: arena.text(method.output.name), options: text(method.options))
    }
    let plain = rpcurl_service_type(
      struct_size: MemoryLayout<rpcurl_service_type>.size, name: arena.text(service.name),
      methods: arena.array(methods), method_count: methods.count, options: text(service.options))
    return UnsafeRawPointer(arena.array([plain]))
  }
}

// The schema of a call.
extension HostFunctions {
  /// A message type, an enum or a service, as its structure.
  func find<Structure>(
    _ kind: PluginSchema.Kind, _ call: rpcurl_call, _ name: rpcurl_text
  ) throws -> UnsafePointer<Structure>? {
    let schema = try find(call, "a type of the schema").schema
    return try schema.find(kind, try name.string()).assumingMemoryBound(to: Structure.self)
  }

  func schema(_ call: rpcurl_call) throws -> rpcurl_text { try find(call, "schema").schema.descriptorSet() }
}
