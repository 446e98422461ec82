import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols
import RPCurlReports

/// The suite of a load: its tests, and the command line of a process that runs them.
package struct SuiteLoad {
  /// More processes are more than a machine has memory for.
  static let mostJobs = 500

  /// The name of the program in the command line of a process that runs a suite for a load: its standard input has the orders.
  package static let processName = "/proc/thread-self/exe"

  let path: String
  let tests: [Suite.Test]
  /// The program and its arguments.
  let arguments: [String]

  /// The options of a load that its processes do not get.
  private static let own: Set<OptionID> = [
    .rate, .ramp, .warmUp, .duration, .requests, .threshold, .loadFormat, .html, .histogramLog,
    .rawLatencies, .jobs, .seed,
  ]

  /// Reads the suite that the arguments name. Returns nil if they name a method.
  ///
  /// - Throws: `Failure` if it is not a suite, if no test runs, or if an option is one of calls of a method.
  init?(_ invocation: Invocation) throws(Failure) {
    guard invocation.positionals.count == 1, let path = invocation.positionals.first?.text,
      !path.contains("://"), FileContents.isRegularFile(path)
    else { return nil }
    self.path = path
    let typed = invocation.arguments.filter { argument in
      guard case .typed = argument.origin else { return false }
      return !Self.own.contains(argument.id)
    }
    for argument in typed where !OptionTable[argument.id].commands.contains(CommandSet(.test)) {
      throw Failure(
        .usage, argument.name, "not possible with a suite: its commands make the calls",
        hint: "\(path) is a suite; the load of a method is rpcurl load TARGET METHOD")
    }
    if let argument = typed.first(where: \.isReadableOnce) {
      throw Failure(
        .usage, "\(argument.name) \(argument.text ?? "")",
        "each process of the load reads it, and a pipe can be read once", hint: "write it to a file")
    }
    if let name = invocation.all(.use).lazy.compactMap(\.writerOfFile).first {
      throw Failure(
        .usage, "--use \(name)", "each process of the load would replace the file of the others",
        hint: "--html, --hdr and --raw write what all have measured")
    }
    let suite = try Suite(
      path, parsing: FileContents.input(path, waitLimit: invocation.duration(.maxTime)))
    tests = suite.tests(
      of: SuiteSelection(
        invocation.all(.only).compactMap(\.text), without: invocation.all(.skip).compactMap(\.text)))
    guard tests.contains(where: { $0.weight > 0 && $0.skipReason == nil }) else {
      throw Failure(
        .input, path, "no test to run",
        hint: "test NAME begins one; --only and --skip select tests, and weight 0 excludes one")
    }
    arguments = [Self.processName, "test"] + typed.flatMap(\.words) + ["--report", "ndjson", "--", path]
  }

  /// How often each test runs, in relation to the others.
  var weights: [Int] { tests.map { $0.skipReason == nil ? $0.weight : 0 } }
}

/// A process that runs tests of a suite for a load, one at a time.
final class SuiteLoadProcess {
  /// A test that runs.
  struct Run {
    let test: Int
    /// When it was due, as time since the start of the load.
    let due: Duration
    let isMeasured: Bool
  }

  let process: pid_t
  var events: SuiteEventReader
  private var orders: Int32?
  /// The test that runs; nil if the process waits for an order.
  var running: Run?
  /// Whether the setup has ended.
  var isReady = false
  /// Whether the end of the file was reported.
  var hasEnded = false

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - arguments: The program and its arguments.
  ///   - runFiles: The files that the processes write.
  /// - Throws: `Failure` if it cannot be started.
  init(_ arguments: [String], _ runFiles: RunFiles?) throws(Failure) {
    guard let output = Pipe() else { throw Failure(.internalError, "load", FileContents.lastError()) }
    guard let input = Pipe() else {
      for end in [output.readEnd, output.writeEnd] { close(end) }
      throw Failure(.internalError, "load", FileContents.lastError())
    }
    var descriptors = [(own: input.readEnd, its: Int32(0)), (own: output.writeEnd, its: 1)]
    if let runFiles { descriptors.append((runFiles.descriptor, RunFiles.inheritedDescriptor)) }
    let started = ChildProcess.start(arguments, hasInput: true, giving: descriptors, leadsSession: true)
    for end in [input.readEnd, output.writeEnd] { close(end) }
    switch started {
    case .success(let process): self.process = process
    case .failure(let error):
      for end in [output.readEnd, input.writeEnd] { close(end) }
      throw Failure(.internalError, "load", "cannot start a process: \(error.why)")
    }
    events = SuiteEventReader(output.readEnd)
    orders = input.writeEnd
  }

  /// Runs a test. A process that has ended reports that by its events.
  func start(_ run: Run, number: Int) {
    running = run
    let line = Array(SuiteOrders.Order(test: run.test, number: number).line.utf8)
    if let orders { _ = FileContents.write(line, to: orders) }
  }

  /// Lets the process run its teardown and end, after the test that runs.
  func endOrders() {
    if let orders { close(orders) }
    orders = nil
  }

  /// Waits for the process, whose events have ended. Returns why it ended without a report; nil if it did report.
  func conclude() -> String? {
    endOrders()
    close(events.descriptor)
    let status = ChildProcess.wait(for: process)
    guard !hasEnded else { return nil }
    return status & 0x7F != 0
      ? "a process was ended by signal \(status & 0x7F)" : "a process ended with \(status >> 8)"
  }
}
