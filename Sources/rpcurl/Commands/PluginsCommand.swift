import RPCurlBase
import RPCurlChain
import RPCurlEngine
import RPCurlInterceptors
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

/// `rpcurl plugins check`: tests a plugin.
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
    let spec: InterceptorSpec
    do throws(ConfigurationError) {
      spec = try InterceptorSpec(parsing: plugin, sources: .system(waitLimit: nil))
    } catch {
      throw Failure(.interceptor, "", error.description, hint: error.hint)
    }
    var (isComplete, hasWarnings) = (true, false)
    let check = PluginCheck(
      loader: ChainSource.loader(console), limit: callTime ?? .seconds(2), method: try subject(console)
    ) { line in
      let text =
        switch line {
        case .passed(let step): "ok    \(step)"
        case .note(let note): "note  \(note)"
        case .warning(let warning): "warn  \(warning)"
        case .unexercised(let gap): "note  not exercised: \(gap)"
        }
      if case .unexercised = line { isComplete = false }
      if case .warning = line { hasWarnings = true }
      // Flushed: it must not be lost if the plugin crashes next.
      console.output.print("\(TerminalText.escape(text))\n")
    }
    do throws(PluginCheck.Fault) {
      try check.run(spec)
    } catch {
      throw Failure(.interceptor, error.step, error.reason, hint: error.hint)
    }
    let result = hasWarnings ? "only warnings found" : "no problems found"
    console.output.print(isComplete ? "\(result)\n" : "\(result) in what was exercised\n")
  }

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
