/// A plugin: makes an interceptor for each call that it wants to take part in.
///
/// ```swift
/// final class Hello: Plugin {
///   static let name = "hello"
///   init(host: Host) {}
///   func open(_ call: Call) -> (any Interceptor)? { Greeter() }
/// }
///
/// final class Greeter: Interceptor {
///   let stages: Stages = .requestStart
///   func requestStart(_ start: RequestStart) throws -> Verdict {
///     try start.headers.set("x-hello", "world")
///     return .proceed
///   }
/// }
///
/// @_cdecl("rpcurl_plugin_entry") public func entry() -> UnsafeRawPointer { export(Hello.self) }
/// ```
///
/// An error that is thrown fails what was to be done; its description is shown.
public protocol Plugin: AnyObject {
  /// A short name, for logs and errors.
  static var name: String { get }
  /// The plugin's own version.
  static var version: String { get }
  /// What it does, in one line.
  static var summary: String { get }
  /// The keys of the configuration, one a line: `key=VALUE  what it does`.
  static var configurationHelp: String { get }
  /// Whether a host with stages that this kit does not know must refuse the plugin: for what signs, redacts or audits.
  static var mustSeeAll: Bool { get }

  /// Once for each time that the plugin is put on the chain. `[main]`
  init(host: Host) throws
  /// One key of the configuration, in the order written. `[main]`
  func configure(_ key: String, _ value: String) throws
  /// All keys have been given. `[main]`
  func ready() throws
  /// A call is about to start; `nil` when it does not concern the plugin. `[loop]`
  func open(_ call: Call) throws -> (any Interceptor)?
  /// The process ends in order. `[main]`
  func unload()
}

extension Plugin {
  /// None.
  public static var version: String { "" }
  /// None.
  public static var summary: String { "" }
  /// No keys.
  public static var configurationHelp: String { "" }
  /// It may be passed by.
  public static var mustSeeAll: Bool { false }

  /// Refuses every key.
  public func configure(_ key: String, _ value: String) throws { throw Failure("unknown key") }
  /// Nothing to prepare.
  public func ready() {}
  /// Nothing to clean up.
  public func unload() {}
}

/// Why something cannot be done, in words for a person.
public struct Failure: Error, CustomStringConvertible {
  /// The words.
  public let description: String

  /// Makes a failure.
  public init(_ description: String) { self.description = description }
}
