import Calls
import Interception
import Output
import Protobuf
import RPCClient
import RPCProtocols

/// The commands that make calls and send messages.
extension Session {
  /// `call METHOD [JSON…]`: makes a call and waits for its end.
  package func call(_ method: String, _ values: [String]) throws {
    let plan = try plan(method)
    let messages =
      try values.isEmpty && !plan.method.clientStreaming ? ["{}"] : values.map(bindings.expand(json:))
    guard messages.count == 1 || plan.method.clientStreaming else {
      throw Failure(.usage, method, "\(messages.count) messages given, but the method accepts one")
    }
    let stream = makeStream(plan, number: nil)
    let payloads = try start(stream, messages)
    foreground = stream
    defer { foreground = nil }
    for payload in payloads { stream.send(payload) }
    stream.halfClose()
    try waitForEnd(of: [stream])
    let status = conclude(stream)
    if end != nil { return }
    if let status {
      stream.saved?.hasFailed = true
      throw Failure(reported: status)
    }
  }

  /// `open METHOD [JSON…]`: starts a stream and makes it the current one.
  package func open(_ method: String, _ values: [String]) throws {
    let plan = try plan(method)
    let messages = try values.map(bindings.expand(json:))
    guard messages.count <= 1 || plan.method.clientStreaming else {
      throw Failure(.usage, method, "\(messages.count) messages given, but the method accepts one")
    }
    let stream = makeStream(plan, number: streams.nextNumber)
    let payloads = try start(stream, messages)
    streams.add(stream)
    for payload in payloads { stream.send(payload) }
    if !stream.acceptsMessages { streams.switchOn() }
    notice("\(stream.title) is open")
  }

  /// Sends messages on the current stream; waits while flow control stops it.
  package func send(_ values: [String]) throws {
    guard let stream = streams.current else {
      throw Failure(.usage, "", "no open stream accepts messages", hint: "open METHOD, or call METHOD {…}")
    }
    for value in values {
      let message = try bindings.expand(json: value)
      if !stream.printer.wantsInput {
        guard try wait(until: { stream.printer.wantsInput || !stream.acceptsMessages }) else {
          return handleSignal()
        }
      }
      guard stream.acceptsMessages, let call = stream.call else {
        throw Failure(.usage, stream.title, "the stream accepts no more messages")
      }
      stream.send(try encode(message, stream, call))
      if stream.isHalfClosed { streams.switchOn() }
    }
  }

  /// `close [N]`: half-closes a stream.
  package func halfClose(_ stream: SessionStream) {
    stream.halfClose()
    if streams.current === stream { streams.switchOn() }
    notice("\(stream.title) is half-closed")
  }

  /// `receive [COUNT]`: waits for responses of the current stream, or of the stream opened last.
  package func receive(_ count: Int) throws {
    let stream = try streams.current ?? streams.open.last ?? streams.latest ?? streams.find(nil)
    stream.awaited += min(count, Int.max - stream.awaited)
    guard try wait(until: { stream.received >= stream.awaited || stream.isDone }) else {
      handleSignal()
      // After an interrupt, do not wait for these responses again.
      stream.awaited = stream.received
      throw Failure(.input, stream.title, "interrupted before the response arrived")
    }
    guard stream.received >= stream.awaited else {
      throw Failure(.input, stream.title, "the stream ended before the response arrived")
    }
  }

  private func makeStream(_ plan: CallPlan, number: Int?) -> SessionStream {
    let output = CallOutput(console.output, isDirect: true)
    let lookup = TypeLookup(plan, client: client)
    let printer = CallPrinter(
      plan, lookup: lookup, output: output, index: number,
      title: number.map { SessionStream.title(plan.method.name, $0) })
    let stream = SessionStream(plan, number: number, place: place, printer) {
      [weak self] message in self?.bindings.last = message
    }
    if let number, plan.format != .events {
      output.mark = { [weak self] in
        guard let self, streams.open.count > 1 || foreground != nil else { return "" }
        return "\(SessionStream.title(plan.method.name, number)) "
      }
    }
    return stream
  }

  /// Encodes the messages and starts the call; sends nothing if a message is invalid.
  private func start(_ stream: SessionStream, _ messages: [String]) throws -> [Payload] {
    let request = stream.plan.request(log: log, onFinding: stream.printer.findings.sink)
    let call = client.makeCall(request, observer: stream.printer)
    stream.saved = SavedCall(state, chain, stream.plan)
    let payloads: [Payload]
    do {
      payloads = try messages.map { try encode($0, stream, call) }
    } catch {
      // The call's interceptors exist already, so they must be notified of its end.
      stream.printer.isUnsent = true
      call.cancel("the request is invalid")
      throw error
    }
    record.calls(stream.saved)
    stream.start(call)
    stream.printer.setOutputBehind(isOutputBehind)
    return payloads
  }

  private func encode(_ json: String, _ stream: SessionStream, _ call: Call) throws(Failure) -> Payload {
    let bytes = Array(json.utf8)
    var form = stream.plan.requestForm
    if form.functions != nil { form.functions = functions }
    let message = RequestMessage(
      source: stream.plan.method.name, start: TextPosition(), bytes: bytes, form: form)
    let payload = try message.encode(for: call)
    bindings.request = .bytes(bytes, .json, stream.plan.method.input)
    record.sends(json, stream.saved)
    return payload
  }
}
