import Interception
import Interceptors
import Output
import Protobuf
import RPCClient
import RPCProtocols
import System

/// Prints a call: responses in the chosen format on standard output, the rest on standard error.
package final class CallPrinter: CallObserver {
  private let plan: CallPlan
  private let output: CallOutput
  /// The index of the call in a batch, or its number in a session, for JSON output.
  private let index: Int?
  /// The name of the call in text; nil if there is only one.
  private let title: String?
  private let details: DetailPrinter
  private let redaction: Redaction
  private let writer: MessageWriter
  /// The number of messages sent, and of those printed.
  package private(set) var sent = 0
  package private(set) var received = 0
  /// The number of messages received, before interceptors add or drop any.
  private var arrived = 0
  /// Sends the request; paused by flow control.
  package weak var feeder: RequestFeeder?
  /// Reports the types of a message that can be looked up; such a message is not printed yet.
  private let lookup: TypeLookup?
  /// The types of the last message that must be looked up first.
  package private(set) var missingTypes: [String] = []
  /// Whether errors are not printed: the call was canceled together with others.
  package var isGivenUp = false
  /// Whether the call is not started because its input is invalid. Nothing of it is printed.
  package var isUnsent = false
  /// Why the response to a successful call is unusable.
  package private(set) var failure: Failure?
  /// The status of the call.
  package private(set) var end: ResponseEnd?
  /// The findings of interceptors about the call.
  package let findings = FindingCollector()

  /// Creates a printer.
  ///
  /// - Parameters:
  ///   - plan: The call.
  ///   - lookup: Reports types that can be looked up; nil if none can.
  ///   - output: The destination.
  ///   - index: The index of the call in a batch, or its number in a session.
  ///   - title: The name of the call in text; by default `call INDEX`.
  package init(
    _ plan: CallPlan, lookup: TypeLookup? = nil, output: CallOutput, index: Int? = nil, title: String? = nil
  ) {
    self.plan = plan
    self.lookup = lookup
    self.output = output
    self.index = index
    self.title = title ?? index.map { "call \($0)" }
    details = DetailPrinter(pool: plan.pool)
    redaction = Redaction(showsSecrets: plan.showsSecrets)
    writer = MessageWriter(plan, isTerminal: output.isTerminal)
  }

  package func callStarted(_ start: RequestStart, request: HTTPRequest?) {
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
    event.add(
      start: headers, redaction, kind: plan.method.kind, protocolName: plan.protocolName, url: url)
    print(event)
  }

  package func callSent(_ size: MessageSize) {
    if plan.verbosity > 1 { trace("*", "sent message \(sent): \(describe(size))") }
    if plan.format == .events {
      var event = event("sent")
      event.add("index", sent)
      event.add("bytes", size.bytes)
      print(event)
    }
    sent += 1
  }

  package func callReceived(_ size: MessageSize) {
    trace("*", "received message \(arrived): \(describe(size))")
    arrived += 1
  }

  package func callReceived(_ start: ResponseStart) {
    if plan.verbosity > 0 {
      trace(
        "<", start.httpVersion.isEmpty ? "(local response)" : "HTTP/\(start.httpVersion) \(start.httpStatus)")
      trace("<", start.headers)
    }
    guard plan.format == .events else { return }
    var event = event("headers")
    event.add(start, redaction)
    print(event)
  }

  package func callReceived(_ message: RawSpan) throws(RPCError) {
    try show(bytes: message.byteCount) { out throws in try writer.append(message, to: &out) }
  }

  package func callReceived(_ message: Message) throws(RPCError) {
    try show(bytes: message.serialized().count) { out throws in try writer.append(message, to: &out) }
  }

  package func callWantsInput(_ isWanted: Bool) {
    feeder?.setWanted(isWanted)
  }

  package func callEnded(_ end: ResponseEnd) {
    self.end = end
    guard !isUnsent else { return }
    feeder?.stop()
    if plan.verbosity > 0 {
      if !end.trailers.isEmpty { trace("<", end.trailers) }
      trace("*", "\(end.code.name) (\(end.code.rawValue))")
    }
    if plan.format == .events {
      var event = event("end")
      event.add(end, redaction, debug: details.debug)
      event.add("sent", sent)
      event.add("received", received)
      print(event)
    }
    // The command reports an invalid input itself.
    if let error = end.error, feeder?.failure == nil, !isGivenUp, !findings.hasExpectedStatus {
      report(error)
    }
  }

  package func callMeasured(_ metrics: CallMetrics) {
    if plan.showsTiming { output.remark(named(TimingLine.text(metrics)) + "\n") }
    guard plan.format == .events else { return }
    var event = event("metrics")
    event.add(metrics)
    print(event)
  }

  /// Prints the findings of interceptors, after the call has ended.
  ///
  /// - Returns: The exit status that the call causes; nil if it succeeded.
  package func conclude() -> ExitStatus? {
    let found = findings.removeAll()
    if !isGivenUp { report(found) }
    if found.hasFailure { return .assertion }
    guard let error = end?.error, !found.hasExpectedStatus else { return nil }
    return .call(error)
  }

  private func report(_ findings: [Finding]) {
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
        report(Failure.Message(what: "assertion failed", why: finding.text), .assertion)
      case .note, .expectedStatus:
        if plan.verbosity > 0 { trace("*", "\(finding.interceptor): \(finding.text)") }
      }
    }
  }

  // MARK: Standard error

  /// Prints the error of a call: its status and its decoded details.
  private func report(_ error: RPCError) {
    let why =
      "\(error.code.name) (\(error.code.rawValue))\(error.message.isEmpty ? "" : ": \(error.message)")"
    let message =
      switch error.origin {
      case .connection, .tls, .request:
        Failure.Message(what: plan.target.name, why: error.message, hint: plan.hint(for: error))
      case .proxy(let proxy):
        Failure.Message(what: "proxy \(proxy)", why: error.message, hint: plan.hint(for: error))
      case .server, .client: Failure.Message(what: "\(plan.name)", why: why)
      case .violation: Failure.Message(what: "\(plan.name)", why: why, hint: plan.hint(for: error))
      case .interceptor(let name):
        Failure.Message(what: "\(plan.name)", why: "interceptor \(name): \(why)")
      }
    report(message, status(error), error)
  }

  /// The exit status that the error causes.
  private func status(_ error: RPCError) -> ExitStatus {
    if Interrupt.isPending { return Interrupt.status }
    return findings.hasFailure ? .assertion : .call(error)
  }

  private func report(_ message: Failure.Message, _ status: ExitStatus, _ error: RPCError? = nil) {
    output.report(
      ErrorReport(message, status, call: index, title: title, error: error, details: details))
  }

  /// Prefixes `text` with the name of the call, if there are several.
  private func named(_ text: String) -> String {
    title.map { "\($0): \(text)" } ?? text
  }

  /// The size of a message as text, for example `17 bytes (22 on the wire)`.
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

  /// Prints a message, which `append` writes.
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
      failure = failure ?? Failure(.assertion, what, "response message \(received) has no such field")
    } catch {
      if case .unknownAnyType(let name)? = (error as? MessageParseError)?.reason,
        lookup?.mayFind(name) == true
      {
        missingTypes = [name]
        return
      }
      let type = plan.method.output.name
      throw RPCError(.internal, "invalid response: not a \(type): \(error)", origin: .violation)
    }
    received += 1
  }

  private func print(_ event: JSONObject) {
    let line = event.line
    output.write { $0 += line }
  }

  private func event(_ name: String) -> JSONObject {
    var event = JSONObject()
    event.add("event", name)
    if let index { event.add("call", index) }
    return event
  }
}
