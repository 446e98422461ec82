import ArgumentParser
import Interception
import PluginHost
import Protobuf
import RPCProtocols

/// `rpcurl plugins`: what can be put on the chain, and help for those who write plugins.
struct PluginsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugins",
    abstract: "List interceptors and plugins, check a plugin, or start a new one.",
    usage: "rpcurl plugins [list|check|new] [OPTIONS] …",
    subcommands: [List.self, Check.self, New.self], defaultSubcommand: List.self)

  /// The forms of the list.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  /// `rpcurl plugins list`
  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "List the built-in interceptors and the plugins of the search path (the default).",
      usage: "rpcurl plugins [list] [OPTIONS]",
      discussion: """
        The search path is $RPCURL_PLUGIN_PATH, $XDG_DATA_HOME/rpcurl/plugins, and lib/rpcurl/plugins where rpcurl is \
        installed. A file is looked at before any of it runs; one that is refused is shown with the reason.
        """)

    @Option(help: ArgumentHelp("The form of the list: text or json.", valueName: "format"))
    var format = Format.text

    @OptionGroup(title: "Errors") var diagnostics: DiagnosticOptions

    func run() {
      let list = PluginList(ChainSource.loader())
      StandardOutput.write(Array((format == .json ? list.json : list.text).utf8))
      StandardOutput.flush()
    }
  }

  /// `rpcurl plugins check`
  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Check a plugin: its file, without running it, and then its whole life.",
      usage: "rpcurl plugins check [OPTIONS] NAME|PATH[,KEY=VALUE…]",
      discussion: """
        The plugin is loaded with strict=true and takes part in calls of all four kinds that are answered here, with \
        success, an error and a cancellation, alone and among interceptors that hold every value, respond or fail. \
        Messages are of the type google.protobuf.Value, unless --method names a method. The exit code is 7 when \
        something is wrong: a token is used twice or never, every call of a kind fails, or a callback does not return.
        """)

    @OptionGroup(title: "Schema") var schema: SchemaOptions

    @Option(
      help: ArgumentHelp(
        "Make calls of this method of the schema, with every field set.", valueName: "method"))
    var method: String?

    @Option(
      help: ArgumentHelp(
        "How long each call may take until it is canceled (2s).", valueName: "duration"))
    var callTime: DurationArgument?

    @Argument(
      help: ArgumentHelp("The plugin, with its configuration.", valueName: "name|path[,key=value…]"))
    var plugin: String

    @OptionGroup(title: "Errors") var diagnostics: DiagnosticOptions

    func run() throws {
      let spec: InterceptorSpec
      do throws(ConfigurationError) {
        spec = try InterceptorSpec(parsing: plugin, sources: .system)
      } catch {
        throw Failure(.interceptor, "", error.description, hint: error.hint)
      }
      let check = PluginCheck(
        loader: ChainSource.loader(), limit: callTime?.duration ?? .seconds(2), method: try subject()
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

  /// `rpcurl plugins new`
  struct New: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "new",
      abstract: "Write a small plugin that builds, to be changed.",
      usage: "rpcurl plugins new [OPTIONS] NAME",
      discussion: """
        It adds a header to each request. make builds it, make test checks it.

        Example:
          rpcurl plugins new hello && make -C hello test
        """)

    @Option(help: ArgumentHelp("The language: c or swift.", valueName: "language"))
    var lang = PluginTemplate.Language.c

    @Option(
      help: ArgumentHelp("Where to write it (default: a directory of its name, here).", valueName: "dir"))
    var dir: String?

    @Argument(help: ArgumentHelp("Its name: lower-case letters, digits and hyphens.", valueName: "name"))
    var name: String

    @OptionGroup(title: "Errors") var diagnostics: DiagnosticOptions

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
}
