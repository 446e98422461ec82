import RPCProtocols

/// The exit codes. Scripts depend on them.
package struct ExitStatus: Equatable {
  package let rawValue: Int32

  package static let success = ExitStatus(rawValue: 0)
  package static let internalError = ExitStatus(rawValue: 1)
  package static let usage = ExitStatus(rawValue: 2)
  package static let schema = ExitStatus(rawValue: 3)
  package static let input = ExitStatus(rawValue: 4)
  package static let connection = ExitStatus(rawValue: 5)
  package static let tls = ExitStatus(rawValue: 6)
  package static let interceptor = ExitStatus(rawValue: 7)
  package static let assertion = ExitStatus(rawValue: 8)
  package static let interrupted = ExitStatus(rawValue: 130)
  package static let terminated = ExitStatus(rawValue: 143)

  /// How a call that failed ends the process: by its layer, or else 64 and the status code.
  package static func call(_ error: RPCError) -> ExitStatus {
    switch error.origin {
    case .connection, .proxy: .connection
    case .tls: .tls
    case .request: .usage
    case .server, .violation, .interceptor, .client: ExitStatus(rawValue: 64 + Int32(error.code.rawValue))
    }
  }
}
