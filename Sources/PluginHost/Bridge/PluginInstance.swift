import CPluginABI
import CPluginGuard
import Glibc
import Interception
import RPCProtocols
import Synchronization

/// A plugin that is on the chain: its state, and what it holds of the host's.
///
/// It is never freed, since a plugin's threads may call its host at any time.
final class PluginInstance: @unchecked Sendable {
  let description: PluginDescription
  /// What the plugin stored at load; written once, before any call.
  private(set) var state: UnsafeMutableRawPointer?
  private let log: LogSink
  private let host: UnsafeMutablePointer<rpcurl_host>
  private let shared: PluginFile
  private let texts = Arena()
  private let noted = Mutex<[String]>([])
  private let hasSuppressed = Atomic(false)
  /// Around every call of the plugin's functions.
  let guarding: PluginGuard
  /// What makes misuse fail calls; `nil` when it is only told.
  let misusePolicy: MisusePolicy?

  init(
    _ description: PluginDescription, _ guarding: PluginGuard, isStrict: Bool, hostVersion: String,
    log: @escaping LogSink
  ) {
    self.description = description
    self.log = log
    self.guarding = guarding
    misusePolicy = isStrict ? MisusePolicy() : nil
    shared = PluginFile.of(description.address)
    host = .allocate(capacity: 1)
    host.initialize(to: HostFunctions.table)
    host.pointee.name = texts.text("rpcurl").data
    host.pointee.version = texts.text(hostVersion).data
    host.pointee.reserved = Unmanaged.passRetained(self).toOpaque()
    guarding.named(description.name, owner: self)
  }

  /// The instance that a plugin's host belongs to.
  static func of(_ host: UnsafePointer<rpcurl_host>?) -> PluginInstance? {
    guard let reserved = host?.pointee.reserved else { return nil }
    return Unmanaged<PluginInstance>.fromOpaque(reserved).takeUnretainedValue()
  }

  // MARK: - Life

  func start(_ settings: [InterceptorSpec.Setting]) throws(PluginError) {
    let functions = description.functions
    try check(guarding.run("load") { functions.load?(host, &state) }, step: "load")
    for setting in settings { try configure(setting) }
    try check(guarding.run("ready") { functions.ready?(state) }, step: "ready")
  }

  private func configure(_ setting: InterceptorSpec.Setting) throws(PluginError) {
    guard let configure = description.functions.configure else {
      throw .configurationRejected(
        plugin: description.name, key: setting.key, reason: "unknown key: the plugin has none",
        keys: [])
    }
    let arena = Arena()
    let result = guarding.run("configure") {
      configure(state, arena.text(setting.key), arena.text(setting.value))
    }
    withExtendedLifetime(arena) {}
    if result != RPCURL_OK {
      throw .configurationRejected(
        plugin: description.name, key: setting.key, reason: reason(result, "configure"),
        keys: description.keys)
    }
  }

  private func check(_ result: Int32?, step: String) throws(PluginError) {
    guard let result, result != RPCURL_OK else { return }
    throw .setupFailed(plugin: description.name, step: step, reason: reason(result, step))
  }

  func stop() {
    guarding.run("unload") { description.functions.unload?(state) }
  }

  var tokens: HandleTable<HeldValue> { shared.tokens }
  var calls: HandleTable<PluginCall> { shared.calls }
  private var errors: ThreadErrors { shared.errors }

  // MARK: - Words

  /// Why the callback failed that has just returned on this thread: what the plugin set with set_error, or else the words
  /// of the host function whose code it passed on.
  func reason(_ code: Int32, _ callback: String) -> String {
    guard code < 0 else { return "\(callback) returned \(code), which is not a valid result" }
    return errors.reason(code) ?? "\(ABIFailure.name(of: code)) (the plugin does not say why)"
  }

  func setReason(_ text: String) { errors.say(text) }

  func note(_ failure: ABIFailure) { errors.note(failure) }

  var lastError: rpcurl_text { errors.last }

  func write(_ level: LogLevel, _ text: String) {
    log(LogRecord(level: level, source: description.name, text: text))
  }

  /// Warns that the plugin breaks the rules of its interface; with strict=true its calls fail.
  func reportMisbehaviour(_ what: String) {
    let count = noted.withLock { noted in
      if noted.count <= Self.mostReports { noted.append(what) }
      return noted.count
    }
    if count <= Self.mostReports {
      write(.warning, "plugin misbehaving: \(what)")
    } else if hasSuppressed.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged {
      write(.warning, "plugin misbehaving: more than \(Self.mostReports) times; the rest is not logged")
    }
    misusePolicy?.note(what)
  }

  /// How much misuse is logged: a plugin may go on with it for as long as calls run.
  private static let mostReports = 100

  /// The first of what was reported.
  var misuses: [String] { noted.withLock { $0 } }
}

/// What all loads of one plugin's file have in common.
///
/// Its static variables are the same for all of them, so a plugin that keeps its host in one uses the host of
/// the last load for tokens of every load. That works, as tokens belong to the file.
private final class PluginFile: @unchecked Sendable {
  let tokens = HandleTable<HeldValue>()
  let calls = HandleTable<PluginCall>()
  let errors = ThreadErrors()

  private static let files = Mutex<[UInt: PluginFile]>([:])

  static func of(_ address: UnsafeRawPointer) -> PluginFile {
    let address = UInt(bitPattern: address)
    return files.withLock { files in
      if let file = files[address] { return file }
      let file = PluginFile()
      files[address] = file
      return file
    }
  }
}

/// What went wrong, kept for each thread.
private final class ThreadErrors: @unchecked Sendable {
  /// What the plugin set with set_error.
  private struct Said {
    let callback: UInt64
    let text: String
  }

  /// What a host function failed with.
  private struct Noted {
    let callback: UInt64
    let failure: ABIFailure
    let arena: Arena
    let text: rpcurl_text
  }

  private let lock = Lock()
  private var said: [pthread_t: Said] = [:]
  private var noted: [pthread_t: Noted] = [:]

  func say(_ text: String) {
    lock.holding { said[pthread_self()] = Said(callback: plugin_guard_sequence(), text: text) }
  }

  func note(_ failure: ABIFailure) {
    let arena = Arena()
    let text = arena.text(failure.text)
    lock.holding {
      noted[pthread_self()] = Noted(
        callback: plugin_guard_sequence(), failure: failure, arena: arena, text: text)
    }
  }

  /// The reason of the callback that has just returned on this thread with a code. What was said in an earlier one is no
  /// reason of this one.
  func reason(_ code: Int32) -> String? {
    let callback = plugin_guard_sequence() &- 1
    return lock.holding {
      if let said = said.removeValue(forKey: pthread_self()), said.callback == callback { return said.text }
      guard let noted = noted[pthread_self()], noted.callback == callback, noted.failure.code == code else {
        return nil
      }
      return noted.failure.text
    }
  }

  var last: rpcurl_text {
    lock.holding { noted[pthread_self()]?.text ?? rpcurl_text(data: nil, size: 0) }
  }
}

extension ABIFailure {
  static func name(of code: Int32) -> String {
    switch code {
    case RPCURL_EINVAL: "RPCURL_EINVAL"
    case RPCURL_EUSED: "RPCURL_EUSED"
    case RPCURL_EUNKNOWN: "RPCURL_EUNKNOWN"
    case RPCURL_EENDED: "RPCURL_EENDED"
    case RPCURL_ESTAGE: "RPCURL_ESTAGE"
    case RPCURL_ENOENT: "RPCURL_ENOENT"
    case RPCURL_EPATH: "RPCURL_EPATH"
    case RPCURL_ETYPE: "RPCURL_ETYPE"
    case RPCURL_ERANGE: "RPCURL_ERANGE"
    case RPCURL_EPARSE: "RPCURL_EPARSE"
    case RPCURL_EUNSUPPORTED: "RPCURL_EUNSUPPORTED"
    case RPCURL_EFAILED: "RPCURL_EFAILED"
    case RPCURL_ETHREAD: "RPCURL_ETHREAD"
    default: "error \(code)"
    }
  }
}
