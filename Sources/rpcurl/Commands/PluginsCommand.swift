import RPCurlBase
import RPCurlChain
import RPCurlEngine
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlPlatform
import RPCurlPluginHost
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// `rpcurl plugins list`: lists the available interceptors.
struct PluginsListCommand {
  private let format: SchemaFormat

  init(_ invocation: Invocation) {
    format = invocation.choice(.textFormat) ?? .text
  }

  func run(on console: Console) {
    let list = PluginList(ChainSource.loader(console))
    console.output.print(format == .json ? list.json : list.text(columns: console.output.columns))
  }
}

/// `rpcurl plugins check`: tests a plugin or a script.
struct PluginsCheckCommand {
  private let schema: Invocation
  private let method: String?
  private let callTime: Duration?
  private let plugin: String

  init(_ invocation: Invocation) {
    schema = invocation
    method = invocation.text(.method)
    callTime = invocation.duration(.callTime)
    plugin = invocation.positionals.first?.text ?? ""
  }

  func run(on console: Console) throws {
    let loader = ChainSource.loader(console)
    var (isComplete, hasWarnings) = (true, false)
    let report = { (line: PluginCheck.Line) in
      if case .unexercised = line { isComplete = false }
      if case .warning = line { hasWarnings = true }
      // Flushed: it must not be lost if the plugin crashes next.
      console.output.print("\(TerminalText.escape(Self.text(of: line)))\n")
    }
    let check = PluginCheck(
      loader: loader, limit: callTime ?? .seconds(2), method: try subject(console), report: report)
    do {
      if isScript {
        try runScript(check, report)
      } else {
        try check.run(InterceptorSpec(parsing: plugin, sources: .system(waitLimit: nil)))
      }
    } catch let error as PluginCheck.Fault {
      throw Interrupt.failure ?? Failure(.interceptor, error.step, error.reason, hint: error.hint)
    } catch let error as ConfigurationError {
      throw Failure(.interceptor, isScript ? "start" : "", error.description, hint: error.hint)
    }
    let result = hasWarnings ? "only warnings found" : "no problems found"
    console.output.print(isComplete ? "\(result)\n" : "\(result) in what was exercised\n")
  }

  private static func text(of line: PluginCheck.Line) -> String {
    switch line {
    case .passed(let step): "ok    \(step)"
    case .note(let note): "note  \(note)"
    case .warning(let warning): "warn  \(warning)"
    case .unexercised(let gap): "note  not exercised: \(gap)"
    }
  }

  // MARK: Scripts

  /// Whether the argument is the command of a script.
  private var isScript: Bool {
    guard let words = try? CommandWords.split(plugin) else { return false }
    let name = words[0]
    return ScriptFile.isScript(name)
      || (name.contains("/")
        ? !name.hasSuffix(".so") && ScriptFile.isProgram(name) : words.count > 1 && ScriptFile.isInPath(name))
  }

  /// Starts the script, and makes the calls. Questions for a person get the reply "y".
  private func runScript(_ check: PluginCheck, _ report: @escaping (PluginCheck.Line) -> Void) throws {
    // A signal ends the script too.
    _ = Interrupt.install()
    let questions = Locked<[String]>([])
    let script: ScriptForCheck
    do {
      script = try ScriptForCheck(plugin) { question in
        questions.withLock { if !$0.contains(question) { $0.append(question) } }
        return "y"
      }
    } catch let error as LanguageError {
      throw PluginCheck.Fault(step: "start", reason: error.reason, hint: error.hint)
    }
    report(.passed("started: \(plugin)"))
    for line in script.hello { report(.passed("first line: \(line)")) }
    if script.summary.isEmpty { report(.note("it has no summary in its first line")) }
    defer {
      for question in questions.withLock({ $0 }) {
        report(.note("it asks a person: \(JSONValue.quoted(question)); the check replied y"))
      }
    }
    try check.run(CheckedInterceptor(script: script.registration, methods: script.methods) { script.failure })
  }

  // MARK: The method

  /// The method of the test calls; nil if none is given.
  private func subject(_ console: Console) throws(Failure) -> MethodDescriptor? {
    guard let method else {
      guard !schema.hasSchema else {
        throw Failure(.usage, "missing option", "--method", hint: "use --method with a method of the schema")
      }
      return nil
    }
    return try SchemaSource.find(
      MethodName(method) ?? MethodName(service: "", method: method),
      in: SchemaSource.pool(schema, console.error))
  }
}

/// `rpcurl plugins new`: writes the source of a new plugin.
struct PluginsNewCommand {
  private let lang: PluginTemplate.Language
  private let dir: String?
  private let name: String

  init(_ invocation: Invocation) {
    lang = invocation.choice(.lang) ?? .c
    dir = invocation.text(.dir)
    name = invocation.positionals.first?.text ?? ""
  }

  func run(on console: Console) throws {
    let template = try PluginTemplate(name: name, language: lang)
    let directory = dir ?? name
    try template.write(to: directory)
    let place = TerminalText.escape(directory)
    let build = template.isScript ? "" : "build it with make -C \(place), "
    console.output.print("created \(place); \(build)check it with make -C \(place) test\n")
  }
}
