import RPCurlBase
import RPCurlChain
import RPCurlCPlugins
import RPCurlPlatform
import RPCurlProtobuf

/// Loads plugins: finds, checks, opens and configures them.
package struct PluginLoader: Sendable {
  /// The search path for plugins given by name.
  package let searchPath: PluginSearchPath
  private let hostVersion: String
  private let shared: SharedValues
  let log: LogSink

  /// The version of this host's plugin ABI, such as `1.0`.
  package static let abiVersion = "\(RPCURL_ABI_MAJOR).\(RPCURL_ABI_MINOR)"

  /// Makes a loader.
  ///
  /// - Parameters:
  ///   - searchPath: The search path for plugins given by name.
  ///   - hostVersion: rpcurl's version, for plugins.
  ///   - shared: What the interceptors of the program share.
  ///   - log: Receives the logs of plugins, and warnings about them. Called on any thread.
  package init(
    searchPath: PluginSearchPath, hostVersion: String, shared: SharedValues = SharedValues(),
    log: @escaping LogSink
  ) {
    self.shared = shared
    self.searchPath = searchPath
    self.hostVersion = hostVersion
    self.log = log
  }

  /// Loads and configures a plugin. `[main thread]`
  ///
  /// The same file may be loaded several times, with different configurations.
  ///
  /// - Throws: ``PluginError`` if it cannot be used.
  package func load(_ spec: InterceptorSpec) throws(PluginError) -> LoadedPlugin {
    let path = try searchPath.locate(spec.name)
    let guarding = PluginGuard(file: path)
    let (plugin, facts) = try open(path, guarding)
    var spec = spec
    do {
      try spec.takeCommonSettings(ownKeys: Set(plugin.keys))
    } catch {
      throw .commonSetting(plugin: plugin.name, error)
    }
    let instance = PluginInstance(
      plugin, guarding, isStrict: spec.common.isStrict, hostVersion: hostVersion, shared: shared, log: log)
    try instance.start(spec.settings)
    return LoadedPlugin(instance, facts, spec)
  }

  /// Loads a plugin to read its description.
  func describe(_ path: String) throws(PluginError) -> PluginDescription {
    try open(path, PluginGuard(file: path)).0
  }

  /// Checks an open file without running its code.
  func examine(
    _ file: borrowing FileReader, _ path: String
  ) throws(PluginError) -> (FileFacts, PluginFileFacts) {
    guard let facts = FileFacts(file.descriptor) else {
      throw .unreadable(path: path, reason: currentError())
    }
    guard facts.isRegular else { throw .unreadable(path: path, reason: "not a file") }
    try TrustedPath.require(path, leadsTo: facts)
    let elf = try ELFFile(file, path: path)
    guard let version = elf.version else { throw .noVersionNote(path: path) }
    guard version.major == UInt32(RPCURL_ABI_MAJOR) else {
      throw .otherVersion(path: path, plugin: "\(version.major).\(version.minor)", host: Self.abiVersion)
    }
    guard version.hostMinor <= UInt32(RPCURL_ABI_MINOR) else {
      throw .requiresNewerHost(
        path: path, required: "\(version.major).\(version.hostMinor)", host: Self.abiVersion)
    }
    let entry = elf.symbol(RPCURL_ENTRY_SYMBOL, file)
    guard entry != .data else {
      throw .malformed(path: path, reason: "the symbol \(RPCURL_ENTRY_SYMBOL) is not a function")
    }
    return (facts, PluginFileFacts(version: version, exportsEntry: entry.map { $0 == .function }))
  }

  private func open(
    _ path: String, _ guarding: PluginGuard
  ) throws(PluginError) -> (PluginDescription, FileFacts) {
    let file = try FileReader(path: path)
    let facts = try examine(file, path).0
    // Without RTLD_NOW a missing function would end the process in the middle of a call. The file stays
    // loaded, since other threads may run its code.
    let opened = try LoadedObjects.open(file, path, facts) { object in
      guarding.run("dlopen") { dlopen(object, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) }
    }
    guard let handle = opened else {
      throw .notLoadable(
        path: path, reason: Self.loaderError(path) ?? "no reason given by the dynamic loader")
    }
    guard let symbol = dlsym(handle, RPCURL_ENTRY_SYMBOL) else {
      throw .noEntry(path: path, symbol: RPCURL_ENTRY_SYMBOL)
    }
    guarding.loaded(at: symbol)
    return (try PluginDescription(entry: symbol, path: path, guarding), facts)
  }

  /// The dynamic loader's message, without the name of the copy in memory.
  private static func loaderError(_ path: String) -> String? {
    guard let text = dlerror().map({ String(cString: $0) }) else { return nil }
    guard text.hasPrefix("/proc/self/fd/"), let end = text.firstIndex(of: ":") else { return text }
    return String(text[text.index(after: end)...].drop { $0 == " " })
  }
}

/// A loaded and configured plugin.
package final class LoadedPlugin: Sendable {
  /// The plugin's name.
  package var name: String { instance.description.name }
  /// The plugin's version; empty if it has none.
  package var version: String { instance.description.version }
  /// What it does, in one line.
  package var summary: String { instance.description.summary }
  /// Its keys, one per line.
  package var configurationHelp: String { instance.description.configurationHelp }
  /// The path of its file.
  package var path: String { instance.description.path }
  /// Its registration for chains.
  package let registration: InterceptorRegistration
  private let instance: PluginInstance

  init(_ instance: PluginInstance, _ facts: FileFacts, _ spec: InterceptorSpec) {
    self.instance = instance
    let (name, path) = (instance.description.name, instance.description.path)
    var registration = InterceptorRegistration(name, PluginFactory(instance: instance), spec.common)
    registration.fingerprint = InterceptorFingerprint(name, spec.settings) {
      Self.digest(of: path, facts).map { [$0] }
    }
    self.registration = registration
  }

  /// The digest of the file that was loaded; nil if another has replaced it, or it cannot be read.
  private static func digest(of path: String, _ facts: FileFacts) -> String? {
    guard let file = try? FileReader(path: path), FileFacts(file.descriptor) == facts,
      case let content = file.read(at: 0, count: facts.sizeBytes), content.count == facts.sizeBytes
    else { return nil }
    return SHA256.digest(of: content)
  }

  /// Its violations of the ABI so far.
  package var misuses: [String] { instance.misuses }

  /// Its callbacks that have blocked the loop.
  var blockingCallbacks: [String] { instance.blockingCallbacks }

  /// Runs the plugin's own test. Returns false if it has none. `[main thread]`
  func check() throws(PluginError) -> Bool { try instance.check() }

  /// Lets the plugin clean up at the end of the process, when no call is open. `[main thread]`
  package func unload() {
    instance.stop()
  }
}
