import Protobuf
import RPCClient
import RPCProtocols

/// Stands between a call and its printer, and holds what happens while types of a message are looked up.
package final class CallScreen: CallObserver {
  /// What shows the call.
  package let printer: CallPrinter
  private let lookup: TypeLookup?
  /// What happened while types were being looked up, to be shown when they are known.
  private var held: [(CallScreen) -> Void]?
  /// Why a message that was held cannot be shown.
  private var failure: RPCError?
  private var isOutputBehind = false
  private var deadline: MonotonicClock.Instant?
  /// The call; it is told when no more of its answer can be shown.
  package weak var call: Call?

  package init(_ printer: CallPrinter, lookup: TypeLookup?) {
    self.printer = printer
    self.lookup = lookup
  }

  /// Whether something is still to be shown.
  package var isHolding: Bool { held != nil }

  /// Says whether the reader of the output is behind.
  package func setOutputBehind(_ isBehind: Bool) {
    isOutputBehind = isBehind
    tellWhetherResponseIsWanted()
  }

  package func callStarted(_ start: RequestStart, request: HTTPRequest?) {
    deadline = start.deadline
    show { $0.printer.callStarted(start, request: request) }
  }

  package func callSent(_ size: MessageSize) {
    show { $0.printer.callSent(size) }
  }

  package func callReceived(_ size: MessageSize) {
    show { $0.printer.callReceived(size) }
  }

  package func callReceived(_ start: ResponseStart) {
    show { $0.printer.callReceived(start) }
  }

  package func callReceived(_ message: RawSpan) throws(RPCError) {
    if held == nil {
      try printer.callReceived(message)
      guard !printer.missingTypes.isEmpty else { return }
    }
    let bytes = message.copyBytes()
    keep { printer throws(RPCError) in try printer.callReceived(bytes.span.bytes) }
  }

  package func callReceived(_ message: Message) throws(RPCError) {
    if held == nil {
      try printer.callReceived(message)
      guard !printer.missingTypes.isEmpty else { return }
    }
    keep { printer throws(RPCError) in try printer.callReceived(message) }
  }

  package func callWantsInput(_ isWanted: Bool) {
    printer.callWantsInput(isWanted)
  }

  package func callEnded(_ end: ResponseEnd) {
    printer.feeder?.stop()
    let names = end.error?.details.map(\.typeName) ?? []
    if let missing = lookup?.missing(among: names), held == nil {
      hold(for: missing, [])
    }
    show { screen in
      var end = end
      if let failure = screen.failure { end.error = failure }
      screen.printer.callEnded(end)
    }
  }

  package func callMeasured(_ metrics: CallMetrics) {
    show { $0.printer.callMeasured(metrics) }
  }

  // MARK: Holding

  private func show(_ event: @escaping (CallScreen) -> Void) {
    if held == nil { event(self) } else { held?.append(event) }
  }

  /// Keeps a message, which the printer has refused to show yet, or which comes after such a one.
  private func keep(_ print: @escaping (CallPrinter) throws(RPCError) -> Void) {
    let event: (CallScreen) -> Void = { screen in screen.tryAgain(print) }
    if held == nil { hold(for: printer.missingTypes, [event]) } else { held?.append(event) }
  }

  private func tryAgain(_ print: @escaping (CallPrinter) throws(RPCError) -> Void) {
    guard failure == nil else { return }
    do throws(RPCError) {
      try print(printer)
      if !printer.missingTypes.isEmpty { keep(print) }
    } catch {
      failure = error
      call?.cancel("its answer cannot be shown")
    }
  }

  private func hold(for names: [String], _ events: [(CallScreen) -> Void]) {
    held = events
    tellWhetherResponseIsWanted()
    lookup?.find(names, until: deadline) { [weak self] in self?.release() }
  }

  private func release() {
    let events = held ?? []
    held = nil
    for (index, event) in events.enumerated() {
      event(self)
      guard held == nil else {
        held? += events[(index + 1)...]
        return
      }
    }
    tellWhetherResponseIsWanted()
  }

  private func tellWhetherResponseIsWanted() {
    call?.wantResponse(!isOutputBehind && held == nil)
  }
}
