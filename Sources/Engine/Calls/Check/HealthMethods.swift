import RPCurlProgram
import RPCurlProtobuf

/// The health service of gRPC, from the built-in schemas.
package struct HealthMethods {
  /// The result for a service: `SERVING` or another name of the enum.
  package enum Status: Equatable, Sendable {
    case unknown
    case serving
    case notServing
    case serviceUnknown
    /// A value that the specification does not have.
    case other(Int32)

    package init(_ number: Int32) {
      self =
        switch number {
        case 0: .unknown
        case 1: .serving
        case 2: .notServing
        case 3: .serviceUnknown
        default: .other(number)
        }
    }

    /// The name of the value in the schema.
    package var name: String {
      switch self {
      case .unknown: "UNKNOWN"
      case .serving: "SERVING"
      case .notServing: "NOT_SERVING"
      case .serviceUnknown: "SERVICE_UNKNOWN"
      case .other(let number): "\(number)"
      }
    }
  }

  package let check: MethodDescriptor
  package let watch: MethodDescriptor

  /// Finds the methods.
  ///
  /// - Throws: `Failure` if the built-in schemas lack them.
  package init() throws(Failure) {
    let pool = try SchemaSource.pool([SchemaSource.builtInServices])
    let found = try SchemaOutput.schema { () throws(SchemaError) in
      try pool.service(named: "grpc.health.v1.Health")
    }
    guard let service = found, let check = service.method(named: "Check"),
      let watch = service.method(named: "Watch")
    else { throw Failure(.internalError, "grpc.health.v1.Health", "not found in the built-in schemas") }
    (self.check, self.watch) = (check, watch)
  }

  /// The request for a service; empty for the whole server.
  package func request(_ service: String) throws -> Message {
    var object = JSONObject()
    object.add("service", service)
    return try Message(check.input, json: Array(object.object.utf8), options: JSONDecodingOptions())
  }

  /// The status of a response; nil if the message has none.
  static func status(_ message: Message) -> Status? {
    guard let path = try? FieldPath("status"), case .enum(let number)? = try? message.value(at: path) else {
      return nil
    }
    return Status(number)
  }
}
