import RPCurlBase
import RPCurlEngine
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols

#if SERVER
  import RPCurlProxy
#endif

/// The program: parses the arguments, runs the command and exits.
@main
enum RPCURL {
  static func main() {
    StandardStreams.ensureOpen()
    // Writing to a closed connection must be an error, not end the process.
    signal(SIGPIPE, SIG_IGN)
    let console = Console(output: isProcessOfSuite ? StandardStreams.detachOutput() : 1)
    var invocation = Parser.parse(cStrings: rawArguments())
    do {
      if let request = invocation.request ?? helpOfInterceptor(invocation),
        invocation.errors.isEmpty || ignoresErrors(request)
      {
        return handle(request, on: console.output)
      }
      console.error.configure(Diagnostics(invocation))
      if case .topicHelp(let name) = invocation.request, let near = HelpTopic.nearest(to: name) {
        throw Failure(
          .usage, "help \(name)", "no such command, interceptor or option", hint: "did you mean \(near)?")
      }
      try configure(&invocation, console)
      try run(invocation, on: console)
      console.output.endIfFailed()
      if console.reports.areIncomplete { exit(ExitStatus.interceptor.rawValue) }
    } catch let failure as Failure {
      console.output.endIfFailed()
      if let message = failure.message { console.error.report(ErrorReport(message, failure.status)) }
      exit(failure.status.rawValue)
    } catch {
      // Commands throw only `Failure`.
      let message = Failure.Message(what: "internal error", why: "\(error)")
      console.error.report(ErrorReport(message, .internalError))
      exit(ExitStatus.internalError.rawValue)
    }
  }

  /// What `--use NAME,help` asks for; nil without that, and for a plugin.
  private static func helpOfInterceptor(_ invocation: Invocation) -> Invocation.Request? {
    let names = invocation.texts(.use).compactMap { $0.hasSuffix(",help") ? String($0.dropLast(5)) : nil }
    return names.first { HelpTopic.paragraphs(of: $0) != nil }.map { .topicHelp($0) }
  }

  /// Whether the request is for help or completion, which are given even if other arguments are invalid.
  private static func ignoresErrors(_ request: Invocation.Request) -> Bool {
    switch request {
    case .help, .languageHelp, .complete: true
    case .topicHelp(let name): HelpTopic.paragraphs(of: name) != nil
    default: false
    }
  }

  private static func handle(_ request: Invocation.Request, on output: StandardOutput) {
    let text: String
    switch request {
    case .help(nil, let isWhole): text = Help.program(isWhole: isWhole)
    case .help(let command?, let isWhole): text = Help.command(command, isWhole: isWhole)
    case .languageHelp: text = Help.language
    case .topicHelp(let name):
      text = (HelpTopic.paragraphs(of: name) ?? []).flatMap { TextLayout.wrapped($0, columns: 80, indent: 4) }
        .map { $0 + "\n" }.joined()
    case .pluginsHelp(let isWhole): text = Help.plugins(isWhole: isWhole)
    case .version: text = "rpcurl \(Version.current)\n"
    case .dump: text = TableDump.json
    case .complete(let arguments): return CompleteCommand.run(arguments, on: output)
    }
    if case .help(_, isWhole: true) = request, page(text, on: output) { return }
    output.print(text)
  }

  /// Shows a text in the user's pager. Returns false if it fits the terminal, or if there is no terminal or pager.
  private static func page(_ text: String, on output: StandardOutput) -> Bool {
    guard output.isTerminal,
      text.utf8.count(where: { $0 == UInt8(ascii: "\n") }) >= TerminalModes.size.rows
    else { return false }
    // The pager handles Ctrl-C.
    signal(SIGINT, SIG_IGN)
    defer { signal(SIGINT, SIG_DFL) }
    let isShown = try? Pager.show(text, EnvironmentVariables.value) { descriptor in
      var end = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      while poll(&end, 1, -1) < 0, errno == EINTR {}
      return true
    }
    return isShown ?? false
  }

  /// Adds the arguments of the configuration file. Throws the first error of the arguments or the file.
  private static func configure(_ invocation: inout Invocation, _ console: Console) throws(Failure) {
    do throws(Failure) {
      try Configuration.read(into: &invocation, environment: EnvironmentVariables.value)
      console.error.configure(Diagnostics(invocation))
    } catch {
      // Errors of the command line come first.
      guard invocation.errors.isEmpty else { throw Failure(invocation.errors[0], of: invocation.command) }
      throw error
    }
    if let error = invocation.errors.first {
      throw Failure(error.afterTarget(of: invocation), of: invocation.command)
    }
    report(invocation, on: console.error)
  }

  /// Prints which credentials do not apply and, with `-v`, what was read.
  private static func report(_ invocation: Invocation, on error: StandardError) {
    let configuration = invocation.configuration
    if let warning = configuration.warning, !isProcessOfSuite {
      error.remark("rpcurl: warning: \(TerminalText.escape(warning))\nhint: run \"rpcurl trust\"\n")
    }
    guard invocation.count(.verbose) > 0 else { return }
    for file in configuration.files {
      error.write("* configuration: \(TerminalText.escape(file.description))\n")
    }
    if let target = invocation.configuredTarget, let place = target.origin.place,
      ConfiguredTarget.isUsed(by: invocation)
    {
      error.write("* target: \(TerminalText.escape("\(Target.shown(target.text)) (\(place))"))\n")
    }
  }

  /// Whether this process runs one suite of several: the process of the run reports what concerns all.
  static var isProcessOfSuite: Bool {
    Swift.CommandLine.unsafeArgv[0].map { strcmp($0, TestCommand.processName) } == 0 || isProcessOfLoad
  }

  /// Whether this process runs the tests of a suite for a load: standard input says which.
  static var isProcessOfLoad: Bool {
    Swift.CommandLine.unsafeArgv[0].map { strcmp($0, SuiteLoad.processName) } == 0
  }

  private static func run(_ invocation: Invocation, on console: Console) throws {
    switch invocation.command {
    case .call: try CallCommand(invocation).run(on: console)
    case .session: try SessionCommand(invocation).run(on: console)
    case .run: try RunCommand(invocation).run(on: console)
    case .test: try TestCommand(invocation).run(on: console)
    case .list: try ListCommand(invocation).run(on: console)
    case .describe: try DescribeCommand(invocation).run(on: console)
    case .template: try TemplateCommand(invocation).run(on: console)
    case .export: try ExportCommand(invocation).run(on: console)
    case .convert: try ConvertCommand(invocation).run(on: console)
    case .health: try HealthCheck(invocation, on: console).run()
    case .check: try ServerCheck(invocation, on: console).run()
    case .pluginsList: PluginsListCommand(invocation).run(on: console)
    case .pluginsCheck: try PluginsCheckCommand(invocation).run(on: console)
    case .pluginsNew: try PluginsNewCommand(invocation).run(on: console)
    case .completion: try CompletionCommand(invocation).run(on: console.output)
    case .version: VersionCommand(invocation).run(on: console.output)
    case .trust: try TrustCommand(invocation).run(on: console.output)
    case .diff: try DiffCommand(invocation).run(on: console)
    case .load: try LoadCommand(invocation).run(on: console)
    case .proxy, .serve:
      #if SERVER
        try ProxyCommand(invocation).run(on: console)
      #else
        throw Failure(
          .usage, CommandTable[invocation.command].name, "this build of rpcurl cannot listen",
          hint: "make release builds all of it")
      #endif
    }
  }
}

/// The arguments as bytes: `CommandLine.arguments` would repair what is not UTF-8.
///
/// Not of the main actor: a closure there would link the runtime of concurrency.
private func rawArguments() -> [UnsafePointer<CChar>] {
  let count = Int(Swift.CommandLine.argc)
  return UnsafeBufferPointer(start: Swift.CommandLine.unsafeArgv, count: count).dropFirst().compactMap {
    $0.map { UnsafePointer($0) }
  }
}
