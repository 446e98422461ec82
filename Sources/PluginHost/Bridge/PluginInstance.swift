import RPCurlBase
import RPCurlChain
import RPCurlCPlugins
import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols

/// A loaded plugin: its state, and the host's resources that it holds.
///
/// It is never freed, since a plugin's threads may call its host at any time.
// Sendable because its variables are written before the first call, and then only read.
final class PluginInstance: @unchecked Sendable {
  let description: PluginDescription
  /// The state that the plugin stored at load; written once, before any call.
  private(set) var state: UnsafeMutableRawPointer?
  /// The stages at which the plugin may be called with its settings; written once, before any call.
  private(set) var stages: Stages
  private let log: LogSink
  /// The host's functions, as the plugin receives them.
  let host: UnsafeMutablePointer<rpcurl_host>
  private let file: PluginFile
  /// What the plugin does outside of calls.
  let outside = PluginOutside()
  /// What the interceptors of the program share.
  let shared: SharedValues
  private let texts = Arena()
  private let noted = Locked<[String]>([])
  private let blocking = Locked<[String]>([])
  /// Wraps every call of the plugin's functions.
  let guarding: PluginGuard
  /// Fails calls after misuse; `nil` only reports it.
  let misusePolicy: MisusePolicy?

  init(
    _ description: PluginDescription, _ guarding: PluginGuard, isStrict: Bool, hostVersion: String,
    shared: SharedValues, log: @escaping LogSink
  ) {
    self.description = description
    stages = description.stages
    self.shared = shared
    self.log = log
    self.guarding = guarding
    misusePolicy = isStrict ? MisusePolicy() : nil
    file = PluginFile.of(description.address)
    host = .allocate(capacity: 1)
    host.initialize(to: HostFunctions.table)
    host.pointee.name = texts.text("rpcurl").data
    host.pointee.version = texts.text(hostVersion).data
    host.pointee.reserved = Unmanaged.passRetained(self).toOpaque()
    guarding.named(description.name, owner: self)
  }

  /// The instance of a plugin's host.
  static func of(_ host: UnsafePointer<rpcurl_host>?) -> PluginInstance? {
    guard let reserved = host?.pointee.reserved else { return nil }
    return Unmanaged<PluginInstance>.fromOpaque(reserved).takeUnretainedValue()
  }

  // MARK: - Life cycle

  func start(_ settings: [InterceptorSpec.Setting]) throws(PluginError) {
    let functions = description.functions
    try check(guarding.run("load") { functions.load?(host, &state) }, step: "load")
    do throws(PluginError) {
      for setting in settings { try configure(setting) }
      try check(guarding.run("ready") { functions.ready?(host, state) }, step: "ready")
      if let choose = functions.possible_stages {
        let chosen = guarding.run("possible_stages") { choose(host, state) }
        stages.formIntersection(Stages(rawValue: UInt32(truncatingIfNeeded: chosen)))
      }
    } catch {
      stop()
      throw error
    }
  }

  private func configure(_ setting: InterceptorSpec.Setting) throws(PluginError) {
    guard let configure = description.functions.configure else {
      throw .configurationRejected(
        plugin: description.name, key: setting.key, reason: "unknown key: the plugin has no keys",
        keys: [])
    }
    let arena = Arena()
    let result = guarding.run("configure") {
      configure(host, state, arena.text(setting.key), arena.text(setting.value))
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
    outside.end()
    guarding.run("unload") { description.functions.unload?(host, state) }
  }

  /// Runs the plugin's own test, if it has the extension `rpcurl.check/1`.
  ///
  /// - Returns: Whether it has.
  /// - Throws: ``PluginError`` if the test fails.
  func check() throws(PluginError) -> Bool {
    guard
      let found = extensionNamed(RPCURL_EXTENSION_CHECK)?.assumingMemoryBound(to: rpcurl_check.self),
      let plain = try? HostFunctions.copy(found), let run = plain.run
    else { return false }
    try check(guarding.run("check") { run(host, state) }, step: "check")
    return true
  }

  /// The structure of an extension of the plugin; `nil` if it has none with this name.
  private func extensionNamed(_ name: String) -> UnsafeRawPointer? {
    guard let find = description.functions.get_extension else { return nil }
    let arena = Arena()
    return guarding.run("get_extension") { find(host, state, arena.text(name)) }
  }

  var tokens: HandleTable<HeldValue> { file.tokens }
  var calls: HandleTable<PluginCall> { file.calls }
  /// The errors of the plugin's file, and what it reads of shared values.
  var errors: ThreadErrors { file.errors }

  // MARK: - Errors

  /// The reason for the failure of the callback that just returned on this thread: the text from set_error,
  /// or else that of the host function whose code it returned.
  func reason(_ code: Int32, _ callback: String) -> String {
    guard code < 0 else { return "\(callback) returned \(code), which is not a valid result" }
    return errors.reason(code) ?? "\(ABIFailure.name(of: code)) (no reason given by the plugin)"
  }

  func write(_ level: LogLevel, _ text: String) {
    log(LogRecord(level: level, source: description.name, text: text))
  }

  /// Warns that the plugin violates the rules of the ABI; with strict=true its calls fail.
  func reportMisbehaviour(_ what: String) {
    let count: Int? = noted.withLock { noted in
      // One report more than are logged shows that there are more.
      guard noted.count <= Self.mostReports else { return nil }
      noted.append(what)
      return noted.count
    }
    if let count {
      let isLogged = count <= Self.mostReports
      let text = isLogged ? what : "more than \(Self.mostReports) times; the rest is not logged"
      write(.warning, "plugin misbehaving: \(text)")
    }
    misusePolicy?.note(what)
  }

  /// Runs callbacks of a call on the loop's thread. Returns the error of a violation in them, with strict=true.
  func watch(_ body: () -> Void) -> RPCError? {
    guard let misusePolicy else {
      body()
      return nil
    }
    return misusePolicy.watch(body).map { failure("the plugin misbehaves: \($0)") }
  }

  /// The error of a call that the plugin fails.
  func failure(_ reason: String) -> RPCError {
    RPCError(.internal, reason, origin: .interceptor(description.name))
  }

  /// The maximum number of logged reports: a plugin may repeat a violation for as long as calls run.
  private static let mostReports = 100

  /// The first reports.
  var misuses: [String] { noted.withLock { $0 } }

  /// Warns that a callback blocks the loop. Called on the watchdog's thread.
  func reportBlocking(_ callback: String, in method: String?) {
    blocking.withLock { if !$0.contains(callback) { $0.append(callback) } }
    let call = method.map { ", in the call \($0)" } ?? ""
    write(
      .warning,
      "\(callback) has been running for \(PLUGIN_GUARD_PATIENCE_MS) ms\(call), which blocks all calls")
  }

  /// The callbacks that have blocked the loop.
  var blockingCallbacks: [String] { blocking.withLock { $0 } }
}

/// The state shared by all loads of a plugin's file.
///
/// Its static variables are shared. A plugin that stores its host in one uses the host of the last load for tokens
/// of every load, which works because tokens belong to the file.
private final class PluginFile: Sendable {
  let tokens = HandleTable<HeldValue>()
  let calls = HandleTable<PluginCall>()
  let errors = ThreadErrors()

  /// The files by the address of their description. Global, because the dynamic loader loads a file once for the process.
  private static let files = Locked<[UInt: PluginFile]>([:])

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

extension ABIFailure {
  /// RPCURL_E... from -1 on.
  private static let names = [
    "EINVAL", "EUSED", "EUNKNOWN", "EENDED", "ESTAGE", "ENOENT", "EPATH", "ETYPE", "ERANGE", "EPARSE",
    "EUNSUPPORTED", "EFAILED", "ETHREAD", "ESTARTED", "EREPLAY", "EDEADLINE",
  ]

  static func name(of code: Int32) -> String {
    let index = -1 - Int(code)
    return names.indices.contains(index) ? "RPCURL_\(names[index])" : "error \(code)"
  }
}
