import Glibc
import Interception
import Interceptors
import PluginHost

/// The interceptors that the command line names, with the plugins that were loaded for them.
struct ChainSource {
  /// The interceptors in the order written.
  private(set) var registrations: [InterceptorRegistration] = []
  private var plugins: [LoadedPlugin] = []

  /// Makes the interceptors and loads the plugins.
  ///
  /// - Parameter isVerbose: Whether it is said which optional plugins are not there.
  init(_ arguments: ChainArguments, isVerbose: Bool) throws(Failure) {
    for entry in arguments.entries {
      do {
        try add(entry, isVerbose)
      } catch let error as ConfigurationError {
        throw Failure(.interceptor, "", error.description, hint: error.hint)
      } catch let error as PluginError {
        throw Failure(.interceptor, "", error.description, hint: error.hint)
      } catch {
        throw Failure(.internalError, "interceptor", "\(error)")
      }
    }
  }

  private mutating func add(_ entry: ChainArguments.Entry, _ isVerbose: Bool) throws {
    switch entry {
    case .builtIn(let text):
      registrations.append(
        try BuiltIns.registration(
          InterceptorSpec(parsing: text, sources: .system), services: SystemServices()))
    case .plugin(let text) where text.hasPrefix("?"):
      let spec = try InterceptorSpec(parsing: String(text.dropFirst()), sources: .system)
      guard Self.loader.searchPath.has(spec.name) else {
        if isVerbose {
          StandardError.write("* plugin \(TerminalText.escape(spec.name)): not there, so skipped\n")
        }
        return
      }
      try add(.plugin(String(text.dropFirst())), isVerbose)
    case .plugin(let text):
      let plugin = try Self.loader.load(InterceptorSpec(parsing: text, sources: .system))
      plugins.append(plugin)
      registrations.append(plugin.registration)
    }
  }

  /// Whether it is a plugin's, and not built in.
  func isPlugin(_ registration: InterceptorRegistration) -> Bool {
    plugins.contains { $0.registration.id == registration.id }
  }

  /// Lets the plugins clean up, when no call is open any more.
  func unload() {
    for plugin in plugins.reversed() { plugin.unload() }
  }

  /// Shows what an interceptor has to say.
  static let log: LogSink = { record in
    guard record.level > .debug else { return }
    StandardError.remark("\(TerminalText.escape("\(record.source): \(record.text)"))\n")
  }

  /// Finds and loads plugins.
  static var loader: PluginLoader {
    PluginLoader(
      searchPath: PluginSearchPath(
        environment: { getenv($0).map { String(cString: $0) } }, prefix: Installation.prefix),
      hostVersion: Version.current, log: log)
  }
}
