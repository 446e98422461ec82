import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols

// Streams and plain HTTP requests of plugins.
extension HostFunctions {
  func openStream(
    _ call: rpcurl_call, _ kind: UInt32, _ own: UnsafePointer<rpcurl_own_call>?,
    _ events: UnsafePointer<rpcurl_stream_events>?, _ argument: UnsafeMutableRawPointer?
  ) throws -> rpcurl_stream {
    guard let kind = CallKind.allCases.first(where: { $0.number == kind }) else {
      throw ABIFailure.invalid("unknown kind of call: \(kind)")
    }
    let events = try Self.copy(events)
    guard events.ended != nil else { throw ABIFailure.invalid("ended is null") }
    let call = try onLoop(call, "open_stream")
    let plain = try Self.copy(own)
    let schema = try OwnSchema(plain, call.facts)
    let request = try ownCall(plain, schema, message: [])
    // Called on the loop's thread, where the plugin's functions and argument are used.
    let receiver = StreamReceiver(instance: instance, events: events, argument: argument, schema: schema)
    let number = call.open(request, kind, schema) { [weak call] event in
      if let call { receiver.receive(event, in: call) }
    }
    guard let number else { throw ABIFailure(RPCURL_EUNSUPPORTED, "this chain has no network") }
    return rpcurl_stream(id: number)
  }

  func sendStream(
    _ call: rpcurl_call, _ stream: rpcurl_stream, _ message: UnsafePointer<rpcurl_local_message>?
  ) throws {
    let own = try open(stream, call, "stream_send")
    own.stream.send(try own.schema.serialize(try Self.copy(message), self))
  }

  func finishStream(_ call: rpcurl_call, _ stream: rpcurl_stream) throws {
    let own = try open(stream, call, "stream_finish")
    own.isFinished = true
    own.stream.finishSending()
  }

  func find(_ stream: rpcurl_stream, _ call: rpcurl_call, _ what: String) throws -> OwnStream {
    try onLoop(call, what).stream(stream.id).required("the stream has ended")
  }

  /// Returns a stream on which the plugin may send.
  private func open(_ stream: rpcurl_stream, _ call: rpcurl_call, _ what: String) throws -> OwnStream {
    let own = try find(stream, call, what)
    guard !own.isFinished else { throw ABIFailure(RPCURL_ENOENT, "the stream was closed for sending") }
    return own
  }

  // MARK: - Plain HTTP

  func fetch(
    _ call: rpcurl_call, _ fetch: UnsafePointer<rpcurl_fetch>?, _ done: rpcurl_fetched?,
    _ argument: UnsafeMutableRawPointer?
  ) throws {
    guard let done else { throw ABIFailure.invalid("done is null") }
    let scope = try scope(call, "fetch")
    let plain = try Self.copy(fetch)
    var request = HTTPFetch(url: try plain.url.string())
    guard Origin(url: request.url) != nil else {
      // The URL is not shown: it may contain a password.
      throw ABIFailure.invalid("the URL is not an http(s) URL without user information")
    }
    if plain.method.size > 0 {
      request.method = try plain.method.string()
      guard HeaderSyntax.isName(request.method) else {
        throw ABIFailure.invalid("\"\(request.method)\" is not an HTTP method")
      }
    }
    request.headers = try Self.headers(plain.headers, plain.header_count)
    request.body = try plain.body.bytes()
    if plain.timeout_ns > 0 { request.timeout = .nanoseconds(plain.timeout_ns) }
    if plain.max_body_bytes > 0 { request.maxBodyBytes = Int(clamping: plain.max_body_bytes) }
    scope.make(request) { [weak scope] result in
      let arena = Arena()
      let parts = arena.array([arena.fetchResponse(result)])
      scope?.run("the end of an HTTP request", instance.guarding) { done(instance.host, argument, parts) }
      withExtendedLifetime(arena) {}
    }
  }
}

/// Passes the events of a stream to the plugin.
private struct StreamReceiver {
  let instance: PluginInstance
  let events: rpcurl_stream_events
  let argument: UnsafeMutableRawPointer?
  let schema: OwnSchema

  func receive(_ event: SubrequestEvent, in call: PluginCall) {
    let (host, arena) = (instance.host, Arena())
    switch event {
    case .start(let start):
      let fields = arena.fields(start.headers)
      instance.guarding.run("the start of a stream", in: call) {
        events.started?(host, argument, fields, start.headers.count)
      }
    case .message(let bytes):
      guard let received = events.message else { break }
      do {
        let text = arena.text(try schema.response(bytes))
        instance.guarding.run("a message of a stream", in: call) { received(host, argument, text) }
      } catch {
        instance.write(.warning, "invalid message of \(schema.name): \(error)")
      }
    case .wanted(let isWanted):
      instance.guarding.run("wanted of a stream", in: call) {
        events.wanted?(host, argument, isWanted ? 1 : 0)
      }
    case .end(let end):
      let parts = arena.array([arena.ownResponse(SubrequestResponse(end: end), nil)])
      instance.guarding.run("the end of a stream", in: call) { events.ended?(host, argument, parts) }
    }
    withExtendedLifetime(arena) {}
  }
}

extension Arena {
  fileprivate func fetchResponse(_ result: Result<HTTPFetchResponse, RPCError>) -> rpcurl_fetch_response {
    var (response, error): (HTTPFetchResponse?, RPCError?) = (nil, nil)
    switch result {
    case .success(let received): response = received
    case .failure(let failure): error = failure
    }
    let headers = response?.headers ?? Headers()
    return rpcurl_fetch_response(
      struct_size: MemoryLayout<rpcurl_fetch_response>.size,
      status: array([rpcurl_status(ResponseEnd(error: error), self)]),
      http_status: Int32(clamping: response?.status ?? 0), reserved: 0, headers: fields(headers),
      header_count: headers.count, body: text(response?.body ?? []))
  }
}
