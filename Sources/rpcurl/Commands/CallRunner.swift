import Protobuf
import RPCClient
import RPCProtocols
import Transport

/// Carries out a plan: makes the call, and ends as the call ended.
struct CallRunner {
  private let plan: CallPlan
  private let clients: ClientSource

  init(_ plan: CallPlan, clients: ClientSource) {
    self.plan = plan
    self.clients = clients
  }

  func run() throws {
    defer { plan.chain.unload() }
    let client = try clients.client()
    client.interceptors = plan.chain.registrations
    client.log = plan.chain.log
    let lookup = TypeLookup(plan, client: client)
    let printer = CallPrinter(plan, lookup: lookup)
    let screen = CallScreen(printer, lookup: lookup)
    client.onFinding = printer.findings.sink
    let call = client.makeCall(plan.request, observer: screen)
    screen.call = call
    let feeder: RequestFeeder
    do throws(Failure) {
      feeder = try RequestFeeder(plan, call: call, loop: client.loop)
    } catch {
      // Its interceptors were made, so they are notified of its end.
      printer.isUnsent = true
      call.cancel("the input cannot be sent")
      throw error
    }
    printer.feeder = feeder

    var isInterrupted = false
    if let descriptor = Interrupt.install() {
      client.loop.watch(descriptor) {
        client.loop.unwatch(descriptor)
        isInterrupted = true
        call.cancel(Interrupt.reason)
        lookup?.cancel()
      }
    }
    // A reader that is behind slows the server down, but neither the deadline nor a signal.
    let pump = OutputPump(client.loop) { screen.setOutputBehind($0) }
    OutputPatience.keep(plan.timeout.map { .now + $0 })
    let progress = ProgressLine(client.loop) {
      let traffic = call.traffic
      return ProgressLine.Traffic(
        sentMessages: printer.sent, receivedMessages: printer.received, sentBytes: traffic.sent,
        receivedBytes: traffic.received)
    }
    defer { progress?.finish() }
    call.start()
    feeder.start()
    do {
      try client.loop.run { call.isFinished && !screen.isHolding }
    } catch {
      throw Failure(.internalError, "libcurl", error.message)
    }
    progress?.finish()
    let status = printer.conclude()
    OutputPatience.keep(nil)
    if plan.timeout != nil, printer.end?.code == .deadlineExceeded { OutputPatience.hurry() }
    pump.finish()
    // The call may have been over when the signal came, and its output not.
    if isInterrupted || Interrupt.isPending { throw Failure(reported: Interrupt.status) }
    if let failure = feeder.failure { throw failure }
    if let status { throw Failure(reported: status) }
    if let failure = printer.failure { throw failure }
  }
}
