import CRPCURLPlugin

/// Describes a plugin to the host. A shared object contains one plugin, and one function that returns this
/// pointer:
///
/// ```swift
/// @_cdecl("rpcurl_plugin_entry") public func entry() -> UnsafeRawPointer { export(Hello.self) }
/// ```
public func export<P: Plugin>(_ type: P.Type) -> UnsafeRawPointer {
  if let made = exported { return made.description }
  let description = UnsafeMutablePointer<rpcurl_plugin>.allocate(capacity: 1)
  description.initialize(to: rpcurl_plugin())
  exported = Exported(description: UnsafeRawPointer(description)) { try P(host: $0) }
  description.pointee.abi_major = UInt32(RPCURL_ABI_MAJOR)
  description.pointee.abi_minor = UInt32(RPCURL_ABI_MINOR)
  description.pointee.struct_size = MemoryLayout<rpcurl_plugin>.size
  description.pointee.known_stages = Stages.all.rawValue
  // The functions of this header are used without further checks.
  description.pointee.min_minor = UInt32(RPCURL_ABI_MINOR)
  description.pointee.flags = (P.mustSeeAll ? 1 : 0) | P.effects.rawValue
  description.pointee.name = permanent(P.name)
  description.pointee.version = permanent(P.version)
  description.pointee.summary = permanent(P.summary)
  description.pointee.config_help = permanent(P.configurationHelp)
  description.pointee.request_messages = P.messages.request.rawValue
  description.pointee.response_messages = P.messages.response.rawValue
  addLife(to: &description.pointee)
  addStages(to: &description.pointee)
  return UnsafeRawPointer(description)
}

/// The plugin of this shared object.
private struct Exported {
  let description: UnsafeRawPointer
  let make: (Host) throws -> any Plugin
}

// Written once, when the host calls the entry function, before anything else.
nonisolated(unsafe) private var exported: Exported?

private func permanent(_ text: String) -> UnsafePointer<CChar> {
  let bytes = text.utf8CString
  let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: bytes.count)
  _ = copy.initialize(from: bytes)
  return UnsafePointer(copy.baseAddress.unsafelyUnwrapped)
}

// MARK: - Objects held by the host

/// A plugin on the chain.
private final class Loaded {
  let host: Host
  let plugin: any Plugin

  init(_ host: Host, _ plugin: any Plugin) {
    self.host = host
    self.plugin = plugin
  }

  static func of(_ pointer: UnsafeMutableRawPointer?) -> Loaded? {
    pointer.map { Unmanaged<Loaded>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// The interceptor of a plugin in one call.
final class Opened {
  let host: Host
  let call: Call
  let interceptor: any StagedInterceptor

  init(_ host: Host, _ call: Call, _ interceptor: any StagedInterceptor) {
    self.host = host
    self.call = call
    self.interceptor = interceptor
  }

  static func of(_ pointer: UnsafeMutableRawPointer?) -> Opened? {
    pointer.map { Unmanaged<Opened>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// Runs a throwing function; an error becomes a negative code, with its description as the reason.
private func run(_ host: Host, _ body: () throws -> Int32) -> Int32 {
  do {
    return try body()
  } catch {
    host.setError("\(error)")
    return RPCURL_EFAILED
  }
}

// MARK: - Callbacks

private func addLife(to plugin: inout rpcurl_plugin) {
  plugin.load = { pointer, place in
    guard let pointer, let place, let exported else { return RPCURL_EINVAL }
    let host = Host(pointer)
    return run(host) {
      place.pointee = Unmanaged.passRetained(Loaded(host, try exported.make(host))).toOpaque()
      return RPCURL_OK
    }
  }
  plugin.configure = { _, pointer, key, value in
    guard let loaded = Loaded.of(pointer) else { return RPCURL_EINVAL }
    return run(loaded.host) {
      try loaded.plugin.configure(String(key), String(value))
      return RPCURL_OK
    }
  }
  plugin.ready = { _, pointer in
    guard let loaded = Loaded.of(pointer) else { return RPCURL_EINVAL }
    return run(loaded.host) {
      try loaded.plugin.ready()
      return RPCURL_OK
    }
  }
  plugin.possible_stages = { Loaded.of($1)?.plugin.possibleStages.rawValue ?? 0 }
  plugin.conclude = { Loaded.of($1)?.plugin.conclude() }
  plugin.unload = { _, pointer in
    guard let pointer else { return }
    let loaded = Unmanaged<Loaded>.fromOpaque(pointer).takeRetainedValue()
    loaded.host.scheduled.close()
    loaded.plugin.unload()
  }
  plugin.open = { _, pointer, call, place in
    guard let loaded = Loaded.of(pointer), let place else { return RPCURL_EINVAL }
    return run(loaded.host) {
      let call = try Call(loaded.host, call)
      var made: (any StagedInterceptor)?
      defer { if made == nil { call.close() } }
      made = try loaded.plugin.open(call)
      guard let interceptor = made else { return RPCURL_DECLINE }
      place.pointee = Unmanaged.passRetained(Opened(loaded.host, call, interceptor)).toOpaque()
      return RPCURL_OK
    }
  }
  plugin.stages = { Opened.of($1)?.interceptor.stages.rawValue ?? 0 }
  plugin.needs = { _, pointer, needs in
    guard let interceptor = Opened.of(pointer)?.interceptor, let needs else { return RPCURL_EINVAL }
    if let messages = interceptor.messages {
      needs.pointee.request_messages = messages.request.rawValue
      needs.pointee.response_messages = messages.response.rawValue
    }
    let wanted = interceptor.requirements
    needs.pointee.replay_limit_bytes = UInt64(clamping: wanted.replayLimitBytes)
    needs.pointee.window_bytes = UInt64(clamping: wanted.windowBytes)
    needs.pointee.is_serial = wanted.isSerial ? 1 : 0
    needs.pointee.collects = wanted.collects ? 1 : 0
    return RPCURL_OK
  }
  plugin.close = { _, pointer, _, outcome in
    guard let pointer else { return }
    let opened = Unmanaged<Opened>.fromOpaque(pointer).takeRetainedValue()
    defer { opened.call.close() }
    guard let outcome = outcome?.pointee, let status = outcome.status?.pointee,
      let metrics = outcome.metrics?.pointee
    else { return }
    opened.interceptor.finish(
      Outcome(
        status: Status(status), trailers: [Headers.Field](outcome.trailers, outcome.trailer_count),
        metrics: CallMetrics(metrics)))
  }
}

private func stage(
  _ state: UnsafeMutableRawPointer?, _ token: rpcurl_token,
  _ body: (any StagedInterceptor, Token) throws -> Verdict
) -> Int32 {
  guard let opened = Opened.of(state) else { return RPCURL_EINVAL }
  return run(opened.host) {
    let token = Token(host: opened.host, plain: token)
    switch try body(opened.interceptor, token) {
    case .proceed: return RPCURL_OK
    case .later: return RPCURL_LATER
    case .retry(let pause, let headers):
      try token.retry(after: pause, headers: headers)
      return RPCURL_OK
    case let verdict:
      try token.settle(verdict)
      return RPCURL_OK
    }
  }
}

private func addStages(to plugin: inout rpcurl_plugin) {
  plugin.request_start = { _, state, _, token in
    stage(state, token) { try $0.requestStart(RequestStart(token: $1)) }
  }
  plugin.request_message = { _, state, _, token in
    stage(state, token) { try $0.requestMessage(Message(token: $1)) }
  }
  plugin.request_end = { _, state, _, token in
    stage(state, token) { try $0.requestEnd(RequestEnd(token: $1)) }
  }
  plugin.response_start = { _, state, _, token in
    stage(state, token) { try $0.responseStart(ResponseStart(token: $1)) }
  }
  plugin.response_message = { _, state, _, token in
    stage(state, token) { try $0.responseMessage(Message(token: $1)) }
  }
  plugin.response_end = { _, state, _, token in
    stage(state, token) { try $0.responseEnd(ResponseEnd(token: $1)) }
  }
  plugin.metrics = { _, state, _, token in stage(state, token) { try $0.metrics(MetricsValue(token: $1)) } }
  addObservedStages(to: &plugin)
}
