import Protobuf
import RPCProtocols

/// The interceptors of one call, and the values that are on their way through them.
///
/// The caller stands above, the wire below; both give values here and are called when values come out. The
/// chain belongs to one thread, the loop's: only what interceptors do with tokens and contexts may come from
/// others, and waits in a mailbox until the owner, woken, calls `processMail()`.
///
/// The chain neither reads nor waits. What an interceptor holds stays until it is resumed, or until the owner
/// cancels the call, at its deadline or at Ctrl-C.
public final class Chain {
  /// How many bytes may wait in each direction before the chain asks to pause.
  public static let defaultWindowBytes = 4 << 20

  /// What is known of the call.
  public let facts: CallFacts

  var links: [Link]
  let codec: MessageCodec
  let mailbox: Mailbox
  let windowBytes: Int
  /// The stations of the three paths.
  let outbound: Path
  let inbound: Path
  let report: Path
  /// All stations, by their numbers.
  let stations: [Station]

  var caller: (any ChainCaller)?
  var wire: (any ChainWire)?
  var progress = Progress()

  // What is to be done next. `pump` works it off, so that nothing recurses.
  var isPumping = false
  var entries = Queue<Entry>()
  var endings = Queue<Ending>()
  var dirtyStations = Queue<(Station, Path)>()
  /// The value that an interceptor is being given at the moment, and what it has said about it.
  var delivery: (ticket: Ticket, verdict: Verdict?)?

  init(facts: CallFacts, links: [Link], codec: MessageCodec, windowBytes: Int, mailbox: Mailbox) {
    self.facts = facts
    self.links = links
    self.codec = codec
    self.windowBytes = windowBytes
    self.mailbox = mailbox
    outbound = Path.outbound(links, firstID: 0)
    inbound = Path.inbound(links, firstID: outbound.stations.count)
    report = Path.report(links, firstID: outbound.stations.count + inbound.stations.count)
    stations = outbound.stations + inbound.stations + report.stations
    progress.endFrontier = links.count
    progress.responseStartFrontier = links.count
    publishEpochs()
  }

  /// The names of the interceptors, first to last on the request path.
  public var names: [String] { links.map(\.name) }

  /// Whether an interceptor wants typed request messages. If none does, the caller can give bytes, and no
  /// message needs to be built.
  public var wantsRequestMessages: Bool { outbound.typedCount > 0 }

  /// Whether an interceptor wants typed response messages.
  public var wantsResponseMessages: Bool { inbound.typedCount > 0 }

  /// Whether the chain takes more messages to send. When it does not, what is given is still taken.
  public var wantsMoreInput: Bool { !progress.isInputPaused }

  /// Whether the chain takes more of the response. When it does not, what is given is still taken.
  public var wantsMoreResponse: Bool { !progress.isResponsePaused }

  /// Whether a response message that came now would leave the chain at once and unchanged: nobody wants messages,
  /// and nothing waits. Then it may go to the caller directly.
  public var letsResponsesThrough: Bool {
    inbound.nextForMessages[0] == inbound.stations.count && inbound.waitingCount == 0 && !isPumping
      && entries.isEmpty && endings.isEmpty && dirtyStations.isEmpty && progress.isStarted
      && !progress.isWireDone && progress.end == nil
  }

  /// Whether every interceptor has finished.
  public var isFinished: Bool { progress.isFinished }

  // MARK: - From the caller

  /// Starts the call. Once, and first.
  public func start(_ start: RequestStart, caller: any ChainCaller, wire: any ChainWire) {
    guard !progress.isStarted, !progress.isFinished else { return }
    progress.isStarted = true
    self.caller = caller
    self.wire = wire
    enter(.outbound(.requestStart(start)))
  }

  /// Sends a message.
  ///
  /// - Parameters:
  ///   - message: The message; bytes are in the call's codec.
  ///   - sizeBytes: For a typed message, the size of what it was made of, to be counted while it waits.
  public func send(_ message: Payload, sizeBytes: Int = 0) {
    enter(.outbound(.message(Carried(message, sizeBytes: sizeBytes))))
  }

  /// Half-closes: no more messages follow.
  public func closeRequest() {
    enter(.outbound(.requestEnd))
  }

  /// Ends the call at once, whatever is held: Ctrl-C, the deadline, or the owner's own reason.
  ///
  /// Every interceptor that saw the start and not yet the end hears the error, last to first, then the caller.
  /// A deadline's error is told who held the call. After the end it hurries the metrics along.
  public func cancel(_ error: RPCError) {
    endings.append(.cancel(error))
    pump()
  }

  // MARK: - From the wire

  /// The response starts.
  public func received(_ start: ResponseStart) {
    enter(.inbound(.responseStart(start)))
  }

  /// A serialized message has come, decompressed.
  public func received(_ bytes: [UInt8]) {
    enter(.inbound(.message(Carried(bytes: bytes))))
  }

  /// The response has ended, or the connection has. The wire is not called any more.
  public func received(_ end: ResponseEnd) {
    enter(.inbound(.responseEnd(end)))
  }

  // MARK: - From the owner

  /// What the call took. Once, on every path: at the latest when the caller has been told the end. The call
  /// finishes after it.
  public func measured(_ metrics: CallMetrics) {
    guard progress.report == .awaited else { return }
    progress.report = .given(metrics)
    pump()
  }

  /// Works off what interceptors said on other threads. To be called on the loop's thread after each wake-up.
  public func processMail() {
    pump()
  }

  /// Who has been keeping the call waiting: the interceptor that holds the first value of the response, else of
  /// the request, and the stage at which it does.
  public var holder: (name: String, stage: Stage)? {
    for station in inbound.stations.reversed() + outbound.stations.reversed() + report.stations {
      if let stage = station.lane.headHold { return (links[station.position].name, stage) }
    }
    return nil
  }
}

/// How far a call has come.
struct Progress {
  enum Report: Equatable {
    case awaited
    case given(CallMetrics)
    /// On their way through the chain.
    case travelling(CallMetrics)
    case done
  }

  var isStarted = false
  /// How many interceptors the request's start has reached.
  var reached = 0
  /// Interceptors from here on have seen the end; the values of the call are for those before it only.
  var endFrontier = 0
  /// Interceptors from here on have seen the response's start; -1 when the caller has.
  var responseStartFrontier = 0
  var isWireStarted = false
  /// The wire has ended, or was cancelled, or is not to be started any more.
  var isWireDone = false
  /// Nothing more goes out: the call ended on this side, or the caller has been told the end.
  var isRequestClosed = false
  /// The end, once the caller has been told.
  var end: ResponseEnd?
  /// The call was cancelled: what is still to be told is only shown.
  var isCancelled = false
  var report = Report.awaited
  var isFinished = false
  var isInputPaused = false
  var isResponsePaused = false
}
