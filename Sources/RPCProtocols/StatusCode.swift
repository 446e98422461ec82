/// The sixteen failure codes of gRPC and `ok`, shared by all three protocols.
///
/// Connect and gRPC use the same codes; they differ in how a code is written on the wire. Everywhere else
/// (output, logs, exit codes) the Connect name is shown.
public enum StatusCode: Int, Sendable, CaseIterable {
  /// The call succeeded.
  case ok = 0
  /// The call was given up, mostly by the caller.
  case canceled = 1
  /// An error of which nothing better is known.
  case unknown = 2
  /// The request is wrong, whatever state the server is in.
  case invalidArgument = 3
  /// The time was up before the call had ended.
  case deadlineExceeded = 4
  /// What was asked for does not exist.
  case notFound = 5
  /// What was to be made exists.
  case alreadyExists = 6
  /// The caller is known, and may not do this.
  case permissionDenied = 7
  /// A limit, such as a quota or the size of a message, was reached.
  case resourceExhausted = 8
  /// The state of the server does not allow it, until somebody changes that.
  case failedPrecondition = 9
  /// Another call got in the way; all of it may be tried again.
  case aborted = 10
  /// The request goes beyond what there is, such as the end of a file.
  case outOfRange = 11
  /// The server does not have this method.
  case unimplemented = 12
  /// A part of the system broke its own rules.
  case `internal` = 13
  /// The server cannot be reached now; the call may be tried again.
  case unavailable = 14
  /// Data is lost or damaged.
  case dataLoss = 15
  /// The caller has not shown who it is.
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
