import Output
import Protobuf
import RPCClient
import RPCProtocols
import System
import Transport

/// Runs a plan: makes the call and fails as the call fails.
package struct CallRunner {
  private let plan: CallPlan
  private let clients: ClientSource

  package init(_ plan: CallPlan, clients: ClientSource) {
    self.plan = plan
    self.clients = clients
  }

  package func run() throws {
    defer { plan.chain.unload() }
    let client = try clients.client()
    let lookup = TypeLookup(plan, client: client)
    let printer = CallPrinter(plan, lookup: lookup)
    let call = client.makeCall(
      plan.request(log: plan.chain.log, onFinding: printer.findings.sink), observer: printer)
    printer.call = call
    let feeder: RequestFeeder
    do throws(Failure) {
      feeder = try RequestFeeder(plan, call: call, loop: client.loop)
    } catch {
      // The call's interceptors exist already, so they must be notified of its end.
      printer.isUnsent = true
      call.cancel("the input cannot be sent")
      throw error
    }
    printer.feeder = feeder

    FlushDeadline.set(plan.timeout.map { .now + $0 })
    let (isInterrupted, status) = try CommandLoop(client.loop).run(
      traffic: {
        let traffic = call.traffic
        return ProgressLine.Traffic(
          sentMessages: printer.sent, receivedMessages: printer.received, sentBytes: traffic.sent,
          receivedBytes: traffic.received)
      },
      whenBehind: { printer.setOutputBehind($0) },
      start: {
        call.start()
        feeder.start()
      },
      onInterrupt: {
        call.cancel(Interrupt.reason)
        lookup?.cancel()
      },
      until: { call.isFinished && !printer.isHolding },
      conclude: {
        let status = printer.conclude()
        FlushDeadline.set(nil)
        if plan.timeout != nil, printer.end?.code == .deadlineExceeded { FlushDeadline.begin() }
        return status
      })
    if isInterrupted { throw Failure(reported: Interrupt.status) }
    if let failure = feeder.failure { throw failure }
    if let status { throw Failure(reported: status) }
    if let failure = printer.failure { throw failure }
  }
}
