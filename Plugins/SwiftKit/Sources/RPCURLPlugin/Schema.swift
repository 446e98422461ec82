import CRPCURLPlugin

/// A field of a message type.
public struct Field: Sendable, Equatable {
  /// The name in the .proto file.
  public let name: String
  /// The name in ProtoJSON.
  public let jsonName: String
  /// The number.
  public let number: UInt32
  /// The number of `google.protobuf.FieldDescriptorProto.Type`; of a map, that of its values.
  public let kind: UInt32
  /// Of a map, the number of its keys' type; otherwise nil.
  public let keyKind: UInt32?
  /// Whether it is a list or a map.
  public let isRepeated: Bool
  /// Whether an unset field differs from one set to its default.
  public let hasPresence: Bool
  /// Whether it is required.
  public let isRequired: Bool
  /// The full name of the message type or enum of its values; otherwise empty.
  public let typeName: String
  /// The name of its oneof; otherwise empty.
  public let oneof: String
  /// A serialized `google.protobuf.FieldOptions`.
  public let options: [UInt8]
  /// Whether it is a map.
  public var isMap: Bool { keyKind != nil }

  init(_ plain: rpcurl_field_type) {
    func has(_ property: Int32) -> Bool { plain.properties & UInt32(property) != 0 }
    name = String(plain.name)
    jsonName = String(plain.json_name)
    number = plain.number
    kind = plain.kind
    keyKind = plain.key_kind == 0 ? nil : plain.key_kind
    isRepeated = has(RPCURL_FIELD_REPEATED)
    hasPresence = has(RPCURL_FIELD_PRESENCE)
    isRequired = has(RPCURL_FIELD_REQUIRED)
    typeName = String(plain.type_name)
    oneof = String(plain.oneof)
    options = [UInt8](plain.options)
  }
}

/// A message type.
public struct MessageType: Sendable, Equatable {
  /// The full name.
  public let name: String
  /// The fields by number, without extensions.
  public let fields: [Field]
  /// A serialized `google.protobuf.MessageOptions`.
  public let options: [UInt8]
}

/// An enum.
public struct EnumType: Sendable, Equatable {
  /// A value of an enum.
  public struct Value: Sendable, Equatable {
    /// The name.
    public let name: String
    /// The number.
    public let number: Int32
    /// A serialized `google.protobuf.EnumValueOptions`.
    public let options: [UInt8]
  }

  /// The full name.
  public let name: String
  /// The values, in the order of the .proto file.
  public let values: [Value]
  /// A serialized `google.protobuf.EnumOptions`.
  public let options: [UInt8]
}

/// A method of a service.
public struct MethodDescriptor: Sendable, Equatable {
  /// The name, without the service.
  public let name: String
  /// Which directions are streams.
  public let kind: CallKind
  /// The idempotency level.
  public let idempotency: Call.Idempotency
  /// The full name of the request message's type.
  public let input: String
  /// The full name of the response message's type.
  public let output: String
  /// A serialized `google.protobuf.MethodOptions`.
  public let options: [UInt8]
}

/// A service.
public struct ServiceDescriptor: Sendable, Equatable {
  /// The full name.
  public let name: String
  /// The methods, in the order of the .proto file.
  public let methods: [MethodDescriptor]
  /// A serialized `google.protobuf.ServiceOptions`.
  public let options: [UInt8]
}

/// The schema of the call. Without one these throw. `[any thread]`
extension Call {
  /// A message type by its full name; nil if the schema does not have it.
  public func messageType(named name: String) throws(HostError) -> MessageType? {
    try find(name, host.pointer.pointee.message_type) {
      MessageType(
        name: String($0.name), fields: elements($0.fields, $0.field_count).map { Field($0) },
        options: [UInt8]($0.options))
    }
  }

  /// An enum by its full name; nil if the schema does not have it.
  public func enumType(named name: String) throws(HostError) -> EnumType? {
    try find(name, host.pointer.pointee.enum_type) {
      let values = elements($0.values, $0.value_count).map {
        EnumType.Value(name: String($0.name), number: $0.number, options: [UInt8]($0.options))
      }
      return EnumType(name: String($0.name), values: values, options: [UInt8]($0.options))
    }
  }

  /// A service by its full name; nil if the schema does not have it.
  public func service(named name: String) throws(HostError) -> ServiceDescriptor? {
    try find(name, host.pointer.pointee.service_type) {
      let methods = elements($0.methods, $0.method_count).map {
        MethodDescriptor(
          name: String($0.name), kind: CallKind(rawValue: $0.kind) ?? .bidiStreaming,
          idempotency: Idempotency(rawValue: $0.idempotency) ?? .unknown, input: String($0.request_type),
          output: String($0.response_type), options: [UInt8]($0.options))
      }
      return ServiceDescriptor(name: String($0.name), methods: methods, options: [UInt8]($0.options))
    }
  }

  /// All files that the host has of the schema, as a serialized `google.protobuf.FileDescriptorSet` in which each file
  /// follows its imports.
  public func schema() throws(HostError) -> [UInt8] {
    var set = rpcurl_text()
    try host.check(host.pointer.pointee.schema(host.pointer, plain, &set))
    return [UInt8](set)
  }

  private func find<Plain, Found>(
    _ name: String,
    _ function: (Host.Pointer, rpcurl_call, rpcurl_text, UnsafeMutablePointer<UnsafePointer<Plain>?>) ->
      Int32,
    _ convert: (Plain) -> Found
  ) throws(HostError) -> Found? {
    var found: UnsafePointer<Plain>?
    let result = name.lend { function(host.pointer, plain, $0, &found) }
    if result == RPCURL_ENOENT { return nil }
    try host.check(result)
    return found.map { convert($0.pointee) }
  }
}
