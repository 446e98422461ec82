import Interception
import Protobuf
import RPCClient
import RPCProtocols

/// Calls and streams.
extension Session {
  /// `call METHOD [JSON…]`: makes a call, and waits for its end.
  func call(_ method: String, _ values: [String]) throws {
    let plan = try plan(method)
    let messages =
      try values.isEmpty && !plan.method.clientStreaming ? ["{}"] : values.map(bindings.expand(json:))
    guard messages.count == 1 || plan.method.clientStreaming else {
      throw Failure(.usage, method, "\(messages.count) messages, but it takes one")
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

  /// `open METHOD [JSON…]`: starts a stream, which messages go to from now on.
  func open(_ method: String, _ values: [String]) throws {
    let plan = try plan(method)
    let messages = try values.map(bindings.expand(json:))
    guard messages.count <= 1 || plan.method.clientStreaming else {
      throw Failure(.usage, method, "\(messages.count) messages, but it takes one")
    }
    let stream = makeStream(plan, number: streams.nextNumber)
    let payloads = try start(stream, messages)
    streams.add(stream)
    for payload in payloads { stream.send(payload) }
    if !stream.takesMessages { streams.switchOn() }
    notice("\(stream.title) is open")
  }

  /// Sends messages on the current stream, as far as it takes them.
  func send(_ values: [String]) throws {
    guard let stream = streams.current else {
      throw Failure(.usage, "", "no stream takes messages", hint: "open METHOD, or call METHOD {…}")
    }
    for value in values {
      let message = try bindings.expand(json: value)
      if !stream.wantsInput {
        guard try wait(until: { stream.wantsInput || !stream.takesMessages }) else { return noteSignal() }
      }
      guard stream.takesMessages, let call = stream.call else {
        throw Failure(.usage, stream.title, "it takes no more messages")
      }
      stream.send(try encode(message, stream, call))
      if stream.isHalfClosed { streams.switchOn() }
    }
  }

  /// `close [N]`: half-closes.
  func halfClose(_ stream: SessionStream) {
    stream.halfClose()
    if streams.current === stream { streams.switchOn() }
    notice("\(stream.title) is half-closed")
  }

  /// `receive [COUNT]`: waits for responses of the current stream, or of the one that was opened last.
  func receive(_ count: Int) throws {
    let stream = try streams.current ?? streams.open.last ?? streams.latest ?? streams.find(nil)
    stream.awaited += min(count, Int.max - stream.awaited)
    guard try wait(until: { stream.received >= stream.awaited || stream.isDone }) else {
      noteSignal()
      // What was given up is not waited for again.
      stream.awaited = stream.received
      throw Failure(.input, stream.title, "interrupted before the response came")
    }
    guard stream.received >= stream.awaited else {
      throw Failure(.input, stream.title, "it ended before the response came")
    }
  }

  private func makeStream(_ plan: CallPlan, number: Int?) -> SessionStream {
    let output = CallOutput(isDirect: true)
    let lookup = TypeLookup(plan, client: client)
    let printer = CallPrinter(plan, lookup: lookup, output: output, index: number)
    let stream = SessionStream(plan, number: number, place: place, CallScreen(printer, lookup: lookup)) {
      [weak self] message in self?.bindings.last = message
    }
    if let number, plan.format != .events {
      output.mark = { [weak self] in
        guard let self, streams.open.count > 1 || foreground != nil else { return "" }
        return "[\(number)] "
      }
    }
    return stream
  }

  /// Starts the call, once all that is known to be sent is right.
  private func start(_ stream: SessionStream, _ messages: [String]) throws -> [Payload] {
    client.interceptors = stream.plan.chain.registrations
    client.onFinding = stream.screen.printer.findings.sink
    let call = client.makeCall(stream.plan.request, observer: stream)
    stream.saved = SavedCall(state, chain, stream.plan)
    let payloads: [Payload]
    do {
      payloads = try messages.map { try encode($0, stream, call) }
    } catch {
      // Its interceptors were made, so they are notified of its end.
      stream.screen.printer.isUnsent = true
      call.cancel("the input cannot be sent")
      throw error
    }
    record.calls(stream.saved)
    stream.start(call)
    stream.screen.setOutputBehind(isOutputBehind)
    return payloads
  }

  private func encode(_ json: String, _ stream: SessionStream, _ call: Call) throws(Failure) -> Payload {
    let bytes = Array(json.utf8)
    let message = RequestMessage(
      source: stream.plan.method.name, start: JSONPosition(), bytes: bytes, form: stream.plan.requestForm)
    let payload = try message.encode(for: call)
    bindings.request = .bytes(bytes, .json, stream.plan.method.input)
    record.sends(json, stream.saved)
    return payload
  }
}
