import CPluginABI
import Glibc
import Interception
import RPCProtocols

typealias Host = UnsafePointer<rpcurl_host>

/// The host functions for plugins, as C functions. Each group has its own file.
enum HostFunctions {
  /// The function table; each plugin gets a copy with its own members filled in.
  static var table: rpcurl_host {
    rpcurl_host(
      abi_major: UInt32(RPCURL_ABI_MAJOR), abi_minor: UInt32(RPCURL_ABI_MINOR),
      struct_size: MemoryLayout<rpcurl_host>.size, name: nil, version: nil, reserved: nil,
      log: { host, level, text in
        HostFunctions.call(host) { instance in
          instance.write(LogLevel(rawValue: Int(level)) ?? .error, text.lossyString)
        }
      },
      set_error: { host, text in HostFunctions.call(host) { instance in instance.setReason(text.lossyString) }
      },
      last_error: { host in PluginInstance.of(host)?.lastError ?? rpcurl_text(data: nil, size: 0) },
      get_extension: { _, _ in nil },
      alloc: { _, size in malloc(size) },
      free: { _, memory in free(memory) },
      call_facts: { host, call, facts in HostFunctions.callFacts(host, call, facts) },
      cancel: { host, call, reason in HostFunctions.cancelCall(host, call, reason) },
      report: { host, call, kind, text in HostFunctions.report(host, call, kind, text) },
      metric_add: { host, name, number in HostFunctions.addMetric(host, name, number) },
      share_set: { host, name, text in HostFunctions.share(host, name, text) },
      share_get: { host, name, text in HostFunctions.getShared(host, name, text) },
      attribute_get: { host, call, key, value in HostFunctions.getAttribute(host, call, key, value) },
      attribute_set: { host, call, key, value in HostFunctions.setAttribute(host, call, key, value) },
      attribute_remove: { host, call, key in HostFunctions.removeAttribute(host, call, key) },
      message_type: { host, call, name, type in HostFunctions.messageType(host, call, name, type) },
      enum_type: { host, call, name, type in HostFunctions.enumType(host, call, name, type) },
      service_type: { host, call, name, type in HostFunctions.serviceType(host, call, name, type) },
      schema: { host, call, set in HostFunctions.schema(host, call, set) },
      after: { host, call, after, function, argument, timer in
        HostFunctions.after(host, call, after, function, argument, timer)
      },
      cancel_timer: { host, call, timer in HostFunctions.cancelTimer(host, call, timer) },
      post: { host, call, function, argument in HostFunctions.post(host, call, function, argument) },
      call: { host, call, own, done, argument in HostFunctions.makeCall(host, call, own, done, argument) },
      open_stream: { host, call, kind, own, events, argument, stream in
        HostFunctions.openStream(host, call, kind, own, events, argument, stream)
      },
      stream_send: { host, call, stream, message in HostFunctions.sendStream(host, call, stream, message) },
      stream_finish: { host, call, stream in HostFunctions.finishStream(host, call, stream) },
      stream_pause: { host, call, stream, isPaused in
        HostFunctions.changeStream(host, call, stream, "stream_pause") { $0.wantResponse(isPaused == 0) }
      },
      stream_cancel: { host, call, stream in
        HostFunctions.changeStream(host, call, stream, "stream_cancel") { $0.cancel("canceled by a plugin") }
      },
      fetch: { host, call, fetch, done, argument in HostFunctions.fetch(host, call, fetch, done, argument) },
      proceed: { host, token in HostFunctions.use(host, token, "proceed", at: .all) { $0.proceed() } },
      fail: { host, token, code, message in HostFunctions.failCall(host, token, code, message) },
      fail_with: { host, token, failure in HostFunctions.failCall(host, token, with: failure) },
      respond: { host, token, response in HostFunctions.answerCall(host, token, response) },
      drop: { host, token in HostFunctions.use(host, token, "drop", at: .messages) { $0.take()?.drop() } },
      retry: { host, token, after, headers, count in
        HostFunctions.retry(host, token, after, headers, count)
      },
      message_new: { host, call, name, message in HostFunctions.makeMessage(host, call, name, message) },
      message_free: { host, message in HostFunctions.freeMessage(host, message) },
      inject: { host, token, message in HostFunctions.inject(host, token, message) },
      inject_request: { host, call, message in HostFunctions.inject(host, call, .request, message) },
      inject_response: { host, call, message in HostFunctions.inject(host, call, .response, message) },
      start_response: { host, token, headers, count in
        HostFunctions.startResponse(host, token, headers, count)
      },
      when_wanted: { host, call, direction, function, argument in
        HostFunctions.whenWanted(host, call, direction, function, argument)
      },
      get_start: { host, token, start in HostFunctions.getStart(host, token, start) },
      set_target: { host, token, target in HostFunctions.setTarget(host, token, target) },
      set_timeout: { host, token, timeout in HostFunctions.setTimeout(host, token, timeout) },
      set_method: { host, token, method in HostFunctions.setMethod(host, token, method) },
      header_count: { host, token in HostFunctions.headerCount(host, token) },
      header_at: { host, token, index, field in HostFunctions.headerAt(host, token, index, field) },
      header_first: { host, token, name, value in HostFunctions.headerFirst(host, token, name, value) },
      header_set: { host, token, name, value in HostFunctions.headerSet(host, token, name, value) },
      header_add: { host, token, name, value in HostFunctions.headerAdd(host, token, name, value) },
      header_remove: { host, token, name in HostFunctions.headerRemove(host, token, name) },
      get: { host, token, path, value in HostFunctions.get(host, token, path, value) },
      set: { host, token, path, value in HostFunctions.set(host, token, path, value) },
      append: { host, token, path, value in HostFunctions.append(host, token, path, value) },
      clear: { host, token, path in HostFunctions.clear(host, token, path) },
      has: { host, token, path in HostFunctions.has(host, token, path) },
      length: { host, token, path in HostFunctions.length(host, token, path) },
      field_at: { host, token, path, index, field in HostFunctions.fieldAt(host, token, path, index, field) },
      key_at: { host, token, path, index, key in HostFunctions.keyAt(host, token, path, index, key) },
      which: { host, token, path, field in HostFunctions.which(host, token, path, field) },
      get_enum: { host, token, path, name in HostFunctions.getEnum(host, token, path, name) },
      set_enum: { host, token, path, name in HostFunctions.setEnum(host, token, path, name) },
      get_json: { host, token, path, json in HostFunctions.getJSON(host, token, path, json) },
      set_json: { host, token, path, json in HostFunctions.setJSON(host, token, path, json) },
      append_json: { host, token, path, json in HostFunctions.appendJSON(host, token, path, json) },
      get_payload: { host, token, bytes in HostFunctions.getPayload(host, token, bytes) },
      set_payload: { host, token, bytes in HostFunctions.setPayload(host, token, bytes) },
      get_response: { host, token, response in HostFunctions.getResponse(host, token, response) },
      get_status: { host, token, status in HostFunctions.getStatus(host, token, status) },
      set_status: { host, token, code, message in HostFunctions.setStatus(host, token, code, message) },
      detail_add: { host, token, detail in HostFunctions.detailAdd(host, token, detail) },
      details_clear: { host, token in HostFunctions.detailsClear(host, token) },
      get_metrics: { host, token, metrics in HostFunctions.getMetrics(host, token, metrics) },
      set_metrics: { host, token, metrics in HostFunctions.setMetrics(host, token, metrics) })
  }

  // MARK: - Shared

  /// Runs a function for a plugin; a failure returns its code, and its message is kept for last_error.
  static func count(_ host: Host?, _ body: (PluginInstance) throws(ABIFailure) -> Int) -> Int64 {
    guard let instance = PluginInstance.of(host) else { return Int64(RPCURL_EINVAL) }
    do throws(ABIFailure) {
      return Int64(try body(instance))
    } catch {
      instance.note(error)
      return Int64(error.code)
    }
  }

  static func call(_ host: Host?, _ body: (PluginInstance) throws(ABIFailure) -> Void) -> Int32 {
    Int32(
      truncatingIfNeeded: count(host) { instance throws(ABIFailure) in
        try body(instance)
        return Int(RPCURL_OK)
      })
  }

  /// Reads or changes the value of a token.
  static func value<Result>(
    _ instance: PluginInstance, _ token: rpcurl_token,
    _ body: (inout CallEvent<MessageValue>, Arena) throws(ABIFailure) -> Result
  ) throws(ABIFailure) -> Result {
    try held(instance, token, "using a value").with(body)
  }

  /// Returns the value of a token. An outdated token is refused, and reported if the plugin could have avoided it.
  ///
  /// - Parameter stages: The stages that the function requires; nil for any value, and messages with no place in the call.
  static func held(
    _ instance: PluginInstance, _ token: rpcurl_token, _ what: String, at stages: Stages? = nil
  ) throws(ABIFailure) -> HeldValue {
    let held = try live(instance.tokens.find(token.id), instance, "token", what)
    guard let stages else { return held }
    guard !held.isLocal else {
      throw ABIFailure(RPCURL_ESTAGE, "not available for a message that has no place in the call")
    }
    guard stages.contains(held.stage) else { throw wrongStage(held.stage) }
    return held
  }

  static func live<Element>(
    _ found: HandleTable<Element>.Found, _ instance: PluginInstance, _ kind: String, _ what: String
  ) throws(ABIFailure) -> Element {
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

  static func wrongStage(_ stage: Stage? = nil) -> ABIFailure {
    ABIFailure(RPCURL_ESTAGE, "not available at \(stage?.description ?? "this stage")")
  }

  /// The maximum number of headers or messages in one call of a host function. More is an error in the
  /// plugin.
  static let mostElements = 65_536

  static func invalid(_ what: String) -> ABIFailure { ABIFailure(RPCURL_EINVAL, what) }

  /// Copies what a token's value has to the plugin; nil if the stage does not have it.
  static func fill<Structure>(
    _ host: Host?, _ token: rpcurl_token, _ target: UnsafeMutablePointer<Structure>?,
    _ make: (CallEvent<MessageValue>, Arena) -> Structure?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      try value(instance, token) { value, arena throws(ABIFailure) in
        guard let plain = make(value, arena) else { throw wrongStage() }
        try fill(target, plain)
      }
    }
  }

  /// Copies a structure to the plugin, up to the size that it reserved; members that this host lacks are set to zero.
  static func fill<Structure>(
    _ target: UnsafeMutablePointer<Structure>?, _ structure: Structure
  ) throws(ABIFailure) {
    guard let target = UnsafeMutableRawPointer(target) else { throw invalid("the structure is null") }
    // Each of them starts with its size, which is kept.
    let (offset, room) = (MemoryLayout<Int>.size, target.load(as: Int.self))
    guard (offset...1 << 16).contains(room) else { throw invalid("struct_size is \(room)") }
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
    guard (0...mostElements).contains(count) else { throw invalid("\(count) \(what)") }
    guard count > 0 else { return [] }
    guard let start else { throw invalid("the \(what) are null") }
    // Each of them starts with its size.
    let first = UnsafeRawPointer(start)
    let stride = first.load(as: Int.self)
    guard (MemoryLayout<Element>.alignment...1 << 16).contains(stride),
      stride.isMultiple(of: MemoryLayout<Element>.alignment)
    else { throw invalid("struct_size of the \(what) is \(stride)") }
    var found: [Element] = []
    for index in 0..<count {
      let place = first + index * stride
      guard place.load(as: Int.self) == stride else { throw invalid("the \(what) differ in struct_size") }
      found.append(try copy(place.assumingMemoryBound(to: Element.self)))
    }
    return found
  }

  /// Copies a structure from the plugin, up to the size in its header; members beyond that size are zero.
  static func copy<Structure>(_ source: UnsafePointer<Structure>?) throws(ABIFailure) -> Structure {
    guard let source else { throw invalid("the structure is null") }
    // Each of them starts with its size.
    let bytes = UnsafeRawPointer(source).load(as: Int.self)
    guard bytes > MemoryLayout<Int>.size else { throw invalid("struct_size is not set") }
    return withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<Structure>.size, alignment: MemoryLayout<Structure>.alignment
    ) { copy in
      copy.initializeMemory(as: UInt8.self, repeating: 0)
      copy.copyMemory(from: UnsafeRawBufferPointer(start: source, count: min(bytes, copy.count)))
      return copy.load(as: Structure.self)
    }
  }
}
