import Glibc
import Interception
import Interceptors
import Output
import PluginHost
import System

/// The interceptors that were named, with the plugins that were loaded for them.
package struct ChainSource {
  /// One interceptor of the chain.
  package struct Member {
    /// How it was named.
    package let entry: ChainArguments.Entry
    package let registration: InterceptorRegistration
    /// The plugin that it is of; `nil` when it is built in.
    package let plugin: LoadedPlugin?
  }

  /// The interceptors in the order written.
  package var members: [Member] = []
  /// Shows what interceptors have to say.
  package let log: LogSink

  /// What calls pass through.
  package var registrations: [InterceptorRegistration] { members.map(\.registration) }

  /// No interceptors.
  package init() {
    log = Self.log(showingDebug: false)
  }

  /// Makes the interceptors and loads the plugins.
  ///
  /// - Parameter verbosity: From 1 on it is said which optional plugins are not there, from 2 on what interceptors have
  ///   to say for those who look for a mistake.
  package init(_ arguments: ChainArguments, verbosity: Int) throws(Failure) {
    log = Self.log(showingDebug: verbosity > 1)
    for entry in arguments.entries {
      if let member = try Self.member(entry, verbosity: verbosity) { members.append(member) }
    }
  }

  /// Makes one interceptor; `nil` for an optional plugin that is not there.
  package static func member(_ entry: ChainArguments.Entry, verbosity: Int) throws(Failure) -> Member? {
    do {
      return try make(entry, verbosity)
    } catch let error as ConfigurationError {
      throw Failure(.interceptor, "", error.description, hint: error.hint).at(entry.origin)
    } catch let error as PluginError {
      throw Failure(.interceptor, "", error.description, hint: error.hint).at(entry.origin)
    } catch {
      throw Failure(.internalError, "interceptor", "\(error)")
    }
  }

  private static func make(_ entry: ChainArguments.Entry, _ verbosity: Int) throws -> Member? {
    let log = log(showingDebug: verbosity > 1)
    switch entry {
    case .builtIn(let text, _):
      let registration = try BuiltIns.registration(
        InterceptorSpec(parsing: text, sources: .system), services: SystemServices())
      return Member(entry: entry, registration: registration, plugin: nil)
    case .plugin(let text, let origin) where text.hasPrefix("?"):
      let spec = try InterceptorSpec(parsing: String(text.dropFirst()), sources: .system)
      guard loader(log).searchPath.has(spec.name) else {
        if verbosity > 0 {
          StandardError.write("* plugin \(TerminalText.escape(spec.name)): not there, so skipped\n")
        }
        return nil
      }
      return try make(.plugin(String(text.dropFirst()), origin), verbosity)
    case .plugin(let text, _):
      let plugin = try loader(log).load(InterceptorSpec(parsing: text, sources: .system))
      return Member(entry: entry, registration: plugin.registration, plugin: plugin)
    }
  }

  /// Whether it is a plugin's, and not built in.
  package func isPlugin(_ registration: InterceptorRegistration) -> Bool {
    members.contains { $0.registration.id == registration.id && $0.plugin != nil }
  }

  /// Lets the plugins clean up, when no call is open any more.
  package func unload() {
    for member in members.reversed() { member.plugin?.unload() }
  }

  /// Shows what an interceptor has to say, as a remark unless it was asked for.
  package static func log(showingDebug showsDebug: Bool) -> LogSink {
    { record in
      let line = "\(TerminalText.escape("\(record.source): \(record.text)"))\n"
      if record.level > .debug {
        StandardError.remark(line)
      } else if showsDebug {
        StandardError.write(line)
      }
    }
  }

  /// Finds and loads plugins.
  package static func loader(_ log: @escaping LogSink = log(showingDebug: false)) -> PluginLoader {
    let isJSON = StandardError.errorFormat == .json
    (!StandardError.showsErrors ? CrashReports.silent : isJSON ? .json : .text).use()
    return PluginLoader(
      searchPath: PluginSearchPath(
        environment: EnvironmentVariables.value, prefix: Installation.prefix),
      hostVersion: Version.current, log: log)
  }
}
