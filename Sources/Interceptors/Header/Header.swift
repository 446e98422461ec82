import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Changes the headers of one call.
final class Header: StagedInterceptor, Sendable {
  let stages: Stages
  private let changes: HeaderFactory.Changes
  private let services: any InterceptorServices
  private let name: String
  /// Each kills a command that runs.
  private let cancellations = Locked<[@Sendable () -> Void]>([])

  init(_ changes: HeaderFactory.Changes, _ services: any InterceptorServices, _ context: CallContext) {
    self.changes = changes
    self.services = services
    name = context.name
    stages = changes.stages
  }

  func requestStart(_ start: RequestStart, _ token: consuming RequestToken<RequestStart>) throws {
    let commands = changes.request.map(\.command)
    let count = commands.count { $0 != nil }
    guard count > 0 else { return token.proceed(try changed(start, outputs: [:])) }
    let run = CommandRun(token, count: count)
    for (index, command) in commands.enumerated() {
      guard let command else { continue }
      let cancel = services.run(command, timeout: changes.timeout) { [self] output in
        // The command that ends last resumes the call, on any thread.
        guard let outputs = run.finish(index, output), let token = run.takeToken() else { return }
        switch Result(catching: { () throws(RPCError) in try self.changed(start, outputs: outputs) }) {
        case .success(let start): token.proceed(start)
        case .failure(let error): token.fail(error)
        }
      }
      cancellations.withLock { $0.append(cancel) }
    }
  }

  func finish(_ outcome: Outcome) {
    for cancel in cancellations.withLock({ $0 }) { cancel() }
  }

  func responseStart(_ start: ResponseStart, _ token: consuming ResponseToken<ResponseStart>) throws {
    var start = start
    try apply(changes.response, to: &start.headers)
    token.proceed(start)
  }

  func responseEnd(_ end: ResponseEnd, _ token: consuming ResponseToken<ResponseEnd>) throws {
    var end = end
    try apply(changes.trailers, to: &end.trailers)
    token.proceed(end)
  }

  private func changed(
    _ start: RequestStart, outputs: [Int: Result<[UInt8], SystemError>]
  ) throws(RPCError) -> RequestStart {
    var start = start
    try apply(changes.request, to: &start.headers, outputs: outputs)
    // A renamed credential is still a credential.
    for case .rename(let old, let new) in changes.request {
      let old = old.lowercased()
      guard SecretNames.standard.contains(old) || start.credentials?.headerNames.contains(old) == true else {
        continue
      }
      var credentials = start.credentials ?? Origin(url: start.target).map { Credentials(for: $0, in: []) }
      credentials?.headerNames.insert(new.lowercased())
      start.credentials = credentials
    }
    return start
  }

  private func apply(
    _ changes: [HeaderChange], to headers: inout Headers,
    outputs: [Int: Result<[UInt8], SystemError>] = [:]
  ) throws(RPCError) {
    do throws(SystemError) {
      for (index, change) in changes.enumerated() {
        try change.apply(to: &headers, services, output: outputs[index])
      }
    } catch {
      throw RPCError(.failedPrecondition, error.reason, origin: .interceptor(name))
    }
  }
}

/// The commands that a request waits for.
private final class CommandRun: Sendable {
  private struct State {
    var outputs: [Int: Result<[UInt8], SystemError>] = [:]
    var missing: Int
  }

  private let state: Locked<State>
  private let token: Locked<RequestToken<RequestStart>?>

  init(_ token: consuming RequestToken<RequestStart>, count: Int) {
    state = Locked(State(missing: count))
    self.token = Locked(token)
  }

  /// Records the output of a command. Returns all outputs if it was the last.
  func finish(
    _ index: Int, _ output: Result<[UInt8], SystemError>
  ) -> [Int: Result<[UInt8], SystemError>]? {
    state.withLock { state in
      state.outputs[index] = output
      state.missing -= 1
      return state.missing == 0 ? state.outputs : nil
    }
  }

  /// Returns the token once.
  func takeToken() -> RequestToken<RequestStart>? {
    token.withLock { $0.take() }
  }
}
