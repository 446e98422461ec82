import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports

/// Prints a call: responses in the chosen format on standard output, the rest on standard error.
///
/// A message whose names must be looked up first waits, and so do the events after it.
package final class CallPrinter: CallObserver {
  /// An event that waits.
  private enum Held {
    case event(CallEvent<Payload>)
    case wire(CallEvent<MessageSize>)
    case attempt(AttemptReport)
  }

  let plan: CallPlan
  /// How the call is shown now.
  private(set) var settings: OutputSettings
  let output: CallOutput
  /// The index of the call in a batch, or its number in a session, for JSON output.
  let index: Int?
  /// The name of the call in text; nil if there is only one.
  let title: String?
  let details: DetailPrinter
  /// The credentials of the call, from its start on.
  private var secrets: CallSecrets?
  /// Removes the credentials of the call from what is shown.
  package var redaction: Redaction {
    Redaction(secrets ?? CallSecrets(plan.settings.secretNames), showsSecrets: settings.showsSecrets)
  }
  private var writer: MessageWriter
  /// The number of messages sent, and of those printed.
  package private(set) var sent = 0
  package private(set) var received = 0
  /// The duration of the call; nil before its end.
  package private(set) var elapsed: Duration?
  /// The number of messages received, before interceptors add or drop any.
  private var arrived = 0
  /// Sends the request; paused by flow control.
  package weak var feeder: RequestFeeder?
  /// Whether flow control allows more request messages now.
  package private(set) var wantsInput = true
  /// The call until its metrics; its flow control follows the output. Not weak: an object that has weak references is retained
  /// slowly, and a call is retained for each message.
  package var call: Call?
  /// The bytes of the bodies; nil before the end of the call.
  private var traffic: (sent: Int, received: Int)?
  /// Called with each response message when its names are known, before it is printed.
  package var onResponse: ((Payload) -> Void)?
  /// Finds the names of a message that can be looked up; such a message is not printed yet.
  private let lookup: NameLookup?
  /// Whether responses can use names that the schema lacks.
  private lazy var mayLackNames = lookup?.isNeeded(for: plan.method.output) == true
  /// The events to print when the names are known; nil if none are being looked up.
  private var held: [Held]?
  /// Why a message that waited cannot be printed.
  private var heldFailure: RPCError?
  private var isOutputBehind = false
  private var deadline: MonotonicClock.Instant?
  /// Whether the error of the end is not printed: the call was canceled on purpose.
  package var isGivenUp = false
  /// Whether the call is not started because its input is invalid. Nothing of it is printed.
  package var isUnsent = false
  /// Why the response to a successful call is unusable.
  package private(set) var failure: Failure?
  /// The start of the response.
  package private(set) var start: ResponseStart?
  /// The status of the call.
  package private(set) var end: ResponseEnd?
  /// The findings of interceptors about the call.
  package let findings = FindingCollector()
  /// Whether `--limit` responses of a stream are printed, which ends the call.
  var isLimitReached: Bool {
    guard let limit = plan.settings.limit else { return false }
    return plan.method.serverStreaming && received >= limit
  }

  /// Creates a printer.
  ///
  /// - Parameters:
  ///   - plan: The call.
  ///   - lookup: Finds names that can be looked up; nil if none can.
  ///   - output: The destination.
  ///   - index: The index of the call in a batch, or its number in a session.
  ///   - title: The name of the call in text; by default `call INDEX`.
  package init(
    _ plan: CallPlan, lookup: NameLookup? = nil, output: CallOutput, index: Int? = nil, title: String? = nil
  ) {
    (self.plan, settings) = (plan, plan.settings.output)
    self.lookup = lookup
    self.output = output
    self.index = index
    self.title = title ?? index.map { "call \($0)" }
    details = DetailPrinter(pool: plan.pool)
    writer = MessageWriter(plan, settings, isTerminal: output.isTerminal)
  }

  /// Prints from now on as the settings specify.
  package func show(as settings: OutputSettings) {
    self.settings = settings
    writer = MessageWriter(plan, settings, isTerminal: output.isTerminal)
  }

  /// The messages and bytes so far.
  package var progress: Progress {
    var progress = Progress()
    (progress.sentMessages, progress.receivedMessages) = (sent, received)
    (progress.sentBytes, progress.receivedBytes) = traffic ?? call?.traffic ?? (0, 0)
    return progress
  }

  /// Whether events wait for names.
  package var isHolding: Bool { held != nil }

  /// Sets whether the reader of the output is behind.
  package func setOutputBehind(_ isBehind: Bool) {
    guard isBehind != isOutputBehind else { return }
    isOutputBehind = isBehind
    updateFlowControl()
  }

  // MARK: From the call

  package func receive(_ event: CallEvent<Payload>) throws(RPCError) {
    switch event {
    case .requestStart(let start): deadline = start.deadline
    case .responseStart(let start): self.start = start
    case .responseEnd(let end):
      feeder?.stop()
      traffic = call?.traffic
      let names = end.error?.details.map { UnresolvedName.symbol($0.typeName) } ?? []
      if held == nil, let missing = lookup?.missing(among: names) { return hold(event, for: missing) }
    case .metrics: call = nil
    case .requestMessage, .requestEnd, .responseMessage: break
    }
    guard held == nil else { return add(.event(event)) }
    if let missing = try print(event) { hold(event, for: missing) }
  }

  /// Prints a message without a copy, unless it has to wait.
  package func receive(message: RawSpan) throws(RPCError) {
    guard held == nil else { return add(.event(.responseMessage(.bytes(message.copyBytes())))) }
    if let missing = try print(message) { hold(.responseMessage(.bytes(message.copyBytes())), for: missing) }
  }

  /// Prints messages; many at once if nothing but their content is printed.
  package func receive(messages places: Span<Range<Int>>, of piece: RawSpan) throws(RPCError) -> Int {
    if isPlain {
      let count = print(places, of: piece)
      received += count
      if count > 0 { return count }
    }
    try receive(message: piece.extracting(places[0]))
    return 1
  }

  package func receive(sent message: [UInt8], isRepeated: Bool) {
    guard settings.verbosity > (isRepeated ? 1 : 0) else { return }
    trace(">", redaction.text(sentMessage.text(message, isWhole: settings.verbosity > 1)))
  }

  /// The text of the messages of the request.
  private var sentMessage: SentMessage {
    SentMessage(
      type: plan.method.input, codec: plan.settings.wire.codec, encoding: settings.jsonEncoding,
      secretNames: settings.showsSecrets ? nil : secrets?.names ?? plan.settings.secretNames)
  }

  package func receive(wire event: CallEvent<MessageSize>) {
    if held == nil { print(event) } else { add(.wire(event)) }
  }

  package func attemptEnded(_ report: AttemptReport) {
    if held == nil { print(report) } else { add(.attempt(report)) }
  }

  package func wantInput(_ isWanted: Bool) {
    wantsInput = isWanted
    feeder?.setWanted(isWanted)
  }

  // MARK: Waiting for names

  private func add(_ event: Held) { held?.append(event) }

  private func hold(_ event: CallEvent<Payload>, for names: [UnresolvedName]) {
    held = [.event(event)]
    updateFlowControl()
    lookup?.find(names, until: deadline) { [weak self] in self?.release() }
  }

  private func release() {
    let events = held ?? []
    held = nil
    for (index, event) in events.enumerated() {
      printHeld(event)
      guard held == nil else {
        held? += events[(index + 1)...]
        return
      }
    }
    updateFlowControl()
  }

  private func printHeld(_ event: Held) {
    switch event {
    case .wire(let event): print(event)
    case .attempt(let report): print(report)
    case .event(.responseMessage) where heldFailure != nil: break
    case .event(let event):
      do throws(RPCError) {
        if let missing = try print(event) { hold(event, for: missing) }
      } catch {
        heldFailure = error
        call?.cancel("the response cannot be shown")
      }
    }
  }

  private func updateFlowControl() {
    call?.wantResponse(!isOutputBehind && held == nil)
  }

  // MARK: Printing

  /// Prints an event.
  ///
  /// - Returns: The names of a message that must be looked up first; then it is not printed. Nil if it is.
  private func print(_ event: CallEvent<Payload>) throws(RPCError) -> [UnresolvedName]? {
    switch event {
    case .requestStart(let start): print(start, call?.httpRequest)
    case .responseStart(let start): print(start)
    case .responseMessage(.bytes(let bytes)): return try print(bytes.span.bytes)
    case .responseMessage(.typed(let message)): return try print(message)
    case .responseEnd(let end): print(end)
    case .metrics(let metrics): print(metrics)
    case .requestMessage, .requestEnd: break
    }
    return nil
  }

  private func print(_ start: RequestStart, _ request: HTTPRequest?) {
    secrets = call?.secrets
    // An interceptor may have ended the call before it was sent.
    secrets?.add(start.headers, start.credentials)
    guard settings.verbosity > 0 || settings.format == .events else { return }
    let headers = request?.headers ?? start.headers
    let url = request.map(self.url(of:)) ?? "\(start.target)/\(start.method)"
    if settings.verbosity > 0 {
      trace("*", "\(start.method) (\(plan.method.kind.rawValue)) over \(plan.settings.protocolName.rawValue)")
      if plan.settings.wire.usesGET, request?.method == "POST" {
        trace(
          "*", "POST instead of GET: the URL would be longer than \(plan.settings.wire.maxURLBytes) bytes")
      }
      if let request {
        trace(">", "\(request.method) \(url)")
        trace(">", headers)
      } else {
        trace("*", "no request was sent: the call ended before")
      }
    }
    guard settings.format == .events else { return }
    var event = event("start")
    event.add("method", start.method.description)
    event.add(
      start: redaction.headers(headers), kind: plan.method.kind, protocolName: plan.settings.protocolName,
      url: url)
    event.add(attributes: redaction.attributes(call?.attributes ?? plan.settings.attributes))
    write(event)
  }

  /// The URL of a request, whose message may be a part of it.
  private func url(of request: HTTPRequest) -> String {
    guard !settings.showsSecrets else { return request.url }
    return redaction.text(request.shownURL { $0.map(sentMessage.hasSecrets) ?? true })
  }

  /// Prints that a message was sent, or has arrived.
  private func print(_ event: CallEvent<MessageSize>) {
    switch event {
    case .requestMessage(let size):
      if settings.verbosity > 1 { trace("*", "sent message \(sent): \(describe(size))") }
      if settings.format == .events {
        var event = self.event("sent")
        event.add("index", sent)
        event.add("bytes", size.bytes)
        write(event)
      }
      sent += 1
    case .responseMessage(let size):
      trace("*", "received message \(arrived): \(describe(size))")
      arrived += 1
    case .requestStart, .requestEnd, .responseStart, .responseEnd, .metrics: break
    }
  }

  private func print(_ start: ResponseStart) {
    if settings.verbosity > 0 {
      trace(
        "<", start.httpVersion.isEmpty ? "(local response)" : "HTTP/\(start.httpVersion) \(start.httpStatus)")
      trace("<", start.headers)
    }
    guard settings.format == .events else { return }
    var event = event("headers")
    event.add(redaction.start(start))
    write(event)
  }

  private func print(_ message: RawSpan) throws(RPCError) -> [UnresolvedName]? {
    if let names = missing(in: message, plan.settings.wire.codec) { return names }
    onResponse?(.bytes(message.copyBytes()))
    try print(bytes: message.byteCount) { out throws in try writer.append(message, at: received, to: &out) }
    return nil
  }

  private func print(_ message: Message) throws(RPCError) -> [UnresolvedName]? {
    let bytes = message.serialized()
    if let names = missing(in: bytes.span.bytes, .proto) { return names }
    // Its unknown fields may have become known.
    let hasNewFiles = lookup?.hasAddedFiles == true
    let message = hasNewFiles ? (try? Message(message.type, serialized: bytes)) ?? message : message
    onResponse?(.typed(message))
    try print(bytes: bytes.count) { out throws in try writer.append(message, at: received, to: &out) }
    return nil
  }

  /// The names of a message that must be looked up before it is used; nil if there are none.
  private func missing(in message: RawSpan, _ codec: CodecName) -> [UnresolvedName]? {
    guard mayLackNames else { return nil }
    let copiesBytes = settings.format == .binary && settings.unknownFields == .show
    guard onResponse != nil || settings.format != .none && !copiesBytes else { return nil }
    return lookup?.missing(in: message, of: plan.method.output, codec)
  }

  private func print(_ end: ResponseEnd) {
    var end = end
    if let heldFailure { end.error = heldFailure }
    self.end = end
    guard !isUnsent else { return }
    if end.error == nil, received == 0 || plan.filter == nil { beginTable() }
    // Nothing of it is shown.
    if end.error == nil, settings.verbosity == 0, settings.format != .events { return }
    end = redaction.end(end)
    if settings.verbosity > 0 {
      for line in end.error?.response?.text?.split(whereSeparator: \.isNewline) ?? [] {
        trace("<", String(line))
      }
      if !end.trailers.isEmpty { trace("<", end.trailers) }
      trace("*", "\(end.code.name) (\(end.code.rawValue))")
    }
    if settings.format == .events {
      var event = event("end")
      event.add(end, debug: details.debug)
      event.add("sent", sent)
      event.add("received", received)
      write(event)
    }
    // The command reports an invalid input itself.
    if let error = end.error, feeder?.failure == nil, !isGivenUp, !findings.hasExpectedStatus,
      !isEndedByLimit(error)
    {
      report(error)
    }
  }

  private func print(_ metrics: CallMetrics) {
    guard !isUnsent else { return }
    elapsed = metrics.total
    // Without output, a batch has only its summary.
    if settings.showsTiming, plan.batch == nil || settings.format != .none {
      output.remark(named(TimingLine.text(metrics)) + "\n")
    }
    guard settings.format == .events else { return }
    var event = event("metrics")
    event.add(metrics)
    write(event)
  }

  // MARK: JSON

  /// Prints a message, which `append` writes.
  ///
  /// - Throws: The error that ends the call: of a message that is invalid, or the last one of `--limit`.
  private func print(bytes: Int, _ append: (inout OutputBuffer) throws -> Void) throws(RPCError) {
    do {
      switch settings.format {
      case .none: break
      case .events:
        var out = OutputBuffer()
        try append(&out)
        let json = out.copyBytes()
        var event = event("message")
        event.add("index", received)
        event.add("bytes", bytes)
        event.add("message", raw: String(decoding: json, as: UTF8.self))
        write(event)
      case .text, .binary: try output.write(append)
      case _ where plan.filter != nil:
        if received == 0 { beginTable() }
        try output.write(append)
      case .pretty, .json, .tsv, .csv:
        try output.write { out in
          let start = out.count
          try append(&out)
          if settings.usesColor {
            let colored = JSONColor.chosen.colored(out.copyBytes(from: start))
            out.truncate(to: start)
            out.append(colored)
          }
          out.append(UInt8(ascii: "\n"))
        }
      }
    } catch let problem as Failure {
      failure = failure ?? problem
    } catch {
      let type = plan.method.output.name
      throw RPCError(.internal, "invalid response: not a \(type): \(error)", origin: .violation)
    }
    received += 1
    // At the message itself, so that interceptors receive none after it.
    if isLimitReached { throw RPCError(.canceled, "--limit \(received)", origin: .client) }
  }

  /// Begins the rows of the call; without any, ends a table of the calls before.
  private func beginTable() { output.begin(table: plan.filter?.head) }

  /// Whether nothing but a message itself decides how it is printed: as its JSON and a line feed, or not at all.
  private var isPlain: Bool {
    guard plan.settings.limit == nil, onResponse == nil, held == nil else { return false }
    return settings.format == .none || writer.writesLines && !settings.usesColor && !mayLackNames
  }

  /// Prints messages up to one that has an error, or until there is much output.
  ///
  /// - Returns: The number of messages that are printed.
  private func print(_ places: Span<Range<Int>>, of piece: RawSpan) -> Int {
    if settings.format == .none { return places.count }
    var count = 0
    output.write { out in count = writer.appendLines(of: places, in: piece, to: &out) }
    return count
  }
}
