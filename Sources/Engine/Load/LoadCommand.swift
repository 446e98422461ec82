import RPCurlPlatform
import RPCurlProgram
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
      let result = try LoadTests(suite, options, seed: seed, clients: clients).run()
      return try report(result, on: console)
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
    var options = options
    options.command = try CallProgram.rpcurl.script(
      arguments, resolved, console.error, environment: EnvironmentVariables.value)
    try report(
      plan.withChain(clients) { [options] _ in try LoadCalls(plan, options, clients: clients).run() },
      on: console, waitLimit: plan.timeout)
  }

  /// Writes the reports of a run.
  private func report(
    _ result: LoadResult, on console: Console, waitLimit: Duration? = nil
  ) throws(Failure) {
    let report = result.report
    let results = report.results(of: options.thresholds)
    try LoadReports(report: report, results: results, console: console, waitLimit: waitLimit)
      .write(options)
    if let problem = result.problem { throw problem }
    if report.isInterrupted { throw Failure(reported: Interrupt.status) }
    let failed = results.filter { !$0.holds }
    guard failed.isEmpty else {
      let list = failed.map { "\($0.threshold.text) (\($0.measured))" }.joined(separator: ", ")
      throw Failure(.assertion, "threshold failed", list)
    }
  }
}
