import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports

/// `rpcurl load`: makes many calls of a method, and reports what was measured.
package struct LoadCommand {
  private let arguments: Invocation
  private var options: LoadOptions
  private let suite: SuiteLoad?
  /// The seed of the order of tests.
  private let seed: UInt64?

  /// Reads the arguments.
  ///
  /// - Throws: `Failure` if an option is invalid.
  package init(_ invocation: Invocation) throws(Failure) {
    arguments = invocation
    suite = try SuiteLoad(invocation)
    seed = invocation.number(.seed).map { UInt64(bitPattern: Int64($0)) }
    options = try LoadOptions(invocation, isOfSuite: suite != nil)
    if let suite { options.command = suite.command }
    guard suite == nil, let argument = invocation.last(of: [.only, .skip]) else { return }
    throw Failure(
      .usage, argument.name, "selects tests of a suite", hint: "rpcurl load [OPTIONS] SUITE: a file")
  }

  /// Makes the run, and prints its report.
  ///
  /// - Throws: `Failure` if the run cannot be made, a threshold fails, or a signal ended the run.
  package func run(on console: Console) throws {
    let clients = ClientSource(console, arguments)
    if let suite {
      let baseline = try baseline(LoadBaseline.subject("suite", of: suite.path), waitLimit: nil)
      let result = try LoadTests(suite, options, seed: seed, clients: clients).run()
      return try report(result, baseline, on: console)
    }
    let resolved = try CallPlan.resolve(
      arguments, clients: clients, environment: EnvironmentVariables.value, isDry: false, readsData: true)
    // The schema is known: the call is not dry.
    guard let plan = resolved.plan else { throw Failure(.schema, "\(resolved.settings.name)", "unknown") }
    if options.isExported {
      defer { plan.chain.unload() }
      return console.output.print(
        try LoadExport(
          plan, arguments, options, console.error
        ).text())
    }
    var baseline: LoadBaseline?
    let result = try plan.withChain(clients) { _ in
      baseline = try self.baseline("\(plan.name)", waitLimit: plan.settings.timeout)
      var options = options
      options.command = try CallProgram.rpcurl.script(
        arguments, resolved, console.error, environment: EnvironmentVariables.value)
      return try LoadCalls(plan, options, clients: clients).run()
    }
    try report(result, baseline, on: console, waitLimit: plan.settings.timeout)
  }

  /// Reads the run with which one is compared, before that is made.
  ///
  /// - Parameter subject: What the run is of.
  private func baseline(_ subject: String, waitLimit: Duration?) throws(Failure) -> LoadBaseline? {
    guard let path = options.comparedPath else { return nil }
    let option = "--compare \(path)"
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try FileContents.read(path, limitBytes: FileContents.dataLimitBytes, waitLimit: waitLimit)
    } catch {
      throw Interrupt.failure ?? Failure(.input, option, error)
    }
    let baseline: LoadBaseline
    do throws(LanguageError) {
      guard let report = try? JSONValue(parsing: bytes) else {
        throw LanguageError("not JSON", hint: "write the report of a run with rpcurl load --format json")
      }
      baseline = try LoadBaseline(report, named: path.split(separator: "/").last.map(String.init) ?? path)
    } catch {
      throw Failure(.input, option, error.reason, hint: error.hint)
    }
    if let obstacle = baseline.obstacle(to: subject, options.shape.text(connections: options.connections)) {
      throw Failure(.input, option, TerminalText.escape(obstacle))
    }
    return baseline
  }

  /// Writes the reports of a run.
  private func report(
    _ result: LoadResult, _ baseline: LoadBaseline?, on console: Console, waitLimit: Duration? = nil
  ) throws(Failure) {
    let report = result.report
    let results = report.results(of: options.thresholds) + (baseline?.results(report) ?? [])
    var failures = LoadReports(report: report, results: results, console: console, waitLimit: waitLimit)
      .write(options)
    if let problem = result.problem { failures.append(problem) }
    let failed = results.filter { !$0.holds }
    if report.isInterrupted {
      failures.append(Failure(reported: Interrupt.status))
    } else if !failed.isEmpty {
      let list = failed.map { "\($0.condition) (\($0.measured))" }.joined(separator: ", ")
      failures.append(Failure(.assertion, "threshold failed", list))
    }
    // The last one has the exit status: what the run shows counts more than a file.
    guard let last = failures.popLast() else { return }
    for failure in failures {
      if let message = failure.message { console.error.report(ErrorReport(message, failure.status)) }
    }
    throw last
  }
}
