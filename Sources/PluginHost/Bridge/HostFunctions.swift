import RPCurlChain
import RPCurlCPlugins
import RPCurlPlatform
import RPCurlProtocols

typealias Host = UnsafePointer<rpcurl_host>

/// The host functions for plugins. Each group has its own file.
struct HostFunctions {
  let instance: PluginInstance

  /// The function table; each plugin gets a copy with its own members filled in.
  static var table: rpcurl_host {
    rpcurl_host(
      abi_major: UInt32(RPCURL_ABI_MAJOR), abi_minor: UInt32(RPCURL_ABI_MINOR),
      struct_size: MemoryLayout<rpcurl_host>.size, name: nil, version: nil, reserved: nil,
      log: { host, level, text in
        run(host) { $0.instance.write(LogLevel(rawValue: Int(level)) ?? .error, text.lossyString) }
      },
      set_error: { host, text in run(host) { $0.instance.errors.setReason(text.lossyString) } },
      last_error: { host in PluginInstance.of(host)?.errors.last ?? rpcurl_text(data: nil, size: 0) },
      get_extension: { _, _ in nil },
      alloc: { _, size in malloc(size) },
      free: { _, memory in free(memory) },
      call_facts: { host, call, facts in run(host) { try $0.callFacts(call, facts) } },
      cancel: { host, call, reason in run(host) { try $0.cancelCall(call, reason) } },
      report: { host, call, kind, text in run(host) { try $0.report(call, kind, text) } },
      metric_add: { host, name, number in run(host) { try $0.addMetric(name, number) } },
      share_set: { host, name, text in run(host) { try $0.share(name, text) } },
      share_get: { host, name, text in give(host, text, "text") { try $0.getShared(name) } },
      attribute_get: { host, call, key, value in
        give(host, value, "value") { try $0.getAttribute(call, key) }
      },
      attribute_set: { host, call, key, value in run(host) { try $0.setAttribute(call, key, value) } },
      attribute_remove: { host, call, key in run(host) { try $0.removeAttribute(call, key) } },
      message_type: { host, call, name, type in
        give(host, type, "pointer") { try $0.find(.message, call, name) }
      },
      enum_type: { host, call, name, type in
        give(host, type, "pointer") { try $0.find(.enumeration, call, name) }
      },
      service_type: { host, call, name, type in
        give(host, type, "pointer") { try $0.find(.service, call, name) }
      },
      schema: { host, call, set in give(host, set, "text") { try $0.schema(call) } },
      after: { host, call, after, function, argument, timer in
        run(host) { try $0.after(call, after, function, argument, timer) }
      },
      cancel_timer: { host, call, timer in run(host) { try $0.cancelTimer(call, timer) } },
      post: { host, call, function, argument in run(host) { try $0.post(call, function, argument) } },
      call: { host, call, own, done, argument in run(host) { try $0.makeCall(call, own, done, argument) } },
      open_stream: { host, call, kind, own, events, argument, stream in
        give(host, stream, "stream") { try $0.openStream(call, kind, own, events, argument) }
      },
      stream_send: { host, call, stream, message in run(host) { try $0.sendStream(call, stream, message) } },
      stream_finish: { host, call, stream in run(host) { try $0.finishStream(call, stream) } },
      stream_pause: { host, call, stream, isPaused in
        run(host) { try $0.find(stream, call, "stream_pause").stream.wantResponse(isPaused == 0) }
      },
      stream_cancel: { host, call, stream in
        run(host) { try $0.find(stream, call, "stream_cancel").stream.cancel("canceled by a plugin") }
      },
      fetch: { host, call, fetch, done, argument in run(host) { try $0.fetch(call, fetch, done, argument) } },
      proceed: { host, token in run(host) { try $0.use(token, "proceed", at: .all) { $0.proceed() } } },
      fail: { host, token, code, message in run(host) { try $0.fail(token, $0.error(code, message)) } },
      fail_with: { host, token, failure in run(host) { try $0.fail(token, with: failure) } },
      respond: { host, token, response in run(host) { try $0.answerCall(token, response) } },
      drop: { host, token in run(host) { try $0.use(token, "drop", at: .messages) { $0.take()?.drop() } } },
      retry: { host, token, after, headers, size in count(host) { try $0.retry(token, after, headers, size) }
      },
      message_new: { host, call, name, message in
        give(host, message, "token") { try $0.makeMessage(call, name) }
      },
      message_free: { host, message in run(host) { try $0.freeMessage(message) } },
      inject: { host, token, message in run(host) { try $0.inject(token, message) } },
      inject_request: { host, call, message in run(host) { try $0.inject(call, .request, message) } },
      inject_response: { host, call, message in run(host) { try $0.inject(call, .response, message) } },
      start_response: { host, token, headers, count in
        run(host) { try $0.startResponse(token, headers, count) }
      },
      when_wanted: { host, call, direction, function, argument in
        run(host) { try $0.whenWanted(call, direction, function, argument) }
      },
      get_start: { host, token, start in run(host) { try $0.fill(token, start, rpcurl_start.init) } },
      set_target: { host, token, target in run(host) { try $0.setTarget(token, target) } },
      set_timeout: { host, token, timeout in run(host) { try $0.setTimeout(token, timeout) } },
      set_method: { host, token, method in run(host) { try $0.setMethod(token, method) } },
      header_count: { host, token in count(host) { try $0.withHeaders(token) { headers, _ in headers.count } }
      },
      header_at: { host, token, index, field in
        give(host, field, "field") { try $0.headerAt(token, index) }
      },
      header_first: { host, token, name, value in
        give(host, value, "value") { try $0.headerFirst(token, name) }
      },
      header_set: { host, token, name, value in
        run(host) { try $0.change(token, name, value) { $0.set($1, $2) } }
      },
      header_add: { host, token, name, value in
        run(host) { try $0.change(token, name, value) { $0.add($1, $2) } }
      },
      header_remove: { host, token, name in count(host) { try $0.headerRemove(token, name) } },
      get: { host, token, path, value in give(host, value, "result") { try $0.get(token, path) } },
      set: { host, token, path, value in
        run(host) { try $0.change(token, path, to: value) { try $0.set($2, at: $1) } }
      },
      append: { host, token, path, value in
        run(host) { try $0.change(token, path, to: value) { try $0.append($2, at: $1) } }
      },
      clear: { host, token, path in run(host) { try $0.clear(token, path) } },
      has: { host, token, path in count(host) { try $0.has(token, path) } },
      length: { host, token, path in
        count(host) { try $0.read(token, path) { message, path, _ in try message.length(path) } }
      },
      field_at: { host, token, path, index, field in
        give(host, field, "result") { try $0.fieldAt(token, path, index) }
      },
      key_at: { host, token, path, index, key in
        give(host, key, "result") { try $0.keyAt(token, path, index) }
      },
      which: { host, token, path, field in give(host, field, "result") { try $0.which(token, path) } },
      get_enum: { host, token, path, name in give(host, name, "result") { try $0.getEnum(token, path) } },
      set_enum: { host, token, path, name in run(host) { try $0.setEnum(token, path, name) } },
      get_json: { host, token, path, json in give(host, json, "result") { try $0.getJSON(token, path) } },
      set_json: { host, token, path, json in run(host) { try $0.setJSON(token, path, json) } },
      append_json: { host, token, path, json in run(host) { try $0.appendJSON(token, path, json) } },
      get_payload: { host, token, bytes in give(host, bytes, "result") { try $0.getPayload(token) } },
      set_payload: { host, token, bytes in run(host) { try $0.setPayload(token, bytes) } },
      get_response: { host, token, response in
        run(host) { try $0.fill(token, response, rpcurl_response_start.init) }
      },
      get_status: { host, token, status in run(host) { try $0.fill(token, status, rpcurl_status.init) } },
      set_status: { host, token, code, message in run(host) { try $0.setStatus(token, code, message) } },
      detail_add: { host, token, detail in run(host) { try $0.detailAdd(token, detail) } },
      details_clear: { host, token in count(host) { try $0.detailsClear(token) } },
      get_metrics: { host, token, metrics in run(host) { try $0.fill(token, metrics, rpcurl_metrics.init) } },
      set_metrics: { host, token, metrics in run(host) { try $0.setMetrics(token, metrics) } })
  }

  // MARK: - Shared

  /// Reads or changes the value of a token.
  func value<Result>(
    _ token: rpcurl_token, _ body: (inout CallEvent<MessageValue>, Arena) throws -> Result
  ) throws -> Result {
    try held(token, "using a value").with(body)
  }

  /// Returns the value of a token. An outdated token is refused, and reported if the plugin could have avoided it.
  ///
  /// - Parameter stages: The stages that the function requires; nil for any value, and messages with no place in the call.
  func held(_ token: rpcurl_token, _ what: String, at stages: Stages? = nil) throws -> HeldValue {
    let held = try live(instance.tokens.find(token.id), "token", what)
    guard let stages else { return held }
    guard !held.isLocal else {
      throw ABIFailure(RPCURL_ESTAGE, "not available for a message that has no place in the call")
    }
    guard stages.contains(held.stage) else { throw ABIFailure.wrongStage(held.stage) }
    return held
  }

  /// Returns a call, which may have ended.
  func find(_ call: rpcurl_call, _ what: String) throws -> PluginCall {
    try live(instance.calls.find(call.id), "call", what)
  }

  func live<Element>(_ found: HandleTable<Element>.Found, _ kind: String, _ what: String) throws -> Element {
    switch found {
    case .live(let element): return element
    case .ended: throw ABIFailure(RPCURL_EENDED, "the call has ended")
    case .used:
      instance.reportMisbehaviour("\(what) with a \(kind) that was already used")
      throw ABIFailure(RPCURL_EUSED, "the \(kind) was already used")
    case .unknown:
      instance.reportMisbehaviour("\(what) with a \(kind) that it never received")
      throw ABIFailure(RPCURL_EUNKNOWN, "unknown \(kind)")
    }
  }

  /// The maximum number of headers or messages in one call of a host function. More is an error in the
  /// plugin.
  static let mostElements = 65_536

  /// Copies what a token's value has to the plugin; nil if the stage does not have it.
  func fill<Structure>(
    _ token: rpcurl_token, _ target: UnsafeMutablePointer<Structure>?,
    _ make: (CallEvent<MessageValue>, Arena) -> Structure?
  ) throws {
    try value(token) { value, arena in
      guard let plain = make(value, arena) else { throw ABIFailure.wrongStage() }
      try Self.fill(target, plain)
    }
  }

  /// Copies a structure to the plugin, up to the size that it reserved; members that this host lacks are set to zero.
  static func fill<Structure>(
    _ target: UnsafeMutablePointer<Structure>?, _ structure: Structure
  ) throws(ABIFailure) {
    guard let target = UnsafeMutableRawPointer(target) else { throw .invalid("the structure is null") }
    // Each of them starts with its size, which is kept.
    let (offset, room) = (MemoryLayout<Int>.size, target.load(as: Int.self))
    guard (offset...1 << 16).contains(room) else { throw .invalid("struct_size is \(room)") }
    let bytes = UnsafeMutableRawBufferPointer(start: target, count: room)
    withUnsafeBytes(of: structure) { source in
      for index in offset..<room { bytes[index] = index < source.count ? source[index] : 0 }
    }
  }

  /// Copies an array from the plugin, whose elements are as far apart as the `struct_size` of the first states.
  ///
  /// - Parameter what: The elements, for errors.
  static func elements<Element: BitwiseCopyable>(
    _ start: UnsafePointer<Element>?, _ count: Int, _ what: String
  ) throws(ABIFailure) -> [Element] {
    guard (0...mostElements).contains(count) else { throw .invalid("\(count) \(what)") }
    guard count > 0 else { return [] }
    guard let start else { throw .invalid("the \(what) are null") }
    // Each of them starts with its size.
    let first = UnsafeRawPointer(start)
    let stride = first.load(as: Int.self)
    guard (MemoryLayout<Element>.alignment...1 << 16).contains(stride),
      stride.isMultiple(of: MemoryLayout<Element>.alignment)
    else { throw .invalid("struct_size of the \(what) is \(stride)") }
    var found: [Element] = []
    for index in 0..<count {
      let place = first + index * stride
      guard place.load(as: Int.self) == stride else { throw .invalid("the \(what) differ in struct_size") }
      found.append(try copy(place.assumingMemoryBound(to: Element.self)))
    }
    return found
  }

  /// Copies a structure from the plugin, up to the size in its header; members beyond that size are zero.
  static func copy<Structure>(_ source: UnsafePointer<Structure>?) throws(ABIFailure) -> Structure {
    guard let source else { throw .invalid("the structure is null") }
    // Each of them starts with its size.
    let bytes = UnsafeRawPointer(source).load(as: Int.self)
    guard bytes > MemoryLayout<Int>.size else { throw .invalid("struct_size is not set") }
    return withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<Structure>.size, alignment: MemoryLayout<Structure>.alignment
    ) { copy in
      copy.initializeMemory(as: UInt8.self, repeating: 0)
      copy.copyMemory(from: UnsafeRawBufferPointer(start: source, count: min(bytes, copy.count)))
      return copy.load(as: Structure.self)
    }
  }
}

/// Runs a function for a plugin; a failure returns its code, and its message is kept for last_error.
private func count<Code: FixedWidthInteger>(_ host: Host?, _ body: (HostFunctions) throws -> Int) -> Code {
  guard let instance = PluginInstance.of(host) else { return Code(RPCURL_EINVAL) }
  do {
    return Code(truncatingIfNeeded: try body(HostFunctions(instance: instance)))
  } catch {
    let failure = ABIFailure(error)
    instance.errors.note(failure)
    return Code(failure.code)
  }
}

private func run(_ host: Host?, _ body: (HostFunctions) throws -> Void) -> Int32 {
  count(host) {
    try body($0)
    return Int(RPCURL_OK)
  }
}

/// Runs a function whose result the plugin receives.
///
/// - Parameter name: The target, for errors.
private func give<Result>(
  _ host: Host?, _ target: UnsafeMutablePointer<Result>?, _ name: String,
  _ body: (HostFunctions) throws -> Result
) -> Int32 {
  run(host) {
    guard let target else { throw ABIFailure.invalid("the \(name) is null") }
    target.pointee = try body($0)
  }
}
