import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools

/// The method and the messages of self-test calls.
struct SelfTestSubject {
  /// The name of the method; a check may change that of a method without a schema.
  var name: MethodName
  /// The name that the schema has for the method.
  private let nameInSchema: MethodName
  let kind: CallKind
  let request: MessageType
  let response: MessageType
  /// A serialized message of each direction.
  let requestBytes: [UInt8]
  let responseBytes: [UInt8]

  /// Whether the name is that of the schema.
  var hasNameOfSchema: Bool { name == nameInSchema }

  /// The name of the method in the steps of a check.
  var title: String { hasNameOfSchema ? name.method : "\(name) (\(nameInSchema.method))" }

  var facts: CallFacts {
    CallFacts(
      method: name, kind: kind, protocolName: .grpc, target: "http://localhost", requestType: request,
      responseType: response)
  }

  /// Uses a method of a schema; its messages have every field set, as in a template.
  init(_ method: MethodDescriptor) throws(PluginCheck.Fault) {
    self.init(
      method, requestBytes: try Self.sample(method.input), responseBytes: try Self.sample(method.output))
  }

  /// Makes a method of each kind, with messages of the type `google.protobuf.Value`. The unary one has no side effects.
  ///
  /// - Parameter hasFields: Whether the messages are objects with a field `name`, and not texts.
  static func withoutSchema(hasFields: Bool) throws(PluginCheck.Fault) -> [SelfTestSubject] {
    let pool = DescriptorPool()
    func message(_ text: String) -> [UInt8] { hasFields ? object(value(text)) : value(text) }
    do throws(SchemaError) {
      try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
      try pool.add(SchemaBytes(SelfTestSchema.set), source: "check")
      var subjects: [SelfTestSubject] = []
      for (name, _) in SelfTestSchema.methods {
        guard let method = try pool.method(service: SelfTestSchema.service, method: name) else { continue }
        subjects.append(SelfTestSubject(method, requestBytes: message("one"), responseBytes: message("four")))
      }
      return subjects
    } catch {
      throw PluginCheck.Fault(step: "self-test", reason: error.description, hint: nil)
    }
  }

  private init(_ method: MethodDescriptor, requestBytes: [UInt8], responseBytes: [UInt8]) {
    name = MethodName(service: method.service, method: method.name)
    nameInSchema = name
    kind = CallKind(clientStreams: method.clientStreaming, serverStreams: method.serverStreaming)
    request = method.input
    response = method.output
    self.requestBytes = requestBytes
    self.responseBytes = responseBytes
  }

  /// A serialized `Value` of an object whose field `name` has a short value.
  private static func object(_ value: [UInt8]) -> [UInt8] {
    func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
      [number << 3 | 2, UInt8(content.count)] + content
    }
    return field(5, field(1, field(1, Array("name".utf8)) + field(2, value)))
  }

  /// A serialized `Value` of a short text.
  static func value(_ text: String) -> [UInt8] { [0x1a, UInt8(text.utf8.count)] + Array(text.utf8) }

  private static func sample(_ type: MessageType) throws(PluginCheck.Fault) -> [UInt8] {
    do {
      return try Message(type, json: Array(MessageTemplate(type).json.utf8)).serialized()
    } catch {
      let reason = "cannot make a message of the type \(type.name): \(error)"
      throw PluginCheck.Fault(step: "self-test", reason: reason, hint: nil)
    }
  }
}
