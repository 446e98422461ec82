import RPCProtocols

/// The exit codes. Scripts depend on them.
struct ExitStatus: Equatable {
  let rawValue: Int32

  static let success = ExitStatus(rawValue: 0)
  static let internalError = ExitStatus(rawValue: 1)
  static let usage = ExitStatus(rawValue: 2)
  static let schema = ExitStatus(rawValue: 3)
  static let input = ExitStatus(rawValue: 4)
  static let connection = ExitStatus(rawValue: 5)
  static let tls = ExitStatus(rawValue: 6)
  static let interceptor = ExitStatus(rawValue: 7)
  static let assertion = ExitStatus(rawValue: 8)
  static let interrupted = ExitStatus(rawValue: 130)
  static let terminated = ExitStatus(rawValue: 143)

  /// How a call that failed ends the process: by its layer, or else 64 and the status code.
  static func call(_ error: RPCError) -> ExitStatus {
    switch error.origin {
    case .connection, .proxy: .connection
    case .tls: .tls
    case .request: .usage
    case .server, .violation, .interceptor, .client: ExitStatus(rawValue: 64 + Int32(error.code.rawValue))
    }
  }
}
