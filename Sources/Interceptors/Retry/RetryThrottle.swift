import RPCurlBase
import RPCurlChain
import RPCurlProtobuf

/// Stops retries to a server that fails too often (gRFC A6, "Throttling Retry Attempts").
///
/// Each server has one count, for all calls of the process.
final class RetryThrottle: Sendable {
  /// The parameters, in thousandths of a token.
  struct Parameters: Sendable, Equatable {
    let maxThousandths: Int
    let ratioThousandths: Int

    /// Takes `maxTokens`, up to 1000, and `tokenRatio`, rounded to three decimal places; `nil` if they are
    /// out of range.
    init?(maxTokens: Double, tokenRatio: Double) {
      guard maxTokens > 0, maxTokens <= 1000, tokenRatio >= 0.001, tokenRatio <= 1000 else { return nil }
      maxThousandths = Int((maxTokens * 1000).rounded())
      ratioThousandths = Int((tokenRatio * 1000).rounded(.down))
    }
  }

  private let parameters: Parameters
  private let thousandths = Locked<[String: Int]>([:])

  init(_ parameters: Parameters) {
    self.parameters = parameters
  }

  /// Counts an attempt with a retryable failure.
  func countFailure(of server: String) { change(server, by: -1000) }

  /// Counts a successful attempt.
  func countSuccess(of server: String) { change(server, by: parameters.ratioThousandths) }

  /// Whether the server may receive a retry now.
  func allowsRetry(of server: String) -> Bool {
    thousandths.withLock { ($0[server] ?? parameters.maxThousandths) * 2 > parameters.maxThousandths }
  }

  private func change(_ server: String, by difference: Int) {
    thousandths.withLock {
      let now = $0[server] ?? parameters.maxThousandths
      $0[server] = min(max(now + difference, 0), parameters.maxThousandths)
    }
  }
}

extension SettingsReader {
  /// The parameters of the key `throttle`.
  func throttle() throws(ConfigurationError) -> RetryThrottle.Parameters? {
    guard let text = text("throttle") else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let tokens = Double(parts[0]), let ratio = Double(parts[1]),
      let parameters = RetryThrottle.Parameters(maxTokens: tokens, tokenRatio: ratio)
    else {
      throw error("throttle", "must be TOKENS:RATIO, tokens above 0 up to 1000 and a ratio of at least 0.001")
    }
    return parameters
  }
}
