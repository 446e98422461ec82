import Calls
import CommandLine
import Interception
import Interceptors
import Output
import PluginHost
import Protobuf
import RPCProtocols

/// `rpcurl plugins list`: what can be put on the chain.
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

/// `rpcurl plugins check`: tries a plugin.
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
        case .note(let words): "note  \(words)"
        }
      StandardOutput.write(Array("\(TerminalText.escape(text))\n".utf8))
      // A crash that follows must not take what was said with it.
      StandardOutput.flush()
    }
    do throws(PluginCheck.Fault) {
      try check.run(spec)
    } catch {
      throw Failure(.interceptor, error.step, error.reason, hint: error.hint)
    }
    StandardOutput.write(Array("nothing wrong was found\n".utf8))
    StandardOutput.flush()
  }

  /// The method that the calls are of; `nil` if none is named.
  private func subject() throws(Failure) -> MethodDescriptor? {
    guard let method else {
      guard !schema.hasSources else {
        throw Failure(.usage, "plugins check", "--method is missing", hint: "name a method of the schema")
      }
      return nil
    }
    return try SchemaSource.find(
      MethodName(method) ?? MethodName(service: "", method: method), in: SchemaSource.pool(schema))
  }
}

/// `rpcurl plugins new`: writes a plugin to start from.
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
    let words = "wrote \(place): make -C \(place) builds it, make -C \(place) test checks it\n"
    StandardOutput.write(Array(words.utf8))
    StandardOutput.flush()
  }
}
