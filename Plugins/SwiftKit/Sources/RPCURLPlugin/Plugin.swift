/// A plugin: makes an interceptor for each call in which it takes part.
///
/// ```swift
/// final class Hello: Plugin {
///   static let name = "hello"
///   init(host: Host) {}
///   func open(_ call: Call) -> (any StagedInterceptor)? { Greeter() }
/// }
///
/// final class Greeter: StagedInterceptor {
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
/// A thrown error fails the operation; its description is shown.
public protocol Plugin: AnyObject {
  /// A short name, for logs and errors.
  static var name: String { get }
  /// The plugin's version.
  static var version: String { get }
  /// What it does, in one line.
  static var summary: String { get }
  /// The keys of the configuration, one per line: `key=VALUE  what it does`.
  static var configurationHelp: String { get }
  /// Whether a host with stages that this kit does not have must refuse the plugin: for plugins that sign,
  /// redact or audit.
  static var mustSeeAll: Bool { get }
  /// What the plugin does, for `--explain` and for warnings about the order of a chain.
  static var effects: InterceptorEffects { get }
  /// The form in which it receives messages, and whether it changes them; ``StagedInterceptor/messages`` may differ in a
  /// call.
  static var messages: MessageAccesses { get }

  /// Makes an instance for each use of the plugin on the chain. `[main]`
  init(host: Host) throws
  /// Sets a key of the configuration; called in the order written. `[main]`
  func configure(_ key: String, _ value: String) throws
  /// Called after all keys were set. `[main]`
  func ready() throws
  /// The stages at which the plugin may be called with its configuration, for `--explain` and for warnings about the order;
  /// it is called at no other stage. Read once, after `ready`. `[main]`
  var possibleStages: Stages { get }
  /// Called before a call starts. Returns `nil` to not take part. `[loop]`
  func open(_ call: Call) throws -> (any StagedInterceptor)?
  /// No call follows: start what is to be done at the end, with the functions of ``Host``, which has 1 second. Not called if
  /// there was no call. `[loop]`
  func conclude()
  /// Called at a normal end of the process, or after `configure` or `ready` has thrown. `[main]`
  func unload()
}

extension Plugin {
  /// Default: none.
  public static var version: String { "" }
  /// Default: none.
  public static var summary: String { "" }
  /// Default: no keys.
  public static var configurationHelp: String { "" }
  /// Default: new stages may be missed.
  public static var mustSeeAll: Bool { false }
  /// Default: nothing is declared.
  public static var effects: InterceptorEffects { [] }
  /// Default: typed messages that may be changed.
  public static var messages: MessageAccesses { MessageAccesses() }

  /// Default: rejects every key.
  public func configure(_ key: String, _ value: String) throws { throw Failure("unknown key") }
  /// Default: does nothing.
  public func ready() {}
  /// Default: all stages.
  public var possibleStages: Stages { .all }
  /// Default: does nothing.
  public func conclude() {}
  /// Default: does nothing.
  public func unload() {}
}

/// Why an operation failed, in words for people.
public struct Failure: Error, CustomStringConvertible {
  /// The message.
  public let description: String

  /// Makes a failure.
  public init(_ description: String) { self.description = description }
}
