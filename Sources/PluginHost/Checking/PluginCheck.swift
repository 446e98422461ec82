import RPCurlBase
import RPCurlChain
import RPCurlCPlugins
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// Checks a plugin or a script for its author: of a plugin first the file, without running its code, then the whole life
/// cycle.
package struct PluginCheck {
  /// A result of the check.
  package enum Line: Sendable, Equatable {
    /// A step that passed.
    case passed(String)
    /// Not an error, but possibly unintended.
    case note(String)
    /// A violation of a rule that does not fail the check, because it depends on the machine's speed.
    case warning(String)
    /// A part of the plugin that the check did not exercise.
    case unexercised(String)
  }

  /// An error in the plugin or the script.
  package struct Fault: Error, Sendable, Equatable {
    /// The step that failed.
    package let step: String
    /// The reason.
    package let reason: String
    /// A suggestion, if there is one.
    package let hint: String?

    /// Makes an error.
    package init(step: String, reason: String, hint: String?) {
      (self.step, self.reason, self.hint) = (step, reason, hint)
    }
  }

  private let loader: PluginLoader
  private let limit: Duration
  private let method: MethodDescriptor?
  private let report: (Line) -> Void

  /// Makes a check.
  ///
  /// - Parameters:
  ///   - loader: Finds and loads the plugin.
  ///   - limit: The time limit of each call of the self-test.
  ///   - method: The method of the calls, whose messages have every field set; `nil` for methods of all four
  ///     kinds with messages of the type `google.protobuf.Value`.
  ///   - report: Called with the result of each step.
  package init(
    loader: PluginLoader, limit: Duration, method: MethodDescriptor? = nil, report: @escaping (Line) -> Void
  ) {
    self.loader = loader
    self.limit = limit
    self.method = method
    self.report = report
  }

  /// Runs all checks of a plugin.
  package func run(_ spec: InterceptorSpec) throws(Fault) {
    let file = try inspect(spec.name)
    var strict = spec
    strict.common.isStrict = true
    let plugin = try attempt("loading") { () throws(PluginError) in try loader.load(strict) }
    let subject = CheckedInterceptor(plugin)
    try requireNoMisuse(subject, "loading")
    passed("loaded: \(plugin.name)\(plugin.version.isEmpty ? "" : " \(plugin.version)")")
    if plugin.summary.isEmpty { report(.note("it has no summary for \"rpcurl plugins\"")) }
    if file.version.minor > UInt32(RPCURL_ABI_MINOR) {
      report(.note("it was built against an ABI newer than \(PluginLoader.abiVersion)"))
    }
    let gaps = try runCalls(subject)
    if try attempt("its own test", { () throws(PluginError) in try plugin.check() }) {
      try requireNoMisuse(subject, "its own test")
      passed("its own test")
    }
    for callback in plugin.blockingCallbacks {
      report(.warning("\(callback) blocked the loop for more than \(PLUGIN_GUARD_PATIENCE_MS) ms"))
    }
    plugin.unload()
    try requireNoMisuse(subject, "unload")
    passed("unloaded")
    for gap in gaps { report(.unexercised(gap)) }
  }

  /// Runs the checks of an interceptor that is no plugin, after its start and before its end.
  package func run(_ subject: CheckedInterceptor) throws(Fault) {
    let gaps = try runCalls(subject)
    for gap in gaps { report(.unexercised(gap)) }
  }

  private func passed(_ text: String) { report(.passed(text)) }

  private func attempt<Result>(
    _ step: String, _ body: () throws(PluginError) -> Result
  ) throws(Fault) -> Result {
    do throws(PluginError) {
      return try body()
    } catch {
      throw Fault(step: step, reason: error.description, hint: error.hint)
    }
  }

  // MARK: - The file

  private func inspect(_ name: String) throws(Fault) -> PluginFileFacts {
    let path = try attempt("search") { () throws(PluginError) in try loader.searchPath.locate(name) }
    let facts = try attempt("inspection") { () throws(PluginError) in try loader.inspect(path) }
    passed("file: \(path), a shared object for this machine that only you and root can write")
    passed("version note: ABI \(facts.version.major).\(facts.version.minor)")
    switch facts.exportsEntry {
    case true?: passed("symbol: \(RPCURL_ENTRY_SYMBOL)")
    case false?:
      let error = PluginError.noEntry(path: path, symbol: RPCURL_ENTRY_SYMBOL)
      throw Fault(step: "inspection", reason: error.description, hint: error.hint)
    case nil: report(.note("its symbols cannot be read without loading it"))
    }
    return facts
  }

  // MARK: - Calls

  /// The interceptors around the plugin on the chain.
  private enum Surroundings: String, CaseIterable {
    case alone = ""
    case holding = ", between interceptors that hold every value"
    case responding = ", outside an interceptor that holds every value and responds"
    case failing = ", outside an interceptor that holds every value and fails"

    var courses: [SelfTestCall.Course] {
      switch self {
      case .alone, .holding: SelfTestCall.Course.allCases
      case .responding, .failing: [.success]
      }
    }

    func chain(_ plugin: InterceptorRegistration, _ subject: SelfTestSubject) -> [InterceptorRegistration] {
      let ending: SelfTestPeer.Ending
      switch self {
      case .alone: return [plugin]
      case .holding: ending = .none
      case .responding: ending = .response
      case .failing: ending = .failure
      }
      return [
        SelfTestPeer.registration("outer peer", priority: .max), plugin,
        SelfTestPeer.registration("inner peer", priority: .min, ending, response: subject.responseBytes),
      ]
    }
  }

  /// Makes all calls. Returns what they did not exercise.
  private func runCalls(_ checked: CheckedInterceptor) throws(Fault) -> [String] {
    var registration = checked.registration
    registration.scope = .all
    let coverage = SelfTestCoverage(registration.factory, checked.kind)
    registration.factory = coverage
    let network = SelfTestNetwork(loop, coverage)
    let subjects = try subjects(of: checked)
    guard let first = subjects.first else { return [] }
    let outside = network.outside(first.facts, log: loader.log)
    checked.registration.factory.attach(outside)
    for subject in subjects {
      var failures: [RPCError?] = []
      for surroundings in Surroundings.allCases {
        for course in surroundings.courses {
          let chain = surroundings.chain(registration, subject)
          let call = SelfTestCall(subject, course, chain, loop: loop, network: network, log: loader.log)
          let failure = try run(call, checked, coverage, "call: \(call.name)\(surroundings.rawValue)")
          if course == .success, surroundings.courses.count > 1 { failures.append(failure) }
        }
      }
      // What fails every second or third call on purpose does not fail two calls in a row.
      for attempt in ["again", "once more"] where !failures.contains(nil) {
        let call = SelfTestCall(
          subject, .success, [registration], loop: loop, network: network, log: loader.log)
        failures.append(try run(call, checked, coverage, "call: \(call.name), \(attempt)"))
      }
      try requireSuccess(failures, subject, checked, coverage)
    }
    try conclude(checked, outside)
    return coverage.gaps
  }

  /// Lets the interceptor end what it has begun.
  private func conclude(_ checked: CheckedInterceptor, _ outside: FactoryNetwork) throws(Fault) {
    let isConcluded = Locked(false)
    let start = MonotonicClock.now
    checked.registration.factory.conclude(outside) { isConcluded.withLock { $0 = true } }
    _ = loop.run(for: checked.endLimit ?? .seconds(2), until: { isConcluded.withLock { $0 } })
    guard let limit = checked.endLimit else { return try requireNoMisuse(checked, "conclude") }
    // A process that does not end by itself is killed.
    _ = loop.run(for: .seconds(3), until: { isConcluded.withLock { $0 } })
    try requireNoMisuse(checked, "end")
    guard .now - start < limit else {
      throw Fault(
        step: "end", reason: "the \(checked.kind) did not end within 2 s after its standard input was closed",
        hint: "end the program when it reads the end of its input")
    }
    passed("ended")
  }

  private func subjects(of checked: CheckedInterceptor) throws(Fault) -> [SelfTestSubject] {
    if let method { return [try SelfTestSubject(method)] }
    var subjects = try SelfTestSubject.withoutSchema(hasFields: checked.kind == "script")
    for index in subjects.indices { subjects[index].name = checked.name(like: subjects[index].name) }
    return subjects
  }

  private let loop = SelfTestLoop()

  /// Makes a call; returns the error if the plugin failed it.
  private func run(
    _ call: SelfTestCall, _ subject: CheckedInterceptor, _ coverage: SelfTestCoverage, _ step: String
  ) throws(Fault) -> RPCError? {
    let isInTime = call.run(for: limit)
    guard call.isFinished else {
      throw Fault(step: step, reason: "the call did not end, although it was canceled", hint: nil)
    }
    try requireNoMisuse(subject, step)
    var failure = coverage.takeMetricsError()
    if let failure { report(.note("\(step): the \(subject.kind) failed at metrics: \(failure.message)")) }
    if !isInTime {
      if let holder = call.holder, holder.name == subject.registration.name {
        throw Fault(
          step: step,
          reason:
            "the \(subject.kind) did not \(subject.duty) of \(holder.stage) within \(Self.words(limit))",
          hint: "\(subject.rule); --call-time gives more time"
        )
      }
      report(.note("\(step): canceled after \(Self.words(limit))"))
    } else if let error = call.end?.error, error.origin == .interceptor(subject.registration.name) {
      report(.note("\(step): the \(subject.kind) failed the call: \(error.code.name): \(error.message)"))
      failure = error
    }
    passed(step)
    return failure
  }

  private func requireSuccess(
    _ failures: [RPCError?], _ subject: SelfTestSubject, _ checked: CheckedInterceptor,
    _ coverage: SelfTestCoverage
  ) throws(Fault) {
    let hasRequested = coverage.takeRequests()
    guard let error = failures.first ?? nil, !failures.contains(nil) else { return }
    guard !hasRequested else { return coverage.note(failing: subject.title) }
    guard subject.hasNameOfSchema else {
      return report(
        .unexercised(
          "the success of \(subject.title), a call with messages of the type google.protobuf.Value: name a method with "
            + "--descriptor-set FILE --method PKG.SERVICE/METHOD"))
    }
    throw Fault(
      step: "calls: \(subject.title)",
      reason: "the \(checked.kind) failed every call: \(error.code.name): \(error.message)",
      hint: method == nil
        ? "if it requires certain messages, name their method: --descriptor-set FILE --method PKG.SERVICE/METHOD"
        : nil)
  }

  /// Formats a duration as `20 ms` or `2.5 s`.
  private static func words(_ duration: Duration) -> String {
    let milliseconds = duration.milliseconds
    guard milliseconds >= 1000 else { return "\(milliseconds) ms" }
    let tenths = milliseconds % 1000 / 100
    return "\(milliseconds / 1000)\(tenths == 0 ? "" : ".\(tenths)") s"
  }

  private func requireNoMisuse(_ subject: CheckedInterceptor, _ step: String) throws(Fault) {
    guard let misuse = subject.misuse() else { return }
    throw Fault(step: step, reason: "the \(subject.kind) misbehaves: \(misuse.reason)", hint: misuse.hint)
  }
}
