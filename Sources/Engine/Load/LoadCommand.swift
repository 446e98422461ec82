import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports

/// `rpcurl load`: makes many calls of a method, and reports what was measured.
package final class LoadCommand {
  // A class: the code that copies a struct with all options of a call would be 25 KB.
  private let arguments: CallArguments
  private let options: LoadOptions

  /// Reads the arguments.
  ///
  /// - Throws: `Failure` if an option is invalid.
  package init(_ invocation: Invocation) throws(Failure) {
    arguments = CallArguments(invocation)
    options = try LoadOptions(invocation)
  }

  /// Makes the run, and prints its report.
  ///
  /// - Throws: `Failure` if the run cannot be made, a threshold fails, or a signal ended the run.
  package func run(on console: Console) throws {
    let clients = ClientSource(
      console, verbosity: arguments.output.verbose, showsSecrets: arguments.output.showSecrets)
    let resolved = try CallPlan.resolve(
      arguments, clients: clients, environment: EnvironmentVariables.value, isDry: false, readsData: true)
    // The schema is known: the call is not dry.
    guard let plan = resolved.plan else { throw Failure(.schema, "\(resolved.settings.name)", "unknown") }
    if options.isExported {
      defer { plan.chain.unload() }
      return console.output.print(try LoadExport(plan, arguments, options.shape, options.thresholds).text())
    }
    let (report, start, problem) = try plan.withChain(clients) { _ in
      try LoadRunner(plan, options, clients: clients).run()
    }
    let results = report.results(of: options.thresholds)
    try LoadReports(report: report, results: results, start: start, console: console, waitLimit: plan.timeout)
      .write(options)
    if let problem { throw problem }
    if report.isInterrupted { throw Failure(reported: Interrupt.status) }
    let failed = results.filter { !$0.holds }
    guard failed.isEmpty else {
      let list = failed.map { "\($0.threshold.text) (\($0.measured))" }.joined(separator: ", ")
      throw Failure(.assertion, "threshold failed", list)
    }
  }
}
