import Interception
import Interceptors
import Protobuf
import RPCClient
import RPCProtocols

/// Prints a call as it goes: what the format asks for on standard output, the rest on standard error.
final class CallPrinter: CallObserver {
  private let plan: CallPlan
  private let output: CallOutput
  /// The call's place in a batch.
  private let index: Int?
  private let details: DetailPrinter
  private let redaction: Redaction
  private let writer: MessageWriter
  /// The messages that were sent, and those that were shown.
  private(set) var sent = 0
  private(set) var received = 0
  /// The messages that came from the wire, of which interceptors may make fewer or more.
  private var arrived = 0
  /// Sends the request; it is told when the call takes no more.
  weak var feeder: RequestFeeder?
  /// Tells which types of a message that is shown may be looked up; it is not shown then.
  private let lookup: TypeLookup?
  /// The types of the last message that were to be looked up first.
  private(set) var missingTypes: [String] = []
  /// Whether nobody needs to be told how the call ended: it was given up together with others.
  var isGivenUp = false
  /// Whether the call is never started, because its input is invalid. Nothing of it is shown.
  var isUnsent = false
  /// What is wrong with an answer to a call that ended well.
  private(set) var failure: Failure?
  /// How the call ended.
  private(set) var end: ResponseEnd?
  /// What interceptors find out about the call.
  let findings = FindingCollector()

  init(
    _ plan: CallPlan, lookup: TypeLookup? = nil, output: CallOutput = CallOutput(isDirect: true),
    index: Int? = nil
  ) {
    self.plan = plan
    self.lookup = lookup
    self.output = output
    self.index = index
    details = DetailPrinter(pool: plan.pool)
    redaction = Redaction(showsSecrets: plan.showsSecrets)
    writer = MessageWriter(plan)
  }

  func callStarted(_ start: RequestStart, request: HTTPRequest?) {
    let headers = request?.headers ?? start.headers
    let url = request?.url ?? "\(start.target)/\(start.method)"
    let redaction = redaction.hiding(credentialsOf: start)
    if plan.verbosity > 0 {
      trace("*", "\(start.method) (\(plan.method.kind.rawValue)) over \(plan.protocolName.rawValue)")
      if plan.usesGET, request?.method == "POST" {
        trace("*", "POST instead of GET: the URL would be longer than \(plan.request.maxURLBytes) bytes")
      }
      trace(">", "\(request?.method ?? "POST") \(url)")
      trace(">", headers, redaction)
    }
    guard plan.format == .events else { return }
    var event = event("start")
    event.add("method", start.method.description)
    event.add("kind", plan.method.kind.rawValue)
    event.add("protocol", plan.protocolName.rawValue)
    event.add("url", url)
    event.add("headers", raw: json(headers, redaction))
    print(event)
  }

  func callSent(_ size: MessageSize) {
    if plan.verbosity > 1 { trace("*", "sent message \(sent): \(describe(size))") }
    if plan.format == .events {
      var event = event("sent")
      event.add("index", sent)
      event.add("bytes", size.bytes)
      print(event)
    }
    sent += 1
  }

  func callReceived(_ size: MessageSize) {
    trace("*", "received message \(arrived): \(describe(size))")
    arrived += 1
  }

  func callReceived(_ start: ResponseStart) {
    if plan.verbosity > 0 {
      trace("<", start.httpVersion.isEmpty ? "(no server)" : "HTTP/\(start.httpVersion) \(start.httpStatus)")
      trace("<", start.headers)
    }
    guard plan.format == .events else { return }
    var event = event("headers")
    event.add("http_status", start.httpStatus)
    event.add("http_version", start.httpVersion)
    event.add("headers", raw: json(start.headers))
    print(event)
  }

  func callReceived(_ message: RawSpan) throws(RPCError) {
    try show(bytes: message.byteCount) { out throws in try writer.append(message, to: &out) }
  }

  func callReceived(_ message: Message) throws(RPCError) {
    try show(bytes: message.serialized().count) { out throws in try writer.append(message, to: &out) }
  }

  func callWantsInput(_ isWanted: Bool) {
    feeder?.setWanted(isWanted)
  }

  func callEnded(_ end: ResponseEnd) {
    self.end = end
    guard !isUnsent else { return }
    feeder?.stop()
    if plan.verbosity > 0 {
      if !end.trailers.isEmpty { trace("<", end.trailers) }
      trace("*", "\(end.code.name) (\(end.code.rawValue))")
    }
    if plan.format == .events {
      var event = event("end")
      event.add("code", end.code.name)
      event.add("code_number", end.code.rawValue)
      event.add("message", end.error?.message ?? "")
      event.add("details", raw: "[\((end.error?.details ?? []).map(details.json).joined(separator: ","))]")
      event.add("trailers", raw: json(end.trailers))
      event.add("sent", sent)
      event.add("received", received)
      print(event)
    }
    // Input that cannot be sent is told by whoever ends the command.
    if let error = end.error, feeder?.failure == nil, !isGivenUp, !findings.hasExpectedStatus {
      report(error)
    }
  }

  func callMeasured(_ metrics: CallMetrics) {
    if plan.showsTiming { output.remark(named(TimingLine.text(metrics)) + "\n") }
    guard plan.format == .events else { return }
    var event = event("metrics")
    event.add("total_ms", milliseconds: metrics.total)
    if let resolve = metrics.resolve { event.add("resolve_ms", milliseconds: resolve) }
    if let connect = metrics.connect { event.add("connect_ms", milliseconds: connect) }
    if let tls = metrics.tls { event.add("tls_ms", milliseconds: tls) }
    if let firstByte = metrics.firstByte { event.add("first_byte_ms", milliseconds: firstByte) }
    event.add("bytes_sent", metrics.sentBytes)
    event.add("bytes_received", metrics.receivedBytes)
    event.add("attempts", metrics.attempts)
    print(event)
  }

  /// Tells what interceptors have found out about the call, when it is over.
  ///
  /// - Returns: How the call ends the process; `nil` when it is as it should be.
  func conclude() -> ExitStatus? {
    let found = findings.takeAll()
    if !isGivenUp { tell(found) }
    if found.hasFailure { return .assertion }
    guard let error = end?.error, !found.hasExpectedStatus else { return nil }
    return .call(error)
  }

  private func tell(_ findings: [Finding]) {
    for finding in findings where plan.format == .events {
      var event = event("note")
      event.add("interceptor", finding.interceptor)
      event.add("kind", finding.kind.name)
      event.add("text", finding.text)
      print(event)
    }
    for finding in findings {
      switch finding.kind {
      case .failure:
        report(Failure.Words(what: "assertion failed", why: finding.text), .assertion)
      case .note, .expectedStatus:
        if plan.verbosity > 0 { trace("*", "\(finding.interceptor): \(finding.text)") }
      }
    }
  }

  // MARK: Standard error

  /// The error of a call: its status, then its details, decoded.
  private func report(_ error: RPCError) {
    let why =
      "\(error.code.name) (\(error.code.rawValue))\(error.message.isEmpty ? "" : ": \(error.message)")"
    let words =
      switch error.origin {
      case .connection, .tls, .request:
        Failure.Words(what: plan.target.name, why: error.message, hint: plan.hint(for: error))
      case .proxy(let proxy):
        Failure.Words(what: "proxy \(proxy)", why: error.message, hint: plan.hint(for: error))
      case .server, .client: Failure.Words(what: "\(plan.name)", why: why)
      case .violation: Failure.Words(what: "\(plan.name)", why: why, hint: plan.hint(for: error))
      case .interceptor(let name):
        Failure.Words(what: "\(plan.name)", why: "interceptor \(name): \(why)")
      }
    report(words, status(error), error)
  }

  /// How the process, or this call of a batch, ends for the error.
  private func status(_ error: RPCError) -> ExitStatus {
    if Interrupt.isPending { return Interrupt.status }
    return findings.hasFailure ? .assertion : .call(error)
  }

  private func report(_ words: Failure.Words, _ status: ExitStatus, _ error: RPCError? = nil) {
    output.remark(ErrorReport(words, status, call: index, error: error, details: details).rendered)
  }

  /// `text`, behind the call's place in a batch.
  private func named(_ text: String) -> String {
    index.map { "call \($0): \(text)" } ?? text
  }

  /// `17 bytes (22 on the wire)`
  private func describe(_ size: MessageSize) -> String {
    let compression = size.compression.map { ", \($0.rawValue)" } ?? ""
    let way = size.wireBytes.map { "\($0) on the wire" } ?? "in the URL"
    return "\(size.bytes) byte\(size.bytes == 1 ? "" : "s") (\(way)\(compression))"
  }

  private func trace(_ mark: String, _ text: String) {
    output.remark("\(mark) \(TerminalText.escape(text))\n")
  }

  private func trace(_ mark: String, _ headers: Headers, _ redaction: Redaction? = nil) {
    let redaction = redaction ?? self.redaction
    for field in headers.fields {
      trace(mark, "\(field.name): \(redaction.value(of: field))")
    }
    output.remark("\(mark)\n")
  }

  // MARK: JSON

  /// Prints one message, which `append` writes.
  private func show(bytes: Int, _ append: (inout [UInt8]) throws -> Void) throws(RPCError) {
    missingTypes = []
    do {
      switch plan.format {
      case .none: break
      case .events:
        var json: [UInt8] = []
        try append(&json)
        try lookup?.check(json[...])
        var event = event("message")
        event.add("index", received)
        event.add("bytes", bytes)
        event.add("message", raw: String(decoding: json, as: UTF8.self))
        print(event)
      case .text, .binary: try output.write(append)
      case .pretty where plan.filter != nil, .json where plan.filter != nil: try output.write(append)
      case .pretty, .json:
        try output.write { out in
          let start = out.count
          try append(&out)
          try lookup?.check(out[start...])
          if plan.usesColor { out.replaceSubrange(start..., with: JSONColor.colored(out[start...])) }
          out.append(UInt8(ascii: "\n"))
        }
      }
    } catch let missing as TypeLookup.Missing {
      missingTypes = missing.names
      return
    } catch is FieldFilter.Missing {
      let what = "--filter \(plan.filter.map { $0.path.description } ?? "")"
      failure = failure ?? Failure(.assertion, what, "message \(received) of the answer has no such field")
    } catch {
      if case .unknownAnyType(let name)? = (error as? JSONError)?.reason, lookup?.mayFind(name) == true {
        missingTypes = [name]
        return
      }
      let type = plan.method.output.name
      throw RPCError(.internal, "the answer is not a \(type): \(error)", origin: .violation)
    }
    received += 1
  }

  private func json(_ headers: Headers, _ redaction: Redaction? = nil) -> String {
    let redaction = redaction ?? self.redaction
    let pairs = headers.fields.map {
      "[\(JSONValue.quoted($0.name)),\(JSONValue.quoted(redaction.value(of: $0)))]"
    }
    return "[\(pairs.joined(separator: ","))]"
  }

  private func print(_ event: consuming JSONObject) {
    let line = event.line()
    output.write { $0 += line }
  }

  private func event(_ name: String) -> JSONObject {
    var event = JSONObject()
    event.add("event", name)
    if let index { event.add("call", index) }
    return event
  }
}
