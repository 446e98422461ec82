import CPluginABI
import Interception
import Protobuf
import RPCProtocols

// Streams and plain HTTP requests of plugins.
extension HostFunctions {
  static func openStream(
    _ host: Host?, _ call: rpcurl_call, _ kind: UInt32, _ own: UnsafePointer<rpcurl_own_call>?,
    _ events: UnsafePointer<rpcurl_stream_events>?, _ argument: UnsafeMutableRawPointer?,
    _ stream: UnsafeMutablePointer<rpcurl_stream>?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let stream else { throw invalid("the stream is null") }
      guard let kind = CallKind.allCases.first(where: { $0.number == kind }) else {
        throw invalid("unknown kind of call: \(kind)")
      }
      let events = try copy(events)
      guard events.ended != nil else { throw invalid("ended is null") }
      let call = try onLoop(call, instance, "open_stream")
      let plain = try copy(own)
      let schema = try OwnSchema(plain, call.facts)
      let request = try ownCall(plain, schema, message: [])
      // Called on the loop's thread, where the plugin's functions and argument are used.
      let receiver = StreamReceiver(instance: instance, events: events, argument: argument, schema: schema)
      let number = call.open(request, kind, schema) { [weak call] event in
        if let call { receiver.receive(event, in: call) }
      }
      guard let number else { throw ABIFailure(RPCURL_EUNSUPPORTED, "this chain has no network") }
      stream.pointee = rpcurl_stream(id: number)
    }
  }

  static func sendStream(
    _ host: Host?, _ call: rpcurl_call, _ stream: rpcurl_stream,
    _ message: UnsafePointer<rpcurl_local_message>?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      let own = try open(stream, call, instance, "stream_send")
      own.stream.send(try own.schema.serialize(try copy(message), instance))
    }
  }

  static func finishStream(_ host: Host?, _ call: rpcurl_call, _ stream: rpcurl_stream) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      let own = try open(stream, call, instance, "stream_finish")
      own.isFinished = true
      own.stream.finishSending()
    }
  }

  static func changeStream(
    _ host: Host?, _ call: rpcurl_call, _ stream: rpcurl_stream, _ what: String,
    _ body: (any SubrequestStream) -> Void
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in body(try find(stream, call, instance, what).stream) }
  }

  private static func find(
    _ stream: rpcurl_stream, _ call: rpcurl_call, _ instance: PluginInstance, _ what: String
  ) throws(ABIFailure) -> OwnStream {
    guard let own = try onLoop(call, instance, what).stream(stream.id) else {
      throw ABIFailure(RPCURL_ENOENT, "the stream has ended")
    }
    return own
  }

  /// Returns a stream on which the plugin may send.
  private static func open(
    _ stream: rpcurl_stream, _ call: rpcurl_call, _ instance: PluginInstance, _ what: String
  ) throws(ABIFailure) -> OwnStream {
    let own = try find(stream, call, instance, what)
    guard !own.isFinished else { throw ABIFailure(RPCURL_ENOENT, "the stream was closed for sending") }
    return own
  }

  // MARK: - Plain HTTP

  static func fetch(
    _ host: Host?, _ call: rpcurl_call, _ fetch: UnsafePointer<rpcurl_fetch>?, _ done: rpcurl_fetched?,
    _ argument: UnsafeMutableRawPointer?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let done else { throw invalid("done is null") }
      let scope = try scope(call, instance, "fetch")
      let plain = try copy(fetch)
      var request = HTTPFetch(url: try plain.url.string())
      guard request.url.hasPrefix("http://") || request.url.hasPrefix("https://") else {
        throw invalid("\"\(request.url)\" is not the URL of an HTTP server")
      }
      if plain.method.size > 0 {
        request.method = try plain.method.string()
        guard HeaderSyntax.isName(request.method) else {
          throw invalid("\"\(request.method)\" is not an HTTP method")
        }
      }
      request.headers = try headers(plain.headers, plain.header_count)
      request.body = try plain.body.bytes()
      if plain.timeout_ns > 0 { request.timeout = .nanoseconds(plain.timeout_ns) }
      if plain.max_body_bytes > 0 { request.maxBodyBytes = Int(clamping: plain.max_body_bytes) }
      scope.make(request) { [weak scope] result in
        let arena = Arena()
        let parts = arena.fetchResponse(result)
        scope?.run("the end of an HTTP request", instance.guarding) {
          withUnsafePointer(to: parts) { done(instance.host, argument, $0) }
        }
        withExtendedLifetime(arena) {}
      }
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
