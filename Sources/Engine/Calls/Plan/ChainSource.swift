import RPCurlBase
import RPCurlChain
import RPCurlInterceptors
import RPCurlPlatform
import RPCurlPluginHost
import RPCurlProgram
import RPCurlProtocols

/// How the interceptors of a chain are created.
package struct ChainSetup {
  /// Where the interceptors print.
  fileprivate let console: Console
  fileprivate let verbosity: Int
  fileprivate let waitLimit: Duration?
  fileprivate let isDry: Bool
  /// The time of the commands that values come from.
  fileprivate let time: CommandTime

  /// - Parameters:
  ///   - console: Where the interceptors print.
  ///   - verbosity: The number of `-v`; from 1, missing optional plugins are reported; from 2, debug logs of
  ///     interceptors are printed.
  ///   - waitLimit: How long to wait for data from a pipe (`--max-time`); nil for no limit.
  ///   - isDry: Whether no call is made, so that the interceptors create and change no file.
  ///   - time: Counts the time of the commands that values come from.
  package init(
    _ console: Console, verbosity: Int, waitLimit: Duration?, isDry: Bool = false,
    time: CommandTime = CommandTime()
  ) {
    self.time = time
    self.console = console
    self.verbosity = verbosity
    self.waitLimit = waitLimit
    self.isDry = isDry
  }
}

/// The interceptors of a chain, with their loaded plugins.
package struct ChainSource {
  /// An interceptor of the chain.
  package struct Member {
    /// The option that specified it.
    package let entry: ChainArguments.Entry
    package let registration: InterceptorRegistration
    /// Its plugin; nil if it is built in.
    package let plugin: LoadedPlugin?
    /// The defaults that apply besides its settings, as `KEY=VALUE`; empty for a plugin.
    package let defaults: [String]
    /// Whether a pattern without a method was reported.
    let unknownMethods = Once()
    /// The word for what it is.
    package var kind: String { plugin != nil ? "plugin" : entry.isScript ? "script" : "built in" }
  }

  /// The interceptors in the order of the request path.
  package var members: [Member] = []

  /// The interceptors for the client.
  package var registrations: [InterceptorRegistration] { members.map(\.registration) }

  /// Whether an interceptor needs the certificates of servers.
  package var readsCertificates: Bool {
    registrations.contains { $0.factory.declaration.readsCertificates }
  }

  /// Creates an empty chain.
  package init() {}

  /// Creates the interceptors and loads the plugins.
  ///
  /// - Parameters:
  ///   - arguments: The interceptors.
  ///   - setup: How they are created.
  /// - Throws: `Failure` if an interceptor is invalid or a plugin cannot be loaded.
  package init(_ arguments: ChainArguments, _ setup: ChainSetup) throws(Failure) {
    do {
      for entry in arguments.entries {
        if let member = try Self.member(entry, setup) { members.append(member) }
      }
      try arrange()
    } catch {
      unload()
      throw error
    }
  }

  /// Orders the interceptors as the request passes them.
  ///
  /// - Throws: `Failure` if their placements contradict each other, or name an interceptor that is not on the chain.
  package mutating func arrange() throws(Failure) {
    let order: [InterceptorRegistration]
    do {
      order = try ChainBuilder(registrations).order()
    } catch {
      let member = members.first { $0.registration.name == error.interceptor }
      throw Failure(.interceptor, "", error.description, hint: error.hint).at(
        member?.entry.origin ?? .session)
    }
    guard zip(order, members).contains(where: { $0.id != $1.registration.id }) else { return }
    // A session arranges its chain for each interceptor that it adds, so a search for each would take cubic time.
    let known = Dictionary(members.map { ($0.registration.id, $0) }, uniquingKeysWith: { first, _ in first })
    members = order.compactMap { known[$0.id] }
  }

  /// Creates an interceptor. Returns nil for an optional plugin that is missing.
  package static func member(_ entry: ChainArguments.Entry, _ setup: ChainSetup) throws(Failure) -> Member? {
    do {
      return try make(entry, setup)
    } catch let error as ConfigurationError {
      throw Failure(.interceptor, "", error.description, hint: error.hint).at(entry.origin)
    } catch let error as PluginError {
      throw Failure(.interceptor, "", error.description, hint: other(entry) ?? error.hint).at(entry.origin)
    } catch {
      throw Failure(.internalError, "interceptor", "\(error)")
    }
  }

  /// The hint for a plugin with the name of a built-in interceptor or of a script; nil for any other.
  private static func other(_ entry: ChainArguments.Entry) -> String? {
    guard case .plugin(let text, _) = entry,
      case let name = String(text.parted(at: ",").before.drop { $0 == "?" })
    else { return nil }
    if BuiltIns.all.contains(where: { $0.name == name }) {
      return "\(name) is built in: write --use instead of --plugin"
    }
    guard ScriptFile.isScript(name) else { return nil }
    return "it is a script: write --script \(name.contains("/") ? name : "./\(name)")"
  }

  private static func make(_ entry: ChainArguments.Entry, _ setup: ChainSetup) throws -> Member? {
    let console = setup.console
    let loader = loader(console, log: console.log(showingDebug: setup.verbosity > 1))
    let sources = ValueSources.system(waitLimit: setup.waitLimit, time: setup.time)
    switch entry {
    case .builtIn, .script:
      let spec = try BuiltIns.spec(parsing: entry.text, sources: sources)
      let registration = try BuiltIns.registration(
        spec, services: SystemServices(console, waitLimit: setup.waitLimit, isDry: setup.isDry))
      let defaults = BuiltIns.all.first { $0.name == spec.name }?.defaults(
        besides: Set(spec.settings.map(\.key)))
      return Member(entry: entry, registration: registration, plugin: nil, defaults: defaults ?? [])
    case .plugin(let text, let origin) where text.hasPrefix("?"):
      let spec = try InterceptorSpec(parsing: String(text.dropFirst()), sources: sources)
      guard loader.searchPath.has(spec.name) else {
        if setup.verbosity > 0 {
          console.error.write("* plugin \(TerminalText.escape(spec.name)): not found, skipped\n")
        }
        return nil
      }
      return try make(.plugin(String(text.dropFirst()), origin), setup)
    case .plugin(let text, _):
      let plugin = try loader.load(InterceptorSpec(parsing: text, sources: sources))
      return Member(entry: entry, registration: plugin.registration, plugin: plugin, defaults: [])
    }
  }

  /// Whether an interceptor belongs to a plugin.
  package func isPlugin(_ registration: InterceptorRegistration) -> Bool {
    members.contains { $0.registration.id == registration.id && $0.plugin != nil }
  }

  /// Unloads the plugins. No call may be open.
  package func unload() {
    for member in members.reversed() { member.plugin?.unload() }
  }

  /// Finds and loads plugins.
  ///
  /// - Parameters:
  ///   - console: Where the crash of a plugin is reported.
  ///   - log: Receives the plugins' log records; by default they are printed, without debug records.
  package static func loader(_ console: Console, log: LogSink? = nil) -> PluginLoader {
    let diagnostics = console.error.diagnostics
    let isJSON = diagnostics.format == .json
    (!diagnostics.showsErrors ? CrashReports.silent : isJSON ? .json : .text).use()
    return PluginLoader(
      searchPath: searchPath, hostVersion: Version.current, shared: console.shared,
      log: log ?? console.log(showingDebug: false))
  }

  /// Where plugins are found.
  package static var searchPath: PluginSearchPath {
    PluginSearchPath(environment: EnvironmentVariables.value, prefix: Installation.prefix)
  }
}

extension Console {
  /// Prints log records of interceptors. With `--silent`, only debug records are printed, if enabled.
  package func log(showingDebug showsDebug: Bool) -> LogSink {
    { [error] record in
      let line = "\(TerminalText.escape("\(record.source): \(record.text)"))\n"
      if record.level > .debug {
        error.remark(line)
      } else if showsDebug {
        error.write(line)
      }
    }
  }
}
