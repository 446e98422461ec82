import RPCurlBase
import RPCurlCall
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports
import RPCurlTransport

/// The call of a plan.
package final class SingleCall: Steps {
  let engine: Engine
  private let plan: CallPlan
  private let lookup: NameLookup?
  private let printer: CallPrinter
  private let call: Call
  private let feeder: RequestFeeder
  private var hasStarted = false

  /// Creates the call.
  ///
  /// - Parameters:
  ///   - plan: The call.
  ///   - number: Its number if it is made several times; otherwise nil.
  package init(_ plan: CallPlan, number: Int? = nil, clients: ClientSource) throws {
    self.plan = plan
    let console = clients.console
    let client = try clients.client()
    engine = Engine(Schedule(count: 1), client, console)
    lookup = NameLookup(plan, client: client)
    printer = CallPrinter(
      plan, lookup: lookup, output: CallOutput(console.output, isDirect: true), index: number)
    call = try client.makeCall(
      plan.request(
        log: console.log(showingDebug: plan.settings.output.verbosity > 1), onFinding: printer.findings.sink,
        lookup),
      observer: printer)
    printer.call = call
    feeder = try Self.feeder(plan, call, engine, printer, lookup)
    printer.feeder = feeder
  }

  /// Makes the call. Fails as the call fails.
  package func run() throws {
    let deadline = engine.console.deadline
    deadline.set(plan.settings.timeout.map { .now + $0 })
    let (isInterrupted, status) = try drive(
      whenBehind: { [printer] in printer.setOutputBehind($0) },
      conclude: {
        let status = printer.conclude()
        deadline.set(nil)
        if plan.settings.timeout != nil, printer.end?.code == .deadlineExceeded { deadline.begin() }
        return status
      })
    if isInterrupted { throw Failure(reported: Interrupt.status) }
    if let failure = feeder.failure { throw failure }
    if let status { throw Failure(reported: status) }
    if let failure = printer.failure { throw failure }
  }

  var running: Int { !hasStarted || call.isFinished && !printer.isHolding ? 0 : 1 }
  var isOver: Bool { running == 0 && !engine.client.hasLingeringCalls }

  var progress: Progress? {
    var progress = printer.progress
    progress.share = feeder.share
    return progress
  }

  func start(due: Duration, isMeasured: Bool) {
    hasStarted = true
    call.start()
    feeder.start()
  }

  func close(_ end: Engine.End) {
    guard end == .interrupted else { return }
    call.cancel(Interrupt.reason)
    engine.client.cancelLingeringCalls(Interrupt.reason)
    lookup?.cancel()
  }

  /// Creates what sends the request; if its input is invalid, ends the call, which is not started.
  private static func feeder(
    _ plan: CallPlan, _ call: Call, _ engine: Engine, _ printer: CallPrinter, _ lookup: NameLookup?
  ) throws(Failure) -> RequestFeeder {
    do throws(Failure) {
      let (console, loop) = (engine.console, engine.client.loop)
      guard let notice = plan.noticeOfTypedInput else {
        return try RequestFeeder(plan, call: call, loop: loop, lookup)
      }
      if console.error.isTerminal { console.error.remark("* \(TerminalText.escape(notice))\n") }
      return try RequestFeeder(plan, call: call, loop: loop, lookup) { failure in
        if let message = failure.message { console.output.report(ErrorReport(message, failure.status)) }
      }
    } catch {
      // The call's interceptors exist already, so they must be notified of its end.
      printer.isUnsent = true
      call.cancel("the input cannot be sent")
      throw error
    }
  }
}

extension CallPlan {
  /// The notice that messages are typed on the terminal; nil if they come from elsewhere.
  fileprivate var noticeOfTypedInput: String? {
    guard isatty(0) == 1 else { return nil }
    for case .stream(let path, let form) in sources where path == "-" && form.format != .binary {
      let kind = form.format == .json ? "messages in JSON" : "messages in text format, one on each line,"
      return "type \(kind) for \(method.name); Ctrl-D ends the request"
    }
    return nil
  }
}
