import RPCurlBase
import RPCurlCall
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// Runs a plan: makes the call and fails as the call fails.
package struct CallRunner {
  private let plan: CallPlan
  private let clients: ClientSource

  package init(_ plan: CallPlan, clients: ClientSource) {
    self.plan = plan
    self.clients = clients
  }

  package func run() throws {
    let client = try clients.client()
    let log = clients.console.log(showingDebug: plan.verbosity > 1)
    let lookup = NameLookup(plan, client: client)
    let printer = CallPrinter(
      plan, lookup: lookup, output: CallOutput(clients.console.output, isDirect: true))
    let call = try client.makeCall(
      plan.request(log: log, onFinding: printer.findings.sink, lookup), observer: printer)
    printer.call = call
    let feeder = try feeder(call, client, printer, lookup)
    printer.feeder = feeder
    let deadline = clients.console.deadline
    deadline.set(plan.timeout.map { .now + $0 })
    let (isInterrupted, status) = try CommandLoop(client.loop).run(
      flushing: clients.console,
      progress: {
        var progress = printer.progress
        progress.share = feeder.share
        return progress
      },
      whenBehind: { printer.setOutputBehind($0) },
      start: {
        call.start()
        feeder.start()
      },
      onInterrupt: {
        call.cancel(Interrupt.reason)
        client.cancelLingeringCalls(Interrupt.reason)
        lookup?.cancel()
      },
      until: {
        // Between events: the call may not be canceled while it delivers one.
        if printer.isLimitReached, !call.isFinished { call.cancel("--limit \(printer.received)") }
        return call.isFinished && !printer.isHolding && !client.hasLingeringCalls
      },
      conclude: {
        let status = printer.conclude()
        deadline.set(nil)
        if plan.timeout != nil, printer.end?.code == .deadlineExceeded { deadline.begin() }
        return status
      })
    if isInterrupted { throw Failure(reported: Interrupt.status) }
    if let failure = feeder.failure { throw failure }
    if let status { throw Failure(reported: status) }
    if let failure = printer.failure { throw failure }
  }

  /// Creates what sends the request; if its input is invalid, ends the call, which is not started.
  private func feeder(
    _ call: Call, _ client: LoopClient, _ printer: CallPrinter, _ lookup: NameLookup?
  ) throws(Failure) -> RequestFeeder {
    do throws(Failure) {
      let console = clients.console
      guard let notice = plan.noticeOfTypedInput else {
        return try RequestFeeder(plan, call: call, loop: client.loop, lookup)
      }
      if console.error.isTerminal { console.error.remark("* \(TerminalText.escape(notice))\n") }
      return try RequestFeeder(plan, call: call, loop: client.loop, lookup) { failure in
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
