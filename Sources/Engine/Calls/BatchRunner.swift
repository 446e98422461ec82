import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports
import RPCurlTransport

/// Runs a plan as a batch: one call per message, several at a time, with output in the order of the messages.
///
/// Memory is bounded: it holds the running calls and a limited amount of output that waits for an earlier call.
package final class BatchRunner {
  /// A call of the batch whose output is not complete.
  private final class Member {
    let index: Int
    let output: CallOutput
    var call: Call?
    var printer: CallPrinter?
    /// The exit status of the call, if it failed.
    var status: ExitStatus?
    var isDone = false

    /// Whether the call has ended, and that is not handled yet.
    var hasEnded: Bool { !isDone && call?.isFinished == true && printer?.isHolding != true }

    init(_ index: Int, _ output: StandardOutput) {
      self.index = index
      self.output = CallOutput(output, isDirect: false)
    }
  }

  /// The limits of output that waits for an earlier call: calls per running call, and bytes in total.
  private static let waitingPerJob = 16
  private static let waitingBytes = 4 << 20

  private let plan: CallPlan
  private let batch: BatchPlan
  private let console: Console
  private let client: LoopClient
  private let request: PreparedRequest
  private let lookup: NameLookup?
  private let encoder: RequestEncoder
  /// The call whose message the encoder looks names up for.
  private var waiting: (member: Member, call: Call)?
  private let reader: RequestReader<RequestMessage>
  /// The calls from the first one whose output is not complete to the last one started.
  private var members: [Member] = []
  private var running = 0
  /// The messages and bytes of the calls that have ended.
  private var ended = Progress()
  private var count = 0
  private var failed = 0
  /// The calls that ended by themselves.
  private var completed = 0
  private var succeeded = 0
  private var latency = LatencySummary()
  private var firstFailure: (index: Int, status: ExitStatus)?
  /// The number of all calls; nil if the messages are read as calls are made.
  private let total: Int?
  /// Whether no more calls are started.
  private var isStopped = false
  private var isOutputBehind = false
  /// Whether invalid data ended the batch.
  private var isDataInvalid = false

  package init(_ plan: CallPlan, _ batch: BatchPlan, clients: ClientSource) throws {
    self.plan = plan
    self.batch = batch
    console = clients.console
    client = try clients.client()
    client.loop.sendsTogether = batch.jobs > 1
    lookup = NameLookup(plan, client: client)
    encoder = RequestEncoder(lookup)
    request = try client.prepare(plan.request(log: Self.log(plan, console), onFinding: { _ in }, lookup))
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
    let (isInterrupted, status) = try CommandLoop(client.loop).run(
      flushing: console, progress: { [weak self] in self?.progress ?? Progress() },
      whenBehind: { [weak self] in self?.isOutputBehind = $0 },
      onInterrupt: { [self] in
        stop(cancelingAfter: -1, Interrupt.reason)
        client.cancelLingeringCalls(Interrupt.reason)
        lookup?.cancel()
      },
      until: { advance() },
      conclude: { firstFailure?.status })
    if plan.showsTiming, let text = latency.text(total: MonotonicClock.now - begin, succeeded: succeeded) {
      console.error.write("\(text)\n")
    }
    if isInterrupted {
      let calls = "\(completed) \(completed == 1 ? "call was" : "calls were") completed"
      throw Failure(
        Interrupt.status, "", "\(Interrupt.reason): \(calls)\(failed > 0 ? ", \(failed) of them failed" : "")"
      )
    }
    if failed > 0, let first = firstFailure?.index, count > 1 {
      let end = isDataInvalid ? "; the batch ended at call \(count - 1), whose data is invalid" : ""
      let why = "\(failed) of \(count) calls failed, the first is call \(first)\(end)"
      console.error.report(ErrorReport(Failure.Message(what: "", why: why), firstFailure?.status))
    }
    if let status { throw Failure(reported: status) }
  }

  /// Handles ended calls, prints what is next, and starts more calls. Returns true when all calls are done.
  private func advance() -> Bool {
    for member in members where member.hasEnded { end(member) }
    show()
    let areAnswersFew = members.reduce(0) { $0 + $1.output.waitingBytes } < Self.waitingBytes
    while areAnswersFew, mayStart, startNext() {}
    show()
    // An interceptor may end a call within its start. The next round handles it, so the loop must not wait.
    if members.contains(where: \.hasEnded) { client.loop.mailbox.post {} }
    return members.isEmpty && isStopped && !client.hasLingeringCalls
  }

  /// Prints log records of interceptors.
  private static func log(_ plan: CallPlan, _ console: Console) -> LogSink {
    console.log(showingDebug: plan.verbosity > 1)
  }

  private var mayStart: Bool {
    !isStopped && !encoder.isLookingUp && !isOutputBehind && running < batch.jobs
      && members.count < batch.jobs * Self.waitingPerJob
  }

  /// Lets the first incomplete call write directly; the next one follows when it is done.
  private func show() {
    var shown = 0
    for member in members {
      member.output.beginTurn()
      guard member.isDone else { break }
      shown += 1
    }
    members.removeFirst(shown)
  }

  // MARK: Calls

  /// Starts the call of the next message. Returns false if none can be started now.
  private func startNext() -> Bool {
    let member = Member(count, console.output)
    do {
      let message: RequestMessage
      switch try reader.next() {
      case .ready(let next), .read(let next): message = next
      case .later: return false
      case .end:
        isStopped = true
        return false
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
    return true
  }

  private func start(_ member: Member, with message: RequestMessage) throws(Failure) {
    let printer = CallPrinter(plan, lookup: lookup, output: member.output, index: member.index)
    member.printer = printer
    let call = client.makeCall(request, onFinding: printer.findings.sink, observer: printer)
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
    guard !isStopped else {
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
  private var progress: Progress {
    var progress = members.reduce(into: ended) { sum, member in
      if member.call != nil, let printer = member.printer { sum += printer.progress }
    }
    progress.calls = Progress.Calls(ended: completed, failed: failed, running: running, of: total)
    progress.share = reader.share
    return progress
  }

  private func end(_ member: Member) {
    if member.call != nil { running -= 1 }
    if let printer = member.printer { ended += printer.progress }
    member.call = nil
    member.isDone = true
    if member.printer?.isGivenUp != true {
      completed += 1
      if let elapsed = member.printer?.elapsed { latency.add(elapsed) }
    }
    if let printer = member.printer, let status = printer.conclude(), !printer.isGivenUp {
      record(.failedCall, status, of: member)
    } else if let failure = member.printer?.failure {
      if let message = failure.message {
        member.output.report(ErrorReport(message, failure.status, call: member.index))
      }
      record(.failedCheck, failure.status, of: member)
    } else if member.printer?.isGivenUp == false {
      succeeded += 1
    }
    member.printer = nil
  }

  /// Ends the batch at an invalid message.
  private func fail(_ member: Member, _ failure: Failure) {
    if let message = failure.message {
      member.output.report(ErrorReport(message, failure.status, call: member.index))
    }
    member.isDone = true
    isDataInvalid = true
    record(.invalidStep, failure.status, of: member)
  }

  private func record(_ event: RunMode.Event, _ status: ExitStatus, of member: Member) {
    failed += 1
    if firstFailure.map({ member.index < $0.index }) ?? true { firstFailure = (member.index, status) }
    guard RunMode.rows.effect(of: event, failsEarly: batch.failsEarly) == .endsRun else { return }
    // Calls that have begun before invalid data go on.
    stop(cancelingAfter: event == .invalidStep ? nil : member.index, "an earlier call failed")
  }

  /// Starts no more calls, and cancels those after an index.
  private func stop(cancelingAfter index: Int?, _ reason: String) {
    isStopped = true
    reader.stop()
    guard let index else { return }
    for member in members where member.index > index && member.call?.isFinished == false {
      member.printer?.isGivenUp = true
      member.call?.cancel(reason)
    }
  }
}
