import RPCurlBase
import RPCurlCall
import RPCurlChain
import RPCurlInterceptors
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The commands that make calls and send messages.
extension Session {
  /// `call METHOD [JSON…] [OPTION…] [> FILE]`: makes a call and waits for its end. The statement is recorded if the call
  /// fails as a check expects.
  package func call(_ method: String, _ statement: SessionStatement) throws {
    guard let command = statement.command else { return try call(method, statement, to: statement.output) }
    try withResponses(for: command) { try call(method, statement, to: $0) }
  }

  private func call(_ method: String, _ statement: SessionStatement, to path: SessionWords.Word?) throws {
    let values = statement.values
    var messages = try values.flatMap { try self.messages(of: $0) }
    let path = try path.map { try bindings.expand(file: $0) }
    let file = try path.map { try CallFile($0, console, waitLimit: waitLimit) }
    var hasSucceeded = false
    defer { if !hasSucceeded { try? file?.close(hasSucceeded: false) } }
    let output = file?.output ?? console.output
    let own = try callOptions(statement.options)
    let plan = try plan(method, output, own)
    // The responses of a stream are shown as they arrive.
    if plan.method.serverStreaming { _ = console.output.endHold { _ in false } }
    if messages.isEmpty, !plan.method.clientStreaming {
      guard values.isEmpty else {
        throw Failure(
          .input, plan.method.name, "the data is empty", hint: "omit it to send an empty message, or use {}")
      }
      messages = [Input(Array("{}".utf8))]
    }
    let (stream, payloads) = try start(plan, messages, number: nil, output, own)
    if statement.command == nil { stream.saved?.output = path }
    foreground = stream
    defer { foreground = nil }
    for payload in payloads { stream.send(payload) }
    stream.halfClose()
    try waitForEnd(of: [stream])
    if end != nil { return }
    if let status = stream.failure {
      let failed = FailedCall(stream, status, [statement.recorded])
      switch mode.effect(of: failed.event) {
      case .awaitsCheck: return failures.append(failed)
      // A check of the last call may follow.
      case .goesOn: failures = [failed]
      case .endsTest, .endsRun, .endsCall, .counts: break
      }
      throw Failure(reported: status)
    }
    if values.isEmpty, plan.method.clientStreaming, stream.received == 0 {
      notice("\(stream.title) ended: \(stream.status), no responses; open \(stream.title) keeps it open")
    }
    hasSucceeded = true
    try file?.close(hasSucceeded: true)
  }

  /// `open METHOD [JSON…]`: starts a stream and makes it the current one.
  package func open(
    _ method: String, _ values: [SessionStatement.Value], _ options: [SessionWords.Word] = []
  ) throws {
    let messages = try values.flatMap { try self.messages(of: $0) }
    let own = try callOptions(options)
    let (stream, payloads) = try start(
      try plan(method, console.output, own), messages, number: streams.nextNumber, console.output, own)
    streams.add(stream)
    select(stream)
    for payload in payloads { stream.send(payload) }
    notice("is open", of: stream)
  }

  /// Sends messages on the current stream; waits while flow control stops it.
  package func send(_ values: [SessionStatement.Value]) throws {
    guard let stream = streams.current else {
      throw Failure(.usage, "", "no open stream accepts messages", hint: "open METHOD, or call METHOD {…}")
    }
    let messages = try values.flatMap { try self.messages(of: $0) }
    select(stream)
    for message in messages {
      if !stream.printer.wantsInput {
        guard try wait(until: { stream.printer.wantsInput || stream.isDone }) else {
          handleSignal()
          return
        }
      }
      guard stream.acceptsMessages, let call = stream.call else {
        throw Failure(.usage, stream.title, "the stream accepts no more messages")
      }
      do {
        stream.send(try encode(message, stream, call))
      } catch {
        guard try changedPlan(of: stream.plan, after: error, message, console.output) != nil else {
          throw error
        }
        throw Failure(
          error.status, stream.title, "the server's schema has changed since the stream was opened",
          hint: "open \(stream.plan.method.name)")
      }
    }
  }

  /// `close [N]`: half-closes a stream.
  package func halfClose(_ stream: SessionStream) {
    stream.halfClose()
    notice("is half-closed", of: stream)
  }

  /// Makes a stream the one that is received from, and the last call.
  package func select(_ stream: SessionStream) {
    streams.selected = stream
    lastCall = stream
  }

  /// The stream that a command names, or the current one: it becomes the last call. Nil for one that has ended and is not
  /// kept.
  package func stream(named name: String?) throws(Failure) -> SessionStream? {
    do throws(Failure) {
      let stream = try streams.find(name)
      lastCall = stream
      return stream
    } catch {
      guard streams.hasEnded(name) else { throw error }
      return nil
    }
  }

  /// `receive [COUNT]`: waits for responses of the selected stream.
  package func receive(_ count: Int) throws {
    let stream = try streams.selected ?? streams.find(nil)
    select(stream)
    stream.step(over: count)
    let purpose = { "a response of \(stream.title); Ctrl-C stops waiting" }
    guard try wait(for: purpose, until: { stream.received >= stream.awaited || stream.isDone }) else {
      console.error.endEchoedLine()
      handleSignal()
      // After an interrupt, do not wait for these responses again.
      stream.endStep()
      throw Failure(.input, stream.title, "interrupted before the response arrived")
    }
    guard stream.received >= stream.awaited else {
      showEnd(of: stream)
      let why = "the stream ended before the response arrived"
      guard let status = stream.failure else {
        throw Failure(.input, stream.title, why).with(.streamEnded)
      }
      throw Failure(status, stream.title, "\(why): \(stream.statusAndMessage)").with(.streamEnded)
    }
  }

  /// `sleep DURATION`: waits while streams go on.
  package func sleep(for duration: Duration) throws(Failure) {
    var isOver = false
    let timer = client.loop.schedule(at: .now + duration) { isOver = true }
    defer { client.loop.cancel(timer) }
    guard try wait(until: { isOver || observer?.isTimeOver == true }) else {
      console.error.endEchoedLine()
      handleSignal()
      throw Failure(.input, "sleep", "interrupted")
    }
  }

  private func makeStream(_ plan: CallPlan, number: Int?, _ destination: StandardOutput) -> SessionStream {
    let output = CallOutput(destination, isDirect: true)
    let lookup = schema.lookup(for: plan, client)
    let title = number.map { SessionStream.title(plan.method.name, $0) }
    let printer = CallPrinter(plan, lookup: lookup, output: output, index: number, title: title)
    let stream = SessionStream(plan, number: number, place: place, printer) {
      [weak self] stream, message in self?.received(message, on: stream)
    }
    if number != nil {
      output.mark = { [weak self, weak stream] in
        guard let self, let stream, streams.open.count > 1 || foreground != nil,
          stream.printer.settings.format != .events
        else { return "" }
        return prefix(of: stream)
      }
    }
    return stream
  }

  /// Reports fields of a response that the schema lacks.
  private func received(_ message: SessionMessage, on stream: SessionStream) {
    observer?.exchanged(message, isRequest: false, on: stream)
    stamp("response \(stream.received)", stream)
    // One look at each hundredth message is enough for a long stream: the server is the same.
    guard stream.received <= 100 || stream.received.isMultiple(of: 100), let message = try? message.message()
    else { return }
    for (type, numbers) in UnknownFieldSearch.of(message) {
      let list = numbers.map(String.init).joined(separator: ", ")
      guard reportedFields.insert("\(type) \(list)").inserted else { continue }
      let field = numbers.count == 1 ? "field \(list)" : "fields \(list)"
      console.output.remark(
        TerminalText.escape("warning: \(stream.title): \(type) has \(field), which the schema lacks") + "\n")
      if schema.isFromServer {
        schema.expire()
        console.output.remark("hint: the next call reads the schema again, as reflect does\n")
      }
    }
  }

  /// Prints the time of a message, with `timestamps on`.
  func stamp(_ text: String, _ stream: SessionStream) {
    guard state.showsTimestamps else { return }
    let time = CivilTime.text(nanosecondsSince1970: SystemValues(waitLimit: nil).nanosecondsSince1970)
    console.output.remark("* \(time.dropFirst(11)) \(TerminalText.escape(stream.title)) \(text)\n")
  }

  /// Starts a call after all its messages are encoded. Data that does not fit the schema is checked with the schema that
  /// the server has now.
  private func start(
    _ plan: CallPlan, _ messages: [Input], number: Int?, _ output: StandardOutput, _ own: [Argument]
  ) throws -> (SessionStream, [Payload]) {
    do {
      return try startOnce(plan, messages, number, output, own)
    } catch let failure as Failure {
      guard let changed = try changedPlan(of: plan, after: failure, messages.last, output, own) else {
        throw failure
      }
      return try startOnce(changed, messages, number, output, own)
    }
  }

  /// Encodes the messages and starts the call; sends nothing if a message is invalid.
  private func startOnce(
    _ plan: CallPlan, _ messages: [Input], _ number: Int?, _ output: StandardOutput, _ own: [Argument]
  ) throws -> (SessionStream, [Payload]) {
    guard messages.count <= 1 || plan.method.clientStreaming else {
      throw Failure(
        .usage, plan.method.name, "\(messages.count) messages given, but the method accepts one")
    }
    let stream = makeStream(plan, number: number, output)
    let lookup = schema.lookup(for: plan, client)
    lookup?.beginCall()
    var request = try plan.request(log: log, onFinding: stream.printer.findings.sink, lookup)
    request.lifetime = .untilCanceled
    let call = client.makeCall(request, observer: stream.printer)
    stream.saved = SavedCall(state, chain, plan, own)
    stream.saved?.number = number
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
    lastCall = stream
    secrets.add(of: stream.plan)
    secrets.follow(call.secrets)
    observer?.began(stream)
    stream.start(call)
    stream.printer.setOutputBehind(isOutputBehind)
    return (stream, payloads)
  }

  /// The plan with the server's present schema, if that has changed and could be why data is invalid.
  private func changedPlan(
    of plan: CallPlan, after failure: Failure, _ message: Input?, _ output: StandardOutput,
    _ own: [Argument] = []
  ) throws -> CallPlan? {
    // Text that is not JSON has another cause.
    guard failure.status == .input, failure.message?.place != nil, let message,
      (try? JSONValue(parsing: message.bytes)) != nil,
      try schema.changed(options, server: server()) != nil
    else { return nil }
    return try self.plan(plan.name.description, output, own)
  }

  private func encode(_ message: Input, _ stream: SessionStream, _ call: Call) throws(Failure) -> Payload {
    var form = stream.form
    // Its values are inserted already.
    form.expansion = nil
    form.isExpanded = message.mayBeSecret
    if isInteractive, message.source == nil, console.error.diagnostics.showsRemarks {
      form.notes = DataNotes { [console] in console.output.remark($0) }
    }
    let request = RequestMessage(
      source: message.source ?? stream.plan.method.name, start: message.start, bytes: message.bytes,
      form: form)
    let lookup = schema.lookup(for: stream.plan, client)
    lookup?.beginMessage()
    let payload = try request.encode(for: call, lookup)
    let sent = SessionMessage.bytes(message.bytes, .json, stream.plan.method.input)
    bindings.request = sent
    observer?.exchanged(sent, isRequest: true, on: stream)
    record.sends(String(decoding: message.bytes, as: UTF8.self), stream.saved)
    stream.sent += 1
    stamp("request \(stream.sent)", stream)
    return payload
  }
}
