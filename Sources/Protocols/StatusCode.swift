/// The sixteen failure codes of gRPC, and `ok`. All three protocols share them.
///
/// Connect and gRPC differ only in how a code is written on the wire. Output, logs and exit codes use the
/// Connect name.
public enum StatusCode: Int, Sendable, CaseIterable {
  /// The call succeeded.
  case ok = 0
  /// The call was canceled, usually by the caller.
  case canceled = 1
  /// An unclassified error.
  case unknown = 2
  /// The request is invalid, regardless of the server's state.
  case invalidArgument = 3
  /// The deadline passed before the call ended.
  case deadlineExceeded = 4
  /// A requested entity does not exist.
  case notFound = 5
  /// An entity to create already exists.
  case alreadyExists = 6
  /// The caller is authenticated, but not authorized.
  case permissionDenied = 7
  /// A limit was reached, such as a quota or a message size.
  case resourceExhausted = 8
  /// The server's state does not allow the operation; do not retry until it is fixed.
  case failedPrecondition = 9
  /// The operation conflicted with another; retry from the beginning.
  case aborted = 10
  /// A value is out of the valid range, such as past the end of a file.
  case outOfRange = 11
  /// The server does not implement this method.
  case unimplemented = 12
  /// An invariant of the system is broken.
  case `internal` = 13
  /// The server is unavailable; the call may be retried.
  case unavailable = 14
  /// Data is lost or damaged.
  case dataLoss = 15
  /// The caller is not authenticated.
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

  /// The code with this Connect name; `nil` if there is none.
  public init?(name: some StringProtocol) {
    guard let code = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = code
  }
}
