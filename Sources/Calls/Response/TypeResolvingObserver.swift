import Protobuf
import RPCClient
import RPCProtocols

/// Forwards the events of a call to its printer. Holds them while types of a message are looked up.
package final class TypeResolvingObserver: CallObserver {
  /// The printer.
  package let printer: CallPrinter
  private let lookup: TypeLookup?
  /// The events to forward when the types are known; nil if none are being looked up.
  private var held: [(TypeResolvingObserver) -> Void]?
  /// Why a held message cannot be printed.
  private var failure: RPCError?
  private var isOutputBehind = false
  private var deadline: MonotonicClock.Instant?
  /// The call; its flow control follows the output.
  package weak var call: Call?

  package init(_ printer: CallPrinter, lookup: TypeLookup?) {
    self.printer = printer
    self.lookup = lookup
  }

  /// Whether events are held.
  package var isHolding: Bool { held != nil }

  /// Sets whether the reader of the output is behind.
  package func setOutputBehind(_ isBehind: Bool) {
    isOutputBehind = isBehind
    updateFlowControl()
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
    hold { printer throws(RPCError) in try printer.callReceived(bytes.span.bytes) }
  }

  package func callReceived(_ message: Message) throws(RPCError) {
    if held == nil {
      try printer.callReceived(message)
      guard !printer.missingTypes.isEmpty else { return }
    }
    hold { printer throws(RPCError) in try printer.callReceived(message) }
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
    show { observer in
      var end = end
      if let failure = observer.failure { end.error = failure }
      observer.printer.callEnded(end)
    }
  }

  package func callMeasured(_ metrics: CallMetrics) {
    show { $0.printer.callMeasured(metrics) }
  }

  // MARK: Holding

  private func show(_ event: @escaping (TypeResolvingObserver) -> Void) {
    if held == nil { event(self) } else { held?.append(event) }
  }

  /// Holds a message that the printer cannot print yet, or that follows such a message.
  private func hold(_ print: @escaping (CallPrinter) throws(RPCError) -> Void) {
    let event: (TypeResolvingObserver) -> Void = { $0.retry(print) }
    if held == nil { hold(for: printer.missingTypes, [event]) } else { held?.append(event) }
  }

  private func retry(_ print: @escaping (CallPrinter) throws(RPCError) -> Void) {
    guard failure == nil else { return }
    do throws(RPCError) {
      try print(printer)
      if !printer.missingTypes.isEmpty { hold(print) }
    } catch {
      failure = error
      call?.cancel("the response cannot be shown")
    }
  }

  private func hold(for names: [String], _ events: [(TypeResolvingObserver) -> Void]) {
    held = events
    updateFlowControl()
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
    updateFlowControl()
  }

  private func updateFlowControl() {
    call?.wantResponse(!isOutputBehind && held == nil)
  }
}
