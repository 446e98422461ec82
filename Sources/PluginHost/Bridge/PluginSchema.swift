import CPluginABI
import Protobuf
import RPCProtocols
import SchemaTools

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
  func find(_ kind: Kind, _ name: String) throws(ABIFailure) -> UnsafeRawPointer {
    let type = try known()
    return try lock.holding { () throws(ABIFailure) in
      let key = "\(kind) \(name)"
      if let known = made[key] { return known }
      let found: UnsafeRawPointer?
      do throws(SchemaError) {
        found =
          switch kind {
          case .message: try type.relative(named: name).map { (type) throws(SchemaError) in try plain(type) }
          case .enumeration: try type.schemaEnum(named: name).map(plain)
          case .service: try type.schemaService(named: name).map(plain)
          }
      } catch {
        throw ABIFailure(RPCURL_EPARSE, "\(error)")
      }
      guard let found else { throw ABIFailure(RPCURL_ENOENT, "the schema has no \(kind.rawValue) \(name)") }
      made[key] = found
      return found
    }
  }

  /// All files of the schema, as a serialized FileDescriptorSet. The result lives as long as this object.
  func descriptorSet() throws(ABIFailure) -> rpcurl_text {
    let type = try known()
    return try lock.holding { () throws(ABIFailure) in
      if let files { return files }
      do throws(SchemaError) {
        let made = arena.text(try type.schemaFiles())
        files = made
        return made
      } catch {
        throw ABIFailure(RPCURL_EPARSE, "\(error)")
      }
    }
  }

  private func known() throws(ABIFailure) -> MessageType {
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
  static func messageType(
    _ host: Host?, _ call: rpcurl_call, _ name: rpcurl_text,
    _ type: UnsafeMutablePointer<UnsafePointer<rpcurl_message_type>?>?
  ) -> Int32 { find(host, call, .message, name, type) }

  static func enumType(
    _ host: Host?, _ call: rpcurl_call, _ name: rpcurl_text,
    _ type: UnsafeMutablePointer<UnsafePointer<rpcurl_enum_type>?>?
  ) -> Int32 { find(host, call, .enumeration, name, type) }

  static func serviceType(
    _ host: Host?, _ call: rpcurl_call, _ name: rpcurl_text,
    _ type: UnsafeMutablePointer<UnsafePointer<rpcurl_service_type>?>?
  ) -> Int32 { find(host, call, .service, name, type) }

  static func schema(
    _ host: Host?, _ call: rpcurl_call, _ set: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let set else { throw invalid("the text is null") }
      set.pointee = try live(instance.calls.find(call.id), instance, "call", "schema").schema.descriptorSet()
    }
  }

  private static func find(
    _ host: Host?, _ call: rpcurl_call, _ kind: PluginSchema.Kind, _ name: rpcurl_text,
    _ type: UnsafeMutableRawPointer?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let type else { throw invalid("the pointer is null") }
      let call = try live(instance.calls.find(call.id), instance, "call", "a type of the schema")
      type.storeBytes(of: try call.schema.find(kind, try name.string()), as: UnsafeRawPointer.self)
    }
  }
}
