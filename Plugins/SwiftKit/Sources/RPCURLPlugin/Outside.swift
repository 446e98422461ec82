import CRPCURLPlugin

// What a plugin does outside of calls. It runs while the loop of rpcurl runs, which is while calls run: what is requested
// before waits until then. After the last call and `Plugin.conclude`, what is pending has 1 second.
extension Host {
  /// A function that is scheduled by ``after(_:_:)``.
  public struct Timer {
    fileprivate let plain: rpcurl_timer
    fileprivate let function: Unmanaged<Scheduled>
  }

  /// Runs `body` on the loop's thread after a time. `[loop]`
  ///
  /// - Returns: The timer, to cancel it.
  @discardableResult
  public func after(_ pause: Duration, _ body: @escaping () -> Void) throws(HostError) -> Timer {
    var timer = rpcurl_timer()
    let function = Unmanaged.passRetained(Scheduled(body))
    let result = pointer.pointee.after(
      pointer, rpcurl_call(), pause.nanoseconds, Scheduled.run, function.toOpaque(), &timer)
    if result < 0 { function.release() }
    try check(result)
    return Timer(plain: timer, function: function)
  }

  /// Cancels a timer; does nothing if it has fired. `[loop]`
  public func cancel(_ timer: Timer) throws(HostError) {
    let result = pointer.pointee.cancel_timer(pointer, rpcurl_call(), timer.plain)
    if result == RPCURL_ENOENT { return }
    try check(result)
    timer.function.release()
  }

  /// Runs `body` on the loop's thread soon. `[any thread]`
  ///
  /// Captured objects must belong to the loop's thread, or no longer be used on this thread.
  public func post(_ body: @escaping () -> Void) throws(HostError) {
    let function = Unmanaged.passRetained(Scheduled(body))
    let result = pointer.pointee.post(pointer, rpcurl_call(), Scheduled.run, function.toOpaque())
    if result < 0 { function.release() }
    try check(result)
  }

  /// Makes a call, which does not pass this plugin, to the target of the latest request unless it has one. `[loop]`
  ///
  /// `done` runs exactly once, on the loop's thread; if the plugin is unloaded first, with ``StatusCode/canceled``.
  public func call(_ own: Subrequest, _ done: @escaping (SubrequestResponse) -> Void) throws(HostError) {
    try call(own, in: rpcurl_call(), done)
  }

  /// Makes a plain HTTP request. `[loop]`
  ///
  /// `done` runs exactly once, as that of ``call(_:_:)``.
  public func fetch(
    _ fetch: HTTPFetch, _ done: @escaping (HTTPFetchResponse) -> Void
  ) throws(HostError) {
    try self.fetch(fetch, in: rpcurl_call(), done)
  }

  /// Adds a number, which is not negative, to a counter that `metrics` reports. `[any thread]`
  public func add(_ number: Double, toMetric name: String) throws(HostError) {
    try check(name.lend { pointer.pointee.metric_add(pointer, $0, number) })
  }

  /// Sets a value that all plugins of the program share. `[any thread]`
  public func share(_ name: String, _ text: String) throws(HostError) {
    try check(name.lend { name in text.lend { pointer.pointee.share_set(pointer, name, $0) } })
  }

  /// A value that plugins share; nil if it is not set. `[any thread]`
  public func shared(_ name: String) throws(HostError) -> String? {
    var text = rpcurl_text()
    let result = name.lend { pointer.pointee.share_get(pointer, $0, &text) }
    if result == RPCURL_ENOENT { return nil }
    try check(result)
    return String(text)
  }
}

/// A scheduled function, retained until it runs.
private final class Scheduled {
  private let body: () -> Void

  init(_ body: @escaping () -> Void) { self.body = body }

  static let run: rpcurl_function = { _, argument in
    guard let argument else { return }
    Unmanaged<Scheduled>.fromOpaque(argument).takeRetainedValue().body()
  }
}
