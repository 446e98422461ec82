import RPCurlBase
import RPCurlChain
import RPCurlEngine
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlReports
import RPCurlSchemaTools

/// `rpcurl test`: runs suites.
struct TestCommand {
  private let invocation: Invocation
  private let files: [String]
  /// Files of shared steps, which are not run.
  private let shared: [String]
  private let exclusive: Set<String>
  private let options: SuiteOptions
  private let outputs: [ReportOutput.Target]
  private let jobs: Int
  private let repetition: Repetition?
  /// Whether each suite runs in a process of its own.
  private let needsProcesses: Bool
  /// The options that a process of one suite gets.
  private let words: [String]

  /// Options that concern the whole run.
  private static let own: Set<OptionID> = [
    .report, .jobs, .totalTimeout, .shuffle, .seed, .coverage, .coverageMin, .repeats, .every,
  ]

  /// Options that select the rules of `--compare`.
  private static let comparing: Set<OptionID> = [.rules, .rulesFrom, .ignored, .ignoreUnstable]

  /// The name of the program in the command line of a process that runs one suite of several.
  static let processName = "/proc/self/exe"

  init(_ invocation: Invocation) throws(Failure) {
    self.invocation = invocation
    let names = invocation.positionals.map(\.text)
    guard !names.isEmpty else {
      throw Failure(.usage, "missing argument", "FILE|DIR", hint: "rpcurl test [OPTIONS] FILE|DIR…")
    }
    var files = try SuiteFiles.find(names)
    let special = SuiteFiles.special(files)
    exclusive = special.exclusive
    shared = files.filter { special.shared.contains($0) && !names.contains($0) }
    files.removeAll(where: shared.contains)
    var options = try Self.options(invocation)
    if invocation.has(.shuffle) {
      let seed = invocation.number(.seed).map { UInt64(clamping: $0) } ?? UInt64.random(in: 1...999_999)
      options.orderSeed = seed
      var order = SeededGenerator(seed: seed)
      files.shuffle(using: &order)
    }
    self.files = files
    // The process of one suite of several is repeated by what starts it.
    repetition = RPCURL.isProcessOfSuite ? nil : try Repetition(invocation)
    guard repetition == nil || !files.contains("-") else {
      throw Failure(
        .usage, "--repeat", "standard input can be read once", hint: "write the suite to a file")
    }
    outputs = try ReportOutput.targets(
      invocation.all(.report).compactMap(\.text), coverage: invocation.all(.coverage).compactMap(\.text))
    if RPCURL.isProcessOfLoad { options.orders = SuiteOrders(0) }
    if RPCURL.isProcessOfSuite { options.runFiles = RunFiles(inherited: RunFiles.inheritedDescriptor) }
    self.options = options
    jobs = invocation.number(.jobs) ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    guard (1...1000).contains(jobs) else {
      throw Failure(.usage, "--jobs \(jobs)", "not a number from 1 to 1000")
    }
    let typed = invocation.arguments.filter { argument in
      guard case .typed = argument.origin else { return false }
      return !Self.own.contains(argument.id)
    }
    // Those of a configuration file are for diff, too.
    if invocation.last(.compare) == nil,
      let argument = typed.first(where: { Self.comparing.contains($0.id) })
    {
      throw Failure(.usage, argument.name, "requires --compare", hint: "--compare OLD names the older schema")
    }
    needsProcesses = files.count > 1 || invocation.last(.totalTimeout) != nil
    if needsProcesses, let argument = typed.first(where: \.isReadableOnce) {
      throw Failure(
        .usage, "\(argument.name) \(argument.text ?? "")",
        "the process of each suite reads it, and a pipe can be read once",
        hint: "write it to a file")
    }
    if files.count > 1, let name = invocation.all(.use).lazy.compactMap(\.writerOfFile).first {
      throw Failure(
        .usage, "--use \(name)",
        "each suite runs in a process of its own, and would replace the file of the others",
        hint: "put \"use \(name),…\" into each suite, with its own file; --record records the calls of all")
    }
    words =
      typed.flatMap(\.words)
      + (options.covered == nil ? [] : ["--coverage", "report"])
      + (options.orderSeed.map { ["--shuffle", "--seed", "\($0)"] } ?? invocation.last(.seed)?.words ?? [])
  }

  private static func options(_ invocation: Invocation) throws(Failure) -> SuiteOptions {
    var options = SuiteOptions()
    var sources = ArgumentSources(environment: EnvironmentVariables.value, secrets: SecretPrompt())
    sources.waitLimit = invocation.duration(.maxTime)
    options.selection = SuiteSelection(
      invocation.all(.only).compactMap(\.text), without: invocation.all(.skip).compactMap(\.text))
    options.variables = try VariableArguments(invocation.all(.variable), sources)
    options.testLimit = invocation.duration(.testTimeout)
    options.stepLimit = invocation.duration(.stepTimeout)
    options.updatesGoldenFiles = invocation.has(.update)
    options.failsEarly = invocation.has(.failEarly)
    options.recordings = try recordings(invocation)
    if let percent = invocation.number(.coverageMin), !(0...100).contains(percent) {
      throw Failure(.usage, "--coverage-min \(percent)", "not a number from 0 to 100")
    }
    if invocation.last(of: [.coverage, .coverageMin, .coverageOf]) != nil {
      options.covered = invocation.all(.coverageOf).compactMap(\.text)
    }
    return options
  }

  /// The descriptor of an output, if a report is written to it and it is a pipe.
  private func reportPipe(_ descriptor: Int32) -> Int32? {
    let isWritten = outputs.contains { $0.file == nil } && FileFacts(descriptor)?.kind == .pipe
    return isWritten ? descriptor : nil
  }

  private static func recordings(_ invocation: Invocation) throws(Failure) -> SuiteOptions.Recordings? {
    let given = [OptionID.record, .replay, .mock].compactMap { invocation.last($0) }
    guard given.count <= 1 else {
      throw Failure(.usage, given[1].name, "cannot be combined with \(given[0].name)")
    }
    guard let argument = given.first, let path = argument.text else { return nil }
    if argument.id != .record, let wait = invocation.last(.wait) {
      throw Failure(.usage, wait.name, "no server is called with \(argument.name)", hint: "omit one of them")
    }
    return switch argument.id {
    case .record: .record(directory: path)
    case .replay: .replay(directory: path)
    default: .mock(file: path)
    }
  }

  func run(on console: Console) throws {
    if invocation.has(.rerun) { return try TestRerun(invocation).run(on: console) }
    if invocation.has(.formatFiles) { return try format(console) }
    if invocation.has(.listTests) { return try list(console) }
    if invocation.has(.checkFiles) { return try check(console) }
    guard !files.isEmpty else { throw noTest }
    let begin = MonotonicClock.now
    let isColored = invocation.colors(isTerminal: console.output.isTerminal).areOn
    let output = ReportOutput(
      outputs, console, isColored: isColored, waitLimit: invocation.duration(.maxTime))
    var counts = SuiteEnd()
    var coverage = SuiteCoverage()
    var missing: [String] = []
    var options = options
    options.contract = try contract(console)
    options.reportPipe = reportPipe(console.output.descriptor)
    // What is repeated adds to the files of the first time.
    let runFiles = needsProcesses || repetition != nil ? RunFiles() : nil
    options.runFiles = options.runFiles ?? runFiles
    output.add(.run(start))
    let clients = ClientSource(console, invocation)
    let named = Set(invocation.positionals.map(\.text))
    /// Runs all suites once.
    func runOnce(_ number: Int) throws {
      let before = counts
      let processes =
        !needsProcesses
        ? nil
        : try SuiteProcesses(
          files, exclusive: exclusive, jobs: jobs, clients, runFiles: runFiles, arguments: arguments)
      let receive = { (event: SuiteEvent) in
        let event = repetition == nil ? event : event.ofRun(number)
        counts.count(event)
        output.add(event)
        if case .coverage(let file) = event { coverage.add(file.coverage) }
        // A file of a directory may be one of shared steps.
        if case .file(let file) = event, file.tests == 0, named.contains(file.file),
          invocation.last(of: [.only, .skip]) == nil
        {
          missing.append(file.file)
        }
        guard output.hasFailed || !counts.isSuccess && self.options.failsEarly else { return }
        if let processes { processes.endEarly() } else if output.hasFailed { Interrupt.noteFailedOutput() }
      }
      if let reason = try processes?.run(limit: invocation.duration(.totalTimeout), receive) {
        throw Interrupt.failure ?? Failure(.assertion, "", reason)
      }
      if processes == nil,
        let failure = SuiteWorker(files[0], invocation, options, schemaCommand: SchemaCommands.run).run(
          receive)
      {
        // The process that receives the events of several suites reports the signal once.
        guard case .run(.ndjson) = outputs.first(where: { $0.file == nil })?.format else { throw failure }
        throw Failure(reported: failure.status)
      }
      guard repetition != nil else { return }
      if counts.total == 0 { try check(counts, coverage.called) }
      if (counts.failed, counts.errors) != (before.failed, before.errors) {
        throw Failure(reported: .assertion)
      }
    }
    var failure: (any Error)?
    do {
      try repetition?.run(clients.client(), console, runOnce) ?? runOnce(1)
    } catch let error as Failure where error.message == nil && error.status == .assertion {
      // Tests failed, which is checked below.
    } catch {
      failure = error
    }
    counts.duration = MonotonicClock.now - begin
    output.add(.end(counts))
    try output.close()
    if let failure { throw failure }
    if let file = missing.first, !RPCURL.isProcessOfSuite {
      throw Failure(
        .input, file, "no tests",
        hint: "test NAME begins one, and source FILE in a test runs shared steps; see rpcurl-test(5)")
    }
    try check(counts, coverage.called)
  }

  /// The older schema of `--compare`.
  private func contract(_ console: Console) throws -> SuiteContract? {
    guard let argument = invocation.last(.compare), let text = argument.text else { return nil }
    let old = try SchemaOperand.read(
      Positional(text, argument.origin), invocation, ClientSource(console, invocation))
    let rules = try ComparisonRules(invocation, old: old, new: nil)
    // The process that starts those of suites reports them once.
    if !RPCURL.isProcessOfSuite {
      try rules.remark(on: console.error, [old.pool], absence: "\(text) has no")
    }
    return SuiteContract(old.pool, named: text, rules: rules)
  }

  /// The event of the start.
  private var start: SuiteRun {
    let seconds = SystemValues(waitLimit: nil).nanosecondsSince1970 / 1_000_000_000
    return SuiteRun(
      version: Version.current, files: files.count, shared: shared.count,
      seed: options.orderSeed.map { Int(clamping: $0) },
      time: "\(CivilTime.secondsText(seconds))Z")
  }

  private var noTest: Failure {
    guard invocation.last(of: [.only, .skip]) == nil else {
      return Failure(
        .usage, "", "no test was selected", hint: "--only and --skip select tests by name or @TAG")
    }
    return Failure(
      .usage, invocation.positionals.map(\.text).joined(separator: " "), "no tests",
      hint: "test NAME begins one; see rpcurl-test(5)")
  }

  /// Throws if no test ran, a test failed, or fewer methods were called than `--coverage-min` demands.
  private func check(_ counts: SuiteEnd, _ called: SuiteCoverage.Share) throws(Failure) {
    if counts.total == 0, !RPCURL.isProcessOfSuite { throw noTest }
    if counts.failed > 0 { throw Failure(reported: .assertion) }
    if counts.errors > 0 { throw Failure(reported: .input) }
    if called.of == 0, let name = invocation.last(.coverageOf)?.text {
      throw Failure(.usage, "--coverage-of \(name)", "the schema has no such service or package")
    }
    guard let percent = invocation.number(.coverageMin), called.of == 0 || called.percent < percent else {
      return
    }
    throw Failure(
      .assertion, "--coverage-min \(percent)",
      called.of == 0
        ? "there are no methods" : "\(called.used) of \(called.of) methods were called, \(called.percent) %",
      hint: invocation.last(.coverage) == nil ? "--coverage text shows which" : nil)
  }

  /// Prints the tests that are selected.
  private func list(_ console: Console) throws(Failure) {
    var hasTest = false
    for file in files {
      let suite = try SuiteFiles.read(file, waitLimit: invocation.duration(.maxTime))
      for test in suite.tests(of: options.selection) {
        hasTest = true
        let tags = (suite.tags + test.tags).map { " @\($0)" }.joined()
        console.output.print(TerminalText.escape("\(file):\(test.line): \(test.name)\(tags)") + "\n")
      }
    }
    for file in shared { console.output.print("\(TerminalText.escape(file)): shared steps\n") }
    guard hasTest else { throw noTest }
  }

  /// Prints the mistakes of the files.
  private func check(_ console: Console) throws {
    var tests = 0
    var isValid = true
    for file in files + shared {
      var failures: [Failure] = []
      do {
        let worker = SuiteWorker(file, invocation, options, schemaCommand: SchemaCommands.run)
        let (suite, found) = try worker.check()
        failures = found
        tests += suite.tests(of: options.selection).count
      } catch let failure as Failure {
        failures = [failure]
      }
      for failure in failures {
        isValid = false
        if let message = failure.message { console.error.report(ErrorReport(message, failure.status)) }
      }
    }
    guard isValid else { throw Failure(reported: .input) }
    let list = [(tests, "test"), ((files + shared).count, "file")].map { "\($0) \($1)\($0 == 1 ? "" : "s")" }
    console.output.print("no mistakes in \(list[0]) (\(list[1]))\n")
  }

  /// Formats the files, and prints the names of those that changed, or the formatted text of standard input.
  private func format(_ console: Console) throws(Failure) {
    for file in files + shared {
      let (text, isChanged) = try SuiteFormatter.format(file: file)
      guard file != "-" else {
        console.output.write(text)
        console.output.flush()
        continue
      }
      guard isChanged else { continue }
      if let problem = FileContents.replace(file, with: text) {
        throw Failure(.input, file, problem)
      }
      console.output.print("\(TerminalText.escape(file))\n")
    }
  }

  /// The command line of the process that runs a suite.
  private func arguments(_ file: String) -> [String] {
    [Self.processName, "test"] + words + ["--report", "ndjson", "--", file]
  }
}
