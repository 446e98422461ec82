import CRPCURLPlugin

// What a plugin does outside of calls. It runs while the loop of rpcurl runs, which is while calls run: what is requested
// before waits until then. After the last call and `Plugin.conclude`, what is pending has 1 second.
extension Host {
  /// A function that is scheduled by ``after(_:_:)``.
  public struct Timer: Sendable {
    fileprivate let plain: rpcurl_timer
    fileprivate let pending: ScheduledFunctions.Number
  }

  /// Runs `body` on the loop's thread after a time, unless the plugin is unloaded first. `[loop]`
  ///
  /// - Returns: The timer, to cancel it.
  @discardableResult
  public func after(_ pause: Duration, _ body: @escaping () -> Void) throws(HostError) -> Timer {
    var timer = rpcurl_timer()
    let pending = try scheduled.schedule(body, self) { function, argument in
      pointer.pointee.after(pointer, rpcurl_call(), pause.nanoseconds, function, argument, &timer)
    }
    return Timer(plain: timer, pending: pending)
  }

  /// Cancels a timer; does nothing if it has fired. `[loop]`
  public func cancel(_ timer: Timer) throws(HostError) {
    let result = pointer.pointee.cancel_timer(pointer, rpcurl_call(), timer.plain)
    if result == RPCURL_ENOENT { return }
    try check(result)
    scheduled.drop(timer.pending)
  }

  /// Runs `body` on the loop's thread soon, unless the plugin is unloaded first. `[any thread]`
  ///
  /// Captured objects must belong to the loop's thread, or no longer be used on this thread.
  public func post(_ body: @escaping () -> Void) throws(HostError) {
    _ = try scheduled.schedule(body, self) { function, argument in
      pointer.pointee.post(pointer, rpcurl_call(), function, argument)
    }
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
