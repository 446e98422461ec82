import Protobuf
import RPCClient
import RPCProtocols
import Transport

/// Carries out a plan as many calls, one for each message, some at a time; their output has the messages' order.
///
/// What is kept in memory is bounded: by the calls that run, and by the answers that wait for an earlier one.
final class BatchRunner {
  /// A call of the batch that has not been shown to its end.
  private final class Member {
    let index: Int
    let output = CallOutput(isDirect: false)
    var call: Call?
    var screen: CallScreen?
    var printer: CallPrinter? { screen?.printer }
    /// How it failed, once it has.
    var status: ExitStatus?
    var isDone = false

    init(_ index: Int) {
      self.index = index
    }
  }

  /// The answers that may wait for an earlier one: so many for each that runs, and so many bytes of all.
  private static let waitingPerJob = 16
  private static let waitingBytes = 4 << 20

  private let plan: CallPlan
  private let batch: BatchPlan
  private let client: RPCClient
  private let lookup: TypeLookup?
  private let reader: RequestReader<RequestMessage>
  /// From the first call that is not shown to its end, to the last that was started.
  private var members: [Member] = []
  private var running = 0
  /// What the calls that have ended sent and received.
  private var ended = ProgressLine.Traffic()
  private var count = 0
  private var failed = 0
  private var firstFailure: (index: Int, status: ExitStatus)?
  /// Nothing more is started.
  private var isStopped = false
  private var isInterrupted = false
  private var isOutputBehind = false

  init(_ plan: CallPlan, _ batch: BatchPlan, clients: ClientSource) throws {
    self.plan = plan
    self.batch = batch
    client = try clients.client()
    client.interceptors = plan.chain.registrations
    client.log = plan.chain.log
    lookup = TypeLookup(plan, client: client)
    let sources = plan.sources.map { source -> RequestReader<RequestMessage>.Source in
      switch source {
      case .messages(let messages): .ready(messages)
      case .stream(let path): .stream(path: path)
      }
    }
    reader = RequestReader(sources, form: plan.requestForm, loop: client.loop)
  }

  func run() throws {
    defer { plan.chain.unload() }
    if let descriptor = Interrupt.install() {
      client.loop.watch(descriptor) { [self] in
        client.loop.unwatch(descriptor)
        isInterrupted = true
        stop(cancelingAfter: -1, Interrupt.reason)
        lookup?.cancel()
      }
    }
    let pump = OutputPump(client.loop) { [weak self] in self?.isOutputBehind = $0 }
    let progress = ProgressLine(client.loop) { [weak self] in self?.traffic ?? ProgressLine.Traffic() }
    defer { progress?.finish() }
    do {
      try client.loop.run { advance() }
    } catch {
      throw Failure(.internalError, "libcurl", error.message)
    }
    progress?.finish()
    pump.finish()
    if failed > 0, !isInterrupted, let first = firstFailure?.index, count > 1 {
      let why = "\(failed) of \(count) calls failed, the first is call \(first)"
      StandardError.tell(ErrorReport(Failure.Words(what: "", why: why), firstFailure?.status))
    }
    if isInterrupted || Interrupt.isPending { throw Failure(reported: Interrupt.status) }
    if let firstFailure { throw Failure(reported: firstFailure.status) }
  }

  /// Notes what has ended, shows what can be shown, and starts what may be started; `true` when all is done.
  private func advance() -> Bool {
    for member in members where !member.isDone && member.call?.isFinished == true {
      if member.screen?.isHolding != true { end(member) }
    }
    show()
    let areAnswersFew = members.reduce(0) { $0 + $1.output.waitingBytes } < Self.waitingBytes
    while areAnswersFew, mayStart, startNext() {}
    show()
    return members.isEmpty && isStopped
  }

  private var mayStart: Bool {
    !isStopped && !isOutputBehind && running < batch.jobs
      && members.count < batch.jobs * Self.waitingPerJob
  }

  /// Lets the first call that is not shown write; the next one's turn comes when it is done.
  private func show() {
    var shown = 0
    for member in members {
      member.output.takeTurn()
      guard member.isDone else { break }
      shown += 1
    }
    members.removeFirst(shown)
  }

  // MARK: Calls

  /// Starts the call of the next message; `false` when there is none now.
  private func startNext() -> Bool {
    let member = Member(count)
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
      // Wrong data: where the next message begins may not be known.
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
    let screen = CallScreen(printer, lookup: lookup)
    member.screen = screen
    client.onFinding = printer.findings.sink
    let call = client.makeCall(plan.request, observer: screen)
    do {
      let payload = try message.encode(for: call)
      member.call = call
      screen.call = call
      running += 1
      call.start()
      call.send(payload)
      call.finishSending()
    } catch {
      // Its interceptors were made, so they are notified of its end.
      printer.isUnsent = true
      call.cancel("the input cannot be sent")
      throw error
    }
  }

  /// What the calls have sent and received so far.
  private var traffic: ProgressLine.Traffic {
    members.reduce(into: ended) { sum, member in if member.call != nil { Self.add(member, to: &sum) } }
  }

  private static func add(_ member: Member, to sum: inout ProgressLine.Traffic) {
    let traffic = member.call?.traffic ?? (sent: 0, received: 0)
    sum.sentMessages += member.printer?.sent ?? 0
    sum.receivedMessages += member.printer?.received ?? 0
    sum.sentBytes += traffic.sent
    sum.receivedBytes += traffic.received
  }

  private func end(_ member: Member) {
    if member.call != nil { running -= 1 }
    Self.add(member, to: &ended)
    member.call = nil
    member.isDone = true
    if let printer = member.printer, let status = printer.conclude(), !printer.isGivenUp {
      note(status, of: member)
    } else if let failure = member.printer?.failure {
      if let words = failure.words {
        member.output.remark(ErrorReport(words, failure.status, call: member.index).rendered)
      }
      note(failure.status, of: member)
    }
    member.screen = nil
  }

  /// Ends the batch at a message that is wrong.
  private func fail(_ member: Member, _ failure: Failure) {
    if let words = failure.words {
      member.output.remark(ErrorReport(words, failure.status, call: member.index).rendered)
    }
    member.isDone = true
    note(failure.status, of: member)
    stop(cancelingAfter: nil, "")
  }

  private func note(_ status: ExitStatus, of member: Member) {
    failed += 1
    if firstFailure.map({ member.index < $0.index }) ?? true { firstFailure = (member.index, status) }
    if batch.failsEarly { stop(cancelingAfter: member.index, "an earlier call failed") }
  }

  /// Starts nothing more, and cancels what comes after a place.
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
