import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlSchemaTools
import RPCurlServer

/// A service of gRPC itself to which the schema responds: reflection, and the health of a server without a target.
enum LocalService {
  case health(HealthMethod, ProxySchema)
  case reflection(ProxySchema)

  /// A method of the health service.
  enum HealthMethod: String {
    case check = "Check"
    case list = "List"
    case watch = "Watch"
  }

  private static let health = "grpc.health.v1.Health"
  static let reflection = [
    "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
  ]

  /// The service of a method; nil if a call is to be made.
  ///
  /// - Parameter isLocal: Whether there is no server that could respond.
  init?(_ method: MethodName, _ schema: ProxySchema, isLocal: Bool) {
    if isLocal, method.service == Self.health, let health = HealthMethod(rawValue: method.method) {
      self = .health(health, schema)
    } else if !schema.isReflected, Self.reflection.contains(method.service) {
      self = .reflection(schema)
    } else {
      return nil
    }
  }

  /// Whether the call stays open after the response, until the client or the server ends it.
  var staysOpen: Bool { if case .health(.watch, _) = self { true } else { false } }

  /// The response to a message, both in JSON.
  func respond(to request: [UInt8]) throws -> JSONValue {
    switch self {
    case .health(let method, let schema): return try schema.health(method, JSONValue(parsing: request))
    case .reflection(let schema): return try schema.respond(to: JSONValue(parsing: request))
    }
  }
}

/// A call of a local service.
final class LocalServiceCall: StreamHandler, RequestReceiver {
  private let service: LocalService
  private let method: MethodDescriptor
  private let responder: ServerResponder
  /// Each response may be as large as the schema.
  private static let maxMessages = 1000
  private var messageCount = 0
  /// Called when a call that stays open has ended.
  var onEnd: () -> Void = {}

  init(_ service: LocalService, _ method: MethodDescriptor, _ responder: ServerResponder) {
    (self.service, self.method, self.responder) = (service, method, responder)
    responder.receiver = self
  }

  /// Ends a call that stays open, since the server stops: its services are not served any more.
  func stop(_ error: RPCError) {
    if messageCount > 0 { send(JSONValue([("status", .string("NOT_SERVING"))])) }
    end(error)
  }

  private func end(_ error: RPCError?) {
    responder.end(ResponseEnd(error: error))
    onEnd()
  }

  func receive(body: RawSpan) { responder.receive(body) }

  func receiveEnd() { responder.receiveEnd() }

  func receiveRequestEnd(_ error: RPCError?) {
    if !service.staysOpen || messageCount == 0 || error != nil { end(error) }
  }

  func receiveReset(_ reason: ResetReason) {
    responder.close()
    onEnd()
  }

  func resume() { responder.wantRequest(true) }

  func receive(request: [UInt8]) {
    messageCount += 1
    guard messageCount <= Self.maxMessages else {
      return responder.fail(
        RPCError(.resourceExhausted, "more than \(Self.maxMessages) requests in a stream", origin: .client))
    }
    do {
      send(try service.respond(to: Message(method.input, request, responder.codec).json()))
    } catch {
      responder.fail(error as? RPCError ?? RPCError(.internal, "\(method.name): \(error)", origin: .client))
    }
  }

  private func send(_ response: JSONValue) {
    do {
      let message = try Message(method.output, json: Array(response.text.utf8))
      let bytes = try responder.codec == .json ? message.json() : message.serialized()
      if try !responder.write(bytes.span.bytes) { responder.wantRequest(false) }
    } catch {
      responder.fail(error as? RPCError ?? RPCError(.internal, "\(method.name): \(error)", origin: .client))
    }
  }
}

extension ProxySchema {
  /// The response of the health service (grpc/health/v1/health.proto): all services of the schema, and the server as a whole, are
  /// served.
  fileprivate func health(
    _ method: LocalService.HealthMethod, _ request: JSONValue
  ) throws(RPCError) -> JSONValue {
    let isServed = JSONValue([("status", .string("SERVING"))])
    guard method != .list else {
      let names = [""] + ownServiceNames
      guard names.count <= Self.maxListedServices else {
        throw RPCError(
          .resourceExhausted, "the schema has more than \(Self.maxListedServices) services", origin: .client)
      }
      return JSONValue([("statuses", JSONValue(names.map { ($0, isServed) }))])
    }
    guard case .string(let name)? = request["service"], !name.isEmpty, !ownServiceNames.contains(name) else {
      return isServed
    }
    // A client can wait for a service that a server has later.
    if method == .watch { return JSONValue([("status", .string("SERVICE_UNKNOWN"))]) }
    throw RPCError(.notFound, "the schema has no service \(name)", origin: .client)
  }

  /// The most services in a response of `List`.
  private static let maxListedServices = 100

  /// The response of the reflection service to a request (grpc/reflection/v1/reflection.proto).
  fileprivate func respond(to request: JSONValue) throws -> JSONValue {
    guard case .object(let members) = request,
      let member = members.first(where: { $0.name != "host" }),
      let response = try respond(to: member)
    else { return Self.error(3, "the request names nothing", request) }
    return JSONValue([("originalRequest", request), response])
  }

  private func respond(to member: JSONValue.Member) throws -> (String, JSONValue)? {
    switch (member.name, member.value) {
    case ("listServices", _):
      let names = ownServiceNames.map { JSONValue([("name", .string($0))]) }
      return ("listServicesResponse", JSONValue([("service", .array(names))]))
    case ("fileByFilename", .string(let name)): return try files(name)
    case ("fileContainingSymbol", .string(let symbol)):
      return try files(pool.fileName(declaring: symbol))
    case ("fileContainingExtension", let value):
      guard case .string(let type)? = value["containingType"],
        case .number(let text)? = value["extensionNumber"], let number = UInt32(text)
      else { return nil }
      return try files(pool.fileName(declaringExtension: number, of: type))
    case ("allExtensionNumbersOfType", .string(let type)):
      guard try pool.fileName(declaring: type) != nil else { return Self.notFound }
      let numbers = try pool.extensionNumbers(of: type).map { JSONValue.number("\($0)") }
      return (
        "allExtensionNumbersResponse",
        JSONValue([("baseTypeName", .string(type)), ("extensionNumber", .array(numbers))])
      )
    default: return nil
    }
  }

  /// A file and its imports. It is the first one, as other servers send it: many clients read no other.
  private func files(_ name: String?) throws -> (String, JSONValue) {
    guard let name, let files = try pool.files(importedBy: name) else {
      return Self.notFound
    }
    let encoded = files.map { JSONValue.string(Base64.encode($0)) }
    return ("fileDescriptorResponse", JSONValue([("fileDescriptorProto", .array(encoded))]))
  }

  private static let notFound = (
    "errorResponse",
    JSONValue([("errorCode", .number("5")), ("errorMessage", .string("the schema does not have it"))])
  )

  private static func error(_ code: Int, _ text: String, _ request: JSONValue) -> JSONValue {
    let error = JSONValue([("errorCode", .number("\(code)")), ("errorMessage", .string(text))])
    return JSONValue([("originalRequest", request), ("errorResponse", error)])
  }
}

extension JSONValue {
  fileprivate init(_ members: [(String, JSONValue)]) {
    self = .object(members.map { Member(name: $0, value: $1) })
  }
}
