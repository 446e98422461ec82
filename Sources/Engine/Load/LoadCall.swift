import RPCurlCall
import RPCurlChain
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports

/// A call of a run: counts its messages, and reports its end.
final class LoadCall: CallObserver {
  /// When it was due, as time since the start of the run.
  let due: Duration
  let isMeasured: Bool
  /// The number of its connection, and its place among the calls that run.
  let connection: Int
  var place = 0
  /// The call; nil after its end.
  var call: Call?
  /// The findings of interceptors; nil without interceptors.
  let findings: FindingCollector?
  private var sentMessages = 0
  private var receivedMessages = 0
  private var sample: LoadSample?
  private unowned let calls: LoadCalls

  init(_ calls: LoadCalls, due: Duration, isMeasured: Bool, connection: Int, hasInterceptors: Bool) {
    self.calls = calls
    self.due = due
    self.isMeasured = isMeasured
    self.connection = connection
    findings = hasInterceptors ? FindingCollector() : nil
  }

  func receive(_ event: CallEvent<Payload>) throws(RPCError) {
    switch event {
    case .responseMessage: receivedMessages += 1
    case .responseEnd(let end): calls.end(self, end)
    case .requestStart, .requestMessage, .requestEnd, .responseStart, .metrics: break
    }
  }

  func receive(message: RawSpan) throws(RPCError) { receivedMessages += 1 }

  func receive(messages places: Span<Range<Int>>, of piece: RawSpan) throws(RPCError) -> Int {
    receivedMessages += places.count
    return places.count
  }

  func receive(wire event: CallEvent<MessageSize>) {
    if case .requestMessage = event { sentMessages += 1 }
  }

  /// Notes the end of the call.
  ///
  /// - Parameters:
  ///   - end: The end.
  ///   - time: The time of the end since the start of the run.
  ///   - isUnfinished: Whether it was canceled because the run has ended.
  func end(_ end: ResponseEnd, at time: Duration, isUnfinished: Bool) {
    var sample = LoadSample(due: due, end: time, isUnfinished ? .unfinished : .status(end.code))
    sample.reason = isUnfinished ? "" : end.error?.message ?? ""
    let traffic = call?.traffic ?? (sent: 0, received: 0)
    sample.sentMessages = sentMessages
    sample.receivedMessages = receivedMessages
    sample.sentBytes = traffic.sent
    sample.receivedBytes = traffic.received
    self.sample = sample
    call = nil
  }

  /// What was measured of the call; nil before its end, and if it was taken before.
  func takeSample() -> LoadSample? {
    guard var sample else { return nil }
    self.sample = nil
    guard let found = findings?.removeAll(), sample.outcome != .unfinished else { return sample }
    if let failure = found.first(where: { $0.kind == .failure }) {
      sample.outcome = .assertion
      sample.reason = failure.text
    } else if found.hasExpectedStatus {
      sample.outcome = .status(.ok)
      sample.reason = ""
    }
    return sample
  }
}
