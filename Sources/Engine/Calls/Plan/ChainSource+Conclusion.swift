import RPCurlCall
import RPCurlChain
import RPCurlPlatform
import RPCurlProgram

extension ChainSource {
  /// Makes the interceptors write or send what they have collected, and waits until they have, or for a signal. To be
  /// called once, after their last call.
  package func conclude(_ client: LoopClient, log: @escaping LogSink) {
    Self.conclude(registrations, client, log: log)
  }

  /// The same for interceptors of which some are not on the chain any more.
  package static func conclude(
    _ interceptors: [InterceptorRegistration], _ client: LoopClient, log: @escaping LogSink
  ) {
    let areDone = client.conclude(interceptors, log: log)
    guard !areDone() else { return }
    // A failed output has ended the calls, and not this wait, which a signal ends.
    if Interrupt.isFailedOutput { Interrupt.rearm() }
    var isInterrupted = false
    // Their calls have ended with a result, which nothing here changes.
    _ = try? CommandLoop(client.loop).run(
      onInterrupt: { isInterrupted = true }, until: { isInterrupted || areDone() })
  }
}

extension CallPlan {
  /// Makes the calls of the plan; then the interceptors write what they have collected, and plugins are unloaded.
  ///
  /// - Parameters:
  ///   - clients: The source of the client.
  ///   - calls: Makes the calls.
  package func withChain<Result>(
    _ clients: ClientSource, _ calls: (LoopClient) throws -> Result
  ) throws -> Result {
    defer { chain.unload() }
    let client = try clients.client()
    defer { chain.conclude(client, log: clients.console.log(showingDebug: settings.output.verbosity > 1)) }
    return try calls(client)
  }
}
