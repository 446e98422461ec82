import RPCurlCall
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// A call of a command itself, whose result is a value.
final class ProbeCall: CallObserver {
  /// The result of a call.
  struct Result {
    /// The error; nil if the call succeeded.
    var error: RPCError?
    /// The version of HTTP of the response, such as `2`; nil without a response.
    var httpVersion: String?
    var httpStatus: Int?

    /// Whether the server responded in the protocol, perhaps with an error.
    var isResponse: Bool { error.map { $0.origin == .server } ?? true }
    /// Whether the time was over before the server sent a response.
    var isSilence: Bool { httpStatus == nil && error?.isTimeout == true }
  }

  private let output: MessageType
  private var onMessage: (Message) -> Void
  private var completion: ((Result) -> Void)?
  private var result = Result()
  private var call: Call?

  /// Starts the call.
  ///
  /// - Parameters:
  ///   - onMessage: Called with each response message.
  ///   - completion: Called once with the result, unless the call is canceled.
  init(
    _ request: CallRequest, _ message: Payload, _ client: LoopClient,
    onMessage: @escaping (Message) -> Void = { _ in }, completion: @escaping (Result) -> Void
  ) {
    output = request.method.output
    self.onMessage = onMessage
    self.completion = completion
    let call = client.makeCall(request, observer: self)
    self.call = call
    call.start()
    call.send(message)
    call.finishSending()
  }

  /// Ends the call without a result.
  func cancel() {
    completion = nil
    call?.cancel("the result is not needed")
  }

  func receive(_ event: CallEvent<Payload>) throws(RPCError) {
    switch event {
    case .responseStart(let start):
      result.httpVersion = start.httpVersion
      result.httpStatus = start.httpStatus
    case .responseMessage(.typed(let message)): onMessage(message)
    case .responseMessage(.bytes(let bytes)):
      guard let message = try? Message(output, serialized: bytes) else {
        throw RPCError(.internal, "invalid response: not a \(output.name)", origin: .violation)
      }
      onMessage(message)
    case .responseEnd(let end): finish(end)
    default: break
    }
  }

  private func finish(_ end: ResponseEnd) {
    call = nil
    result.error = end.error
    let completion = self.completion
    self.completion = nil
    onMessage = { _ in }
    completion?(result)
  }
}

extension RPCError {
  /// Whether the time of a call was over, and not because of what the server sent.
  var isTimeout: Bool { code == .deadlineExceeded && origin == .client }
}
