import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports
import RPCurlTransport

/// The calls of a plan for each message, several at a time, with output in the order of the messages unless `--unordered` is
/// given.
///
/// Memory is bounded: it holds the running calls and a limited amount of output that waits for an earlier call.
package final class BatchCalls: Steps {
  /// A call of the batch whose output is not complete.
  private final class Member {
    /// Its number.
    let index: Int
    let output: CallOutput
    var call: Call?
    var printer: CallPrinter?
    var isDone = false

    /// Whether the call has ended, and that is not handled yet.
    var hasEnded: Bool { !isDone && call?.isFinished == true && printer?.isHolding != true }

    init(_ index: Int, _ output: StandardOutput, isDirect: Bool) {
      self.index = index
      self.output = CallOutput(output, isDirect: isDirect)
    }
  }

  /// The limits of output that waits for an earlier call: calls per running call, and bytes in total.
  private static let waitingPerJob = 16
  private static let waitingBytes = 4 << 20
  /// The output of a stream that waits for an earlier call, in bytes, from which on the stream is paused.
  private static let waitingBytesOfStream = 256 << 10

  let engine: Engine
  private let plan: CallPlan
  /// The number of calls before the first one.
  private let first: Int
  private let batch: BatchPlan
  private let request: PreparedRequest
  private let lookup: NameLookup?
  private let encoder: RequestEncoder
  /// The call whose message the encoder looks names up for.
  private var waiting: (member: Member, call: Call)?
  private let reader: RequestReader<RequestMessage>
  /// The calls from the first one whose output is not complete to the last one started.
  private var members: [Member] = []
  private(set) var running = 0
  /// The messages and bytes of the calls that have ended.
  private var ended = Progress()
  /// The number of the last call.
  package private(set) var count: Int
  private var tally: Tally
  private let latencies: LatencyHistogram?
  /// The number of all calls; nil if the messages are read as calls are made.
  private let total: Int?
  private var isOutputBehind = false
  /// Whether there is no message until the next event.
  private var isDry = false
  /// Whether invalid data ended the batch.
  private var isDataInvalid = false

  /// Creates the calls.
  ///
  /// - Parameters:
  ///   - plan: The calls.
  ///   - batch: How they are made.
  ///   - count: The number of calls before the first one.
  package init(_ plan: CallPlan, _ batch: BatchPlan, after count: Int = 0, clients: ClientSource) throws {
    self.plan = plan
    self.batch = batch
    self.count = count
    first = count
    let client = try clients.client()
    client.loop.sendsTogether = batch.jobs > 1
    engine = Engine(Schedule(jobs: batch.jobs), client, clients.console)
    tally = Tally(.call, failsEarly: batch.failsEarly)
    latencies = plan.settings.output.showsTiming ? LatencyHistogram() : nil
    lookup = NameLookup(plan, client: client)
    encoder = RequestEncoder(lookup)
    request = try client.prepare(
      plan.request(
        log: clients.console.log(showingDebug: plan.settings.output.verbosity > 1), onFinding: { _ in },
        lookup))
    let sources = plan.sources.map { source -> RequestReader<RequestMessage>.Source in
      switch source {
      case .messages(let messages): .ready(messages)
      case .stream(let path, let form): .stream(path: path, form: form)
      }
    }
    reader = RequestReader(sources, loop: client.loop)
    total = plan.sources.reduce(0) { sum, source in
      if let sum, case .messages(let messages) = source { sum + messages.count } else { nil }
    }
    encoder.whenDone = { [weak self] in self?.startWaiting() }
  }

  package func run() throws {
    let begin = MonotonicClock.now
    let console = engine.console
    CallOutput(console.output, isDirect: true).begin(table: plan.filter?.head)
    let (isInterrupted, status) = try drive(
      whenBehind: { [weak self] in self?.isOutputBehind = $0 }, conclude: { tally.status })
    if let text = latencies?.summary(elapsed: MonotonicClock.now - begin, succeeded: tally.succeeded) {
      console.error.write("\(text)\n")
    }
    if isInterrupted { throw tally.interruption }
    let end = isDataInvalid ? "; the batch ended at call \(count), whose data is invalid" : ""
    if let summary = tally.summary(of: count - first, end: end) { console.error.report(summary) }
    if let status { throw Failure(reported: status) }
  }

  var isOver: Bool { members.isEmpty && !engine.client.hasLingeringCalls }

  var isReady: Bool {
    !isDry && !encoder.isLookingUp && !isOutputBehind && members.count < batch.jobs * Self.waitingPerJob
      && members.reduce(0) { $0 + $1.output.waitingBytes } < Self.waitingBytes
  }

  /// Handles ended calls, and prints what is next.
  func settle() {
    for member in members where member.hasEnded { end(member) }
    show()
    // An old libcurl joins the trailers that follow a pause into one line.
    if plan.method.serverStreaming, !engine.client.loop.losesEarlyEnds {
      for member in members where member.call?.isFinished == false {
        member.printer?.setOutputBehind(
          isOutputBehind || member.output.waitingBytes > Self.waitingBytesOfStream)
      }
    }
    isDry = false
  }

  func close(_ end: Engine.End) {
    guard end == .interrupted else { return }
    stop(cancelingAfter: 0, Interrupt.reason)
    engine.client.cancelLingeringCalls(Interrupt.reason)
    lookup?.cancel()
  }

  /// Lets the first incomplete call write directly; the next one follows when it is done.
  private func show() {
    guard batch.keepsOrder else { return members.removeAll(where: \.isDone) }
    var shown = 0
    for member in members {
      member.output.beginTurn()
      guard member.isDone else { break }
      shown += 1
    }
    members.removeFirst(shown)
  }

  // MARK: Calls

  /// Starts the call of the next message, if there is one.
  func start(due: Duration, isMeasured: Bool) {
    let member = Member(count + 1, engine.console.output, isDirect: !batch.keepsOrder)
    do {
      let message: RequestMessage
      switch try reader.next() {
      case .ready(let next), .read(let next): message = next
      case .later:
        isDry = true
        return
      case .end: return engine.finishStarts()
      }
      count += 1
      members.append(member)
      try start(member, with: message)
    } catch {
      // The data is invalid; the start of the next message may be unknown.
      if members.last !== member {
        count += 1
        members.append(member)
      }
      fail(member, error)
    }
  }

  private func start(_ member: Member, with message: RequestMessage) throws(Failure) {
    let printer = CallPrinter(plan, lookup: lookup, output: member.output, index: member.index)
    member.printer = printer
    var own = OwnParameters(request)
    own.onFinding = printer.findings.sink
    let call = engine.client.makeCall(request, own, observer: printer)
    do throws(Failure) {
      if let payload = try encoder.encode(message, for: call) {
        start(member, call, payload)
      } else {
        waiting = (member, call)
      }
    } catch {
      abandon(call, printer)
      throw error
    }
  }

  private func startWaiting() {
    guard let (member, call) = waiting.take(), let printer = member.printer else { return }
    guard engine.isStarting else {
      printer.isGivenUp = true
      abandon(call, printer)
      return end(member)
    }
    do throws(Failure) {
      if let payload = try encoder.take() { start(member, call, payload) }
    } catch {
      abandon(call, printer)
      fail(member, error)
    }
  }

  private func start(_ member: Member, _ call: Call, _ payload: Payload) {
    member.call = call
    member.printer?.call = call
    running += 1
    call.start()
    call.send(payload)
    call.finishSending()
  }

  /// Ends a call that is not started. Its interceptors exist already, so they must be notified of its end.
  private func abandon(_ call: Call, _ printer: CallPrinter) {
    printer.isUnsent = true
    call.cancel("the input cannot be sent")
  }

  /// The progress of all calls.
  var progress: Progress? {
    var progress = members.reduce(into: ended) { sum, member in
      if member.call != nil, let printer = member.printer { sum += printer.progress }
    }
    progress.calls = Progress.Calls(
      ended: tally.completed, failed: tally.failed, running: running, of: total)
    progress.share = reader.share
    return progress
  }

  private func end(_ member: Member) {
    if member.call != nil { running -= 1 }
    member.call = nil
    member.isDone = true
    guard let printer = member.printer.take() else { return }
    ended += printer.progress
    if !printer.isGivenUp, let elapsed = printer.elapsed { latencies?.count(elapsed) }
    // What interceptors have found about a call that ended with the batch is not reported.
    if let status = printer.isGivenUp ? nil : printer.conclude() {
      count(.failed(.failedCall, status), member)
    } else if let failure = printer.failure {
      report(failure, member)
      count(.failed(.failedCheck, failure.status), member)
    } else {
      count(printer.isGivenUp ? .givenUp : .succeeded, member)
    }
  }

  /// Ends the batch at an invalid message.
  private func fail(_ member: Member, _ failure: Failure) {
    report(failure, member)
    member.isDone = true
    isDataInvalid = true
    count(.failed(.invalidStep, failure.status), member)
  }

  private func report(_ failure: Failure, _ member: Member) {
    guard let message = failure.message else { return }
    member.output.report(ErrorReport(message, failure.status, call: member.index))
  }

  private func count(_ outcome: Outcome, _ member: Member) {
    guard tally.add(outcome, number: member.index) == .endsRun else { return }
    // Calls that have begun before invalid data go on.
    stop(cancelingAfter: isDataInvalid ? nil : member.index, "an earlier call failed")
  }

  /// Starts no more calls, and cancels those after an index.
  private func stop(cancelingAfter index: Int?, _ reason: String) {
    engine.finishStarts()
    reader.stop()
    guard let index else { return }
    for member in members where member.index > index && member.call?.isFinished == false {
      member.printer?.isGivenUp = true
      member.call?.cancel(reason)
    }
  }
}
