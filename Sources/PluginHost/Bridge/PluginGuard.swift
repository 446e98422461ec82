import RPCurlBase
import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf

/// Records which plugin code runs, so that a crash, an exit or a blocked callback is reported with plugin,
/// stage and call.
///
/// A callback costs a few stores. All records live as long as the process.
// Sendable because its pointer is to a record of C that any thread may use, and that is never freed.
struct PluginGuard: @unchecked Sendable {
  private let plugin: UnsafeMutablePointer<plugin_guard_plugin>?

  /// Makes a guard for a file before any of its code runs. The first one installs the handlers.
  init(file: String) {
    // Out of memory or threads, there are no reports, and everything else works.
    _ = plugin_guard_start(warnOfBlocking)
    plugin = plugin_guard_add(file)
  }

  /// Records where the plugin is loaded in memory.
  func loaded(at code: UnsafeRawPointer) {
    if let plugin { plugin_guard_loaded(plugin, code) }
  }

  /// Records the plugin's name and the receiver of warnings, which is never freed.
  func named(_ name: String, owner: PluginInstance) {
    if let plugin { plugin_guard_named(plugin, name, Unmanaged.passRetained(owner).toOpaque()) }
  }

  /// Runs a plugin's code outside of calls, without a time limit.
  @inline(__always)
  func run<Result>(_ stage: StaticString, _ body: () -> Result) -> Result {
    run(
      plugin_guard_place(
        plugin: plugin, stage: stage.utf8Start, method: nil, is_watched: false, deadline_ns: 0), body)
  }

  /// Runs a callback on the loop's thread.
  @inline(__always)
  func run<Result>(_ stage: StaticString, in call: PluginCall, _ body: () -> Result) -> Result {
    run(
      plugin_guard_place(
        plugin: plugin, stage: stage.utf8Start, method: call.method.text, is_watched: true,
        deadline_ns: call.deadlineNanoseconds), body)
  }

  /// Runs a function on the loop's thread, outside of calls.
  func run(outsideCalls stage: StaticString, _ body: () -> Void) {
    run(
      plugin_guard_place(
        plugin: plugin, stage: stage.utf8Start, method: nil, is_watched: true, deadline_ns: 0), body)
  }

  @inline(__always)
  private func run<Result>(_ place: plugin_guard_place, _ body: () -> Result) -> Result {
    let outer = plugin_guard_enter(place)
    defer { _ = plugin_guard_enter(outer) }
    return body()
  }
}

/// The format of crash reports.
package enum CrashReports {
  case text
  /// One line of JSON: `{"error":{"what":…,"why":…,"hint":…,"exit":7}}`.
  case json
  /// No report; the exit status alone shows the crash.
  case silent

  /// Selects this format. Must be called before a plugin is loaded.
  package func use() {
    switch self {
    case .text: plugin_guard_tell_as(PLUGIN_GUARD_TEXT)
    case .json: plugin_guard_tell_as(PLUGIN_GUARD_JSON)
    case .silent: plugin_guard_tell_as(PLUGIN_GUARD_SILENT)
    }
  }
}

/// Signals that ask the process to end.
package enum Interrupts {
  /// Ends the process if a plugin's callback does not return soon after a signal.
  ///
  /// - Parameter descriptor: Becomes readable after the signal.
  package static func watch(_ descriptor: Int32) { plugin_guard_watch_interrupts(descriptor) }
}

/// Cleanup for when a plugin ends the process, or blocks it.
package enum PluginExit {
  /// Sets a function to be called before the process ends in this way.
  ///
  /// - Parameter restore: Called on any thread; only functions listed in signal-safety(7) are allowed in it.
  package static func restore(with restore: @escaping @convention(c) () -> Void) {
    plugin_guard_restore_with(restore)
  }
}

/// A method's name that can be read at any time, from any thread.
// Sendable because the text is constant, and never freed.
struct MethodText: @unchecked Sendable {
  let text: UnsafePointer<CChar>

  /// The names by method. Global, because the process's crash handler reads them at any time.
  private static let known = Locked<[String: MethodText]>([:])

  /// Each name is stored once and never freed.
  init(_ method: String) {
    self = Self.known.withLock { known in
      if let found = known[method] { return found }
      let bytes = method.utf8CString
      let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
      for (index, byte) in bytes.enumerated() { (text + index).initialize(to: byte) }
      let made = MethodText(text: UnsafePointer(text))
      known[method] = made
      return made
    }
  }

  private init(text: UnsafePointer<CChar>) { self.text = text }
}

/// Called on the watchdog's thread.
private let warnOfBlocking: plugin_guard_warn = { plugin, stage, method in
  guard let owner = plugin?.pointee.owner, let stage else { return }
  Unmanaged<PluginInstance>.fromOpaque(owner).takeUnretainedValue().reportBlocking(
    String(cString: stage), in: method.map { String(cString: $0) })
}
