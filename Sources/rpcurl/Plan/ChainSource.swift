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
  init(_ arguments: ChainArguments) throws(Failure) {
    for entry in arguments.entries {
      do {
        try add(entry)
      } catch let error as ConfigurationError {
        throw Failure(.interceptor, "", error.description, hint: error.hint)
      } catch let error as PluginError {
        throw Failure(.interceptor, "", error.description, hint: error.hint)
      } catch {
        throw Failure(.internalError, "interceptor", "\(error)")
      }
    }
  }

  private mutating func add(_ entry: ChainArguments.Entry) throws {
    switch entry {
    case .builtIn(let text):
      registrations.append(
        try BuiltIns.registration(
          InterceptorSpec(parsing: text, sources: .system), services: SystemServices()))
    case .plugin(let text):
      let plugin = try Self.loader.load(InterceptorSpec(parsing: text, sources: .system))
      plugins.append(plugin)
      registrations.append(plugin.registration)
    }
  }

  /// Lets the plugins clean up, when no call is open any more.
  func unload() {
    for plugin in plugins.reversed() { plugin.unload() }
  }

  /// Shows what an interceptor has to say.
  static let log: LogSink = { record in
    guard record.level > .debug else { return }
    StandardError.write("\(TerminalText.escape("\(record.source): \(record.text)"))\n")
  }

  private static var loader: PluginLoader {
    PluginLoader(
      searchPath: PluginSearchPath(environment: { getenv($0).map { String(cString: $0) } }, prefix: prefix),
      hostVersion: Version.current, log: log)
  }

  /// Where rpcurl is installed: the directory above that of its binary.
  private static var prefix: String {
    guard let path = FileContents.target(ofLink: "/proc/self/exe") else { return "/usr/local" }
    return path.split(separator: "/").dropLast(2).reduce(into: "") { $0 += "/\($1)" }
  }
}
