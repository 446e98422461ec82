import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Makes the interceptors of a plugin or a script, and records what the calls of a check exercise of it. It belongs to the loop's thread.
// Sendable because a factory is; its calls are those of one loop.
final class SelfTestCoverage: InterceptorFactory, @unchecked Sendable {
  private let plugin: any InterceptorFactory
  /// The word for what is checked.
  private let kind: String
  private var callCount = 0
  private var declinedCount = 0
  /// The stages at which the plugin wants to be called, and those at which it was.
  private var wanted: Stages = []
  private var reached: Stages = []
  /// The plugin's own calls and requests, none of which gets a response, in the order of the first of each.
  private var requests: [(name: String, count: Int)] = []
  /// The methods of which every call fails without these responses.
  private var failingMethods: [String] = []
  /// The number of requests when it was last asked for.
  private var countBefore = 0
  /// Why the plugin failed at metrics, in the current call.
  private var metricsError: (any Error)?

  init(_ plugin: any InterceptorFactory, _ kind: String) {
    self.plugin = plugin
    self.kind = kind
  }

  var declaration: InterceptorDeclaration { plugin.declaration }

  func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    callCount += 1
    guard let interceptor = try plugin.make(for: call, context) else {
      declinedCount += 1
      return nil
    }
    wanted.formUnion(interceptor.stages)
    guard let interceptor = interceptor as? any AnyStageInterceptor else { return interceptor }
    return RecordedInterceptor(interceptor, self)
  }

  fileprivate func note(_ stage: Stage) { reached.insert(stage.set) }

  fileprivate func note(metricsError error: any Error) { metricsError = error }

  /// Why the plugin failed at metrics since this was last called; nil if it did not.
  func takeMetricsError() -> RPCError? {
    defer { metricsError = nil }
    return metricsError as? RPCError
  }

  /// Records a call or a request of the plugin.
  func note(request name: String) {
    guard let index = requests.firstIndex(where: { $0.name == name }) else {
      return requests.append((name, 1))
    }
    requests[index].count += 1
  }

  /// Whether the plugin has made a request since this was last asked.
  func takeRequests() -> Bool {
    let count = requests.reduce(0) { $0 + $1.count }
    defer { countBefore = count }
    return count > countBefore
  }

  /// Records that every call of a method failed, maybe for lack of a response to a request.
  func note(failing method: String) { failingMethods.append(method) }

  /// What was not exercised, a line each.
  var gaps: [String] {
    guard declinedCount < callCount else { return ["the \(kind) declined all \(callCount) calls"] }
    var gaps: [String] = []
    let missing = wanted.subtracting(reached)
    let missed = Stage.allCases.filter { missing.contains($0.set) }
    if !missed.isEmpty {
      gaps.append("no call reached its stages \(missed.map { $0.description }.joined(separator: ", "))")
    }
    for request in requests {
      gaps.append(
        "a response to its \(request.name), made \(request.count == 1 ? "once" : "\(request.count) times")")
    }
    if !failingMethods.isEmpty {
      let methods = failingMethods.joined(separator: ", ")
      gaps.append("the success of \(methods), which the \(kind) fails, maybe for lack of such a response")
    }
    return gaps
  }
}

/// Passes everything on to an interceptor, and reports its stages.
private final class RecordedInterceptor: AnyStageInterceptor {
  var stages: Stages { inner.stages }
  var messages: MessageAccesses { inner.messages }
  var requirements: InterceptorRequirements { inner.requirements }
  private let inner: any AnyStageInterceptor
  private let coverage: SelfTestCoverage

  init(_ inner: any AnyStageInterceptor, _ coverage: SelfTestCoverage) {
    self.inner = inner
    self.coverage = coverage
  }

  func receive(_ value: CallEvent<MessageValue>, _ token: consuming AnyToken) throws {
    let stage = token.stage
    coverage.note(stage)
    do {
      try inner.receive(value, token)
    } catch {
      if stage == .metrics { coverage.note(metricsError: error) }
      throw error
    }
  }

  func observe(_ observation: Observation) {
    coverage.note(observation.stage)
    inner.observe(observation)
  }
  func finish(_ outcome: Outcome) { inner.finish(outcome) }
}
