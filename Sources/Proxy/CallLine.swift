import RPCurlBase
import RPCurlProgram
import RPCurlProtocols

/// The line that reports a call of a client.
struct CallLine {
  private let number: Int
  private let method: MethodName
  private let protocolName: ProtocolName
  private let begin = MonotonicClock.now
  private var end: (end: ResponseEnd, hint: String?, time: Duration)?
  /// The number of messages that the client has sent.
  var requestCount = 0
  /// The number of messages of the response.
  var responseCount = 0

  init(_ number: Int, _ request: RPCurlProtocols.ServerRequest) {
    (self.number, method, protocolName) = (number, request.start.method, request.protocolName)
  }

  mutating func end(_ end: ResponseEnd, hint: String? = nil) {
    self.end = (end, hint, MonotonicClock.now - begin)
  }

  /// Whether the call has ended.
  var hasEnded: Bool { end != nil }
  /// Whether the call has ended with an error.
  var hasFailed: Bool { end?.end.error != nil }

  /// The line with its end.
  var text: String {
    guard let (end, hint, time) = end else { return "" }
    let counts = "\(requestCount) → \(responseCount)"
    let error = end.error.map { $0.message.isEmpty ? "" : ": \($0.message)" } ?? ""
    let text =
      "\(number) \(method) \(end.code.name) \(time.millisecondsText) ms \(protocolName.rawValue) \(counts)"
    return TerminalText.escape(text + error + (hint.map { "; hint: \($0)" } ?? "")) + "\n"
  }
}
