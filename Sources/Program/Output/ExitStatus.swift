import RPCurlProtocols

/// An exit code. Scripts depend on the values.
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

  /// The exit codes of calls that ended with a status.
  package static let ofCalls: ClosedRange<Int32> = 64...80

  /// The exit code of a failed call: by the layer that failed, else 64 plus the status code.
  package static func call(_ error: RPCError) -> ExitStatus {
    switch error.origin {
    case .connection, .proxy: .connection
    case .tls: .tls
    case .request: .usage
    case .configuration: .interceptor
    case .server, .violation, .interceptor, .client: ExitStatus(rawValue: 64 + Int32(error.code.rawValue))
    }
  }
}
