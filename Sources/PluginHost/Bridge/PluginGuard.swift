import CPluginGuard
import Interception
import Synchronization

/// Notes what of a plugin runs, so that a crash, an exit and a long wait are reported: which plugin, where, in which call.
///
/// A callback costs a few stores. Everything noted lives as long as the process.
struct PluginGuard: @unchecked Sendable {
  private let plugin: UnsafeMutablePointer<plugin_guard_plugin>?

  /// A guard for a file of which nothing has run yet. The first one installs the handlers.
  init(file: String) {
    // Without memory or a thread there is no report, and everything else goes on.
    _ = plugin_guard_start(warnOfBlocking)
    plugin = plugin_guard_add(file)
  }

  /// Tells where the plugin is in memory.
  func loaded(at code: UnsafeRawPointer) {
    if let plugin { plugin_guard_loaded(plugin, code) }
  }

  /// Tells what the plugin calls itself, and to whom warnings go. The owner is never freed.
  func named(_ name: String, owner: PluginInstance) {
    if let plugin { plugin_guard_named(plugin, name, Unmanaged.passRetained(owner).toOpaque()) }
  }

  /// Runs a plugin's code outside of calls, where it may take its time.
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

  @inline(__always)
  private func run<Result>(_ place: plugin_guard_place, _ body: () -> Result) -> Result {
    let outer = plugin_guard_enter(place)
    defer { _ = plugin_guard_enter(outer) }
    return body()
  }
}

/// How crashes of plugins are told.
public enum CrashReports {
  case text
  /// One line of JSON: `{"error":{"what":…,"why":…,"hint":…,"exit":7}}`.
  case json
  /// Only the exit code tells.
  case silent

  /// Has them told so from now on. To be called before a plugin is loaded.
  public func use() {
    switch self {
    case .text: plugin_guard_tell_as(PLUGIN_GUARD_TEXT)
    case .json: plugin_guard_tell_as(PLUGIN_GUARD_JSON)
    case .silent: plugin_guard_tell_as(PLUGIN_GUARD_SILENT)
    }
  }
}

/// What asks the process to end.
public enum Interrupts {
  /// Has the process end if a plugin's callback does not return soon after a signal.
  ///
  /// - Parameter descriptor: Readable once the signal came.
  public static func watch(_ descriptor: Int32) { plugin_guard_watch_interrupts(descriptor) }
}

/// What is done when the process ends because of a plugin that ended it, or does not return.
public enum PluginExit {
  /// Has a function called before the process ends so.
  ///
  /// - Parameter restore: Called on any thread; only what signal-safety(7) lists is allowed in it.
  public static func restore(with restore: @escaping @convention(c) () -> Void) {
    plugin_guard_restore_with(restore)
  }
}

/// A method's name where it can be read at any time, from any thread.
struct MethodText: @unchecked Sendable {
  let text: UnsafePointer<CChar>

  private static let known = Mutex<[String: MethodText]>([:])

  /// Each name is kept once, for good.
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
  let call = method.map { ", in the call \(String(cString: $0))" } ?? ""
  Unmanaged<PluginInstance>.fromOpaque(owner).takeUnretainedValue().write(
    .warning,
    "\(String(cString: stage)) has been running for \(PLUGIN_GUARD_PATIENCE_MS) ms\(call); everything waits for it"
  )
}
