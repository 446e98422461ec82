/// The sixteen failure codes of gRPC and `ok`, shared by all three protocols.
///
/// Connect and gRPC use the same codes; they differ in how a code is written on the wire. Everywhere else
/// (output, logs, exit codes) the Connect name is shown.
public enum StatusCode: Int, Sendable, CaseIterable {
  case ok = 0
  case canceled = 1
  case unknown = 2
  case invalidArgument = 3
  case deadlineExceeded = 4
  case notFound = 5
  case alreadyExists = 6
  case permissionDenied = 7
  case resourceExhausted = 8
  case failedPrecondition = 9
  case aborted = 10
  case outOfRange = 11
  case unimplemented = 12
  case `internal` = 13
  case unavailable = 14
  case dataLoss = 15
  case unauthenticated = 16

  /// The Connect name of the code, such as `deadline_exceeded`.
  public var name: String {
    switch self {
    case .ok: "ok"
    case .canceled: "canceled"
    case .unknown: "unknown"
    case .invalidArgument: "invalid_argument"
    case .deadlineExceeded: "deadline_exceeded"
    case .notFound: "not_found"
    case .alreadyExists: "already_exists"
    case .permissionDenied: "permission_denied"
    case .resourceExhausted: "resource_exhausted"
    case .failedPrecondition: "failed_precondition"
    case .aborted: "aborted"
    case .outOfRange: "out_of_range"
    case .unimplemented: "unimplemented"
    case .internal: "internal"
    case .unavailable: "unavailable"
    case .dataLoss: "data_loss"
    case .unauthenticated: "unauthenticated"
    }
  }

  /// The code with this Connect name, or `nil` when there is none.
  public init?(name: some StringProtocol) {
    guard let code = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = code
  }
}
