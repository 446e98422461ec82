import Calls
import CommandLine
import Interception
import Interceptors
import Output
import PluginHost
import Protobuf
import RPCProtocols

/// `rpcurl plugins list`: lists the available interceptors.
struct PluginsListCommand {
  private let format: SchemaFormat

  init(_ invocation: Invocation) {
    format = invocation.choice(.textFormat) ?? .text
  }

  func run() {
    let list = PluginList(ChainSource.loader())
    StandardOutput.write(Array((format == .json ? list.json : list.text).utf8))
    StandardOutput.flush()
  }
}

/// `rpcurl plugins check`: tests a plugin.
struct PluginsCheckCommand {
  private let schema: SchemaOptions
  private let method: String?
  private let callTime: Duration?
  private let plugin: String

  init(_ invocation: Invocation) {
    schema = SchemaOptions(invocation)
    method = invocation.text(.method)
    callTime = invocation.duration(.callTime)
    plugin = invocation.positionals.first?.text ?? ""
  }

  func run() throws {
    let spec: InterceptorSpec
    do throws(ConfigurationError) {
      spec = try InterceptorSpec(parsing: plugin, sources: .system)
    } catch {
      throw Failure(.interceptor, "", error.description, hint: error.hint)
    }
    let check = PluginCheck(
      loader: ChainSource.loader(), limit: callTime ?? .seconds(2), method: try subject()
    ) { line in
      let text =
        switch line {
        case .passed(let step): "ok    \(step)"
        case .note(let note): "note  \(note)"
        }
      StandardOutput.write(Array("\(TerminalText.escape(text))\n".utf8))
      // Output must not be lost if the plugin crashes next.
      StandardOutput.flush()
    }
    do throws(PluginCheck.Fault) {
      try check.run(spec)
    } catch {
      throw Failure(.interceptor, error.step, error.reason, hint: error.hint)
    }
    StandardOutput.write(Array("no problems found\n".utf8))
    StandardOutput.flush()
  }

  /// The method of the test calls; nil if none is given.
  private func subject() throws(Failure) -> MethodDescriptor? {
    guard let method else {
      guard !schema.hasSources else {
        throw Failure(.usage, "missing option", "--method", hint: "use --method with a method of the schema")
      }
      return nil
    }
    return try SchemaSource.find(
      MethodName(method) ?? MethodName(service: "", method: method), in: SchemaSource.pool(schema))
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

  func run() throws {
    let template = try PluginTemplate(name: name, language: lang)
    let directory = dir ?? name
    try template.write(to: directory)
    let place = TerminalText.escape(directory)
    let text = "created \(place); build it with make -C \(place), check it with make -C \(place) test\n"
    StandardOutput.write(Array(text.utf8))
    StandardOutput.flush()
  }
}
