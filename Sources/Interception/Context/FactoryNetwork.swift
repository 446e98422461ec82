import RPCProtocols

/// What a factory of interceptors may request outside of calls. `[loop's thread]`
public struct FactoryNetwork {
  /// Makes a plain HTTP request, without the connection options of any call. The completion is called once on the
  /// loop's thread, never from within this function.
  public let fetch: (HTTPFetch, @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) -> Void
  /// Writes to the log.
  public let log: LogSink

  /// Makes a network.
  ///
  /// - Parameters:
  ///   - log: Receives log records; called on any thread.
  ///   - fetch: Makes an HTTP request.
  package init(
    log: @escaping LogSink,
    fetch: @escaping (HTTPFetch, @escaping (Result<HTTPFetchResponse, RPCError>) -> Void) -> Void
  ) {
    self.log = log
    self.fetch = fetch
  }
}
