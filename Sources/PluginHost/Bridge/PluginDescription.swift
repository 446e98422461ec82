import RPCurlChain
import RPCurlCPlugins

/// A plugin's description of itself, and its functions.
// Sendable because its pointers refer to constants of the plugin, which is never unloaded.
struct PluginDescription: @unchecked Sendable {
  let path: String
  let name: String
  let version: String
  let summary: String
  let configurationHelp: String
  /// The keys in the help text: the text before "=" at the start of a line.
  var keys: [String] {
    configurationHelp.split(separator: "\n").compactMap { line in
      let key = line.prefix { $0 != "=" && $0 != " " }
      return line.dropFirst(key.count).first == "=" ? String(key) : nil
    }
  }
  /// What the plugin declares to do with messages; `needs` may change it for a call.
  let messages: MessageAccesses
  /// The plugin's functions; null for those that it does not implement.
  let functions: rpcurl_plugin
  /// The address of the plugin's structure, which identifies its file.
  let address: UnsafeRawPointer

  /// Calls a shared object's entry function, and checks the plugin that it returns.
  init(entry symbol: UnsafeMutableRawPointer, path: String, _ guarding: PluginGuard) throws(PluginError) {
    typealias Entry = @convention(c) () -> UnsafePointer<rpcurl_plugin>?
    let entry = unsafeBitCast(symbol, to: Entry.self)
    guard let plugin = guarding.run("rpcurl_plugin_entry", entry) else {
      throw .malformed(path: path, reason: "\(RPCURL_ENTRY_SYMBOL) returns null")
    }
    self.path = path
    address = UnsafeRawPointer(plugin)
    // Only the first members are valid before the size is checked.
    let size = plugin.pointee.struct_size
    guard plugin.pointee.abi_major == UInt32(RPCURL_ABI_MAJOR) else {
      throw .otherVersion(
        path: path, plugin: "\(plugin.pointee.abi_major).\(plugin.pointee.abi_minor)",
        host: PluginLoader.abiVersion)
    }
    guard (Self.leastSize...1 << 16).contains(size), size % MemoryLayout<rpcurl_plugin>.alignment == 0 else {
      throw .malformed(
        path: path,
        reason: "struct_size is \(UInt(bitPattern: Int(size))), which is invalid (use RPCURL_PLUGIN_HEAD)")
    }
    var functions = rpcurl_plugin()
    withUnsafeMutableBytes(of: &functions) { target in
      target.copyMemory(from: UnsafeRawBufferPointer(start: plugin, count: min(Int(size), target.count)))
    }
    self.functions = functions
    guard let name = functions.name.map({ String(cString: $0) }), !name.isEmpty else {
      throw .malformed(path: path, reason: "the plugin has no name")
    }
    guard name.utf8.count <= 64, name.unicodeScalars.allSatisfy(Self.isPrintable) else {
      throw .malformed(
        path: path, reason: "the plugin's name is longer than 64 bytes, or not printable UTF-8 on one line")
    }
    try Self.requireSupport(functions, path)
    guard
      let messages = MessageAccesses(
        request: functions.request_messages, response: functions.response_messages)
    else {
      throw .malformed(
        path: path, reason: "request_messages or response_messages is not one of RPCURL_MESSAGES_...")
    }
    self.messages = messages
    self.name = name
    version = functions.version.map { String(cString: $0) } ?? ""
    summary = functions.summary.map { String(cString: $0) } ?? ""
    configurationHelp = functions.config_help.map { String(cString: $0) } ?? ""
  }

  /// Throws if the plugin requires something that this host does not support.
  private static func requireSupport(_ functions: rpcurl_plugin, _ path: String) throws(PluginError) {
    let unknownFlags = functions.flags & mustUnderstand & ~mustSeeAll
    guard unknownFlags == 0 else {
      throw .malformed(
        path: path,
        reason:
          "it requires a feature that this rpcurl lacks (flags 0x\(String(unknownFlags, radix: 16)))")
    }
    guard functions.min_minor <= UInt32(RPCURL_ABI_MINOR) else {
      throw .requiresNewerHost(
        path: path, required: "\(functions.abi_major).\(functions.min_minor)", host: PluginLoader.abiVersion)
    }
    let unknown = UInt64(Stages.all.rawValue) & ~functions.known_stages
    if functions.flags & mustSeeAll != 0, unknown != 0 { throw .wouldNotSeeAll(path: path) }
  }

  /// The minimum size of the structure, in bytes: the members that describe the plugin. Callbacks beyond the
  /// structure's size are null.
  private static let leastSize = MemoryLayout<rpcurl_plugin>.offset(of: \.load) ?? 0
  /// RPCURL_MUST_SEE_ALL, which Swift does not import.
  private static let mustSeeAll: UInt64 = 1
  /// RPCURL_FLAGS_MUST_UNDERSTAND.
  private static let mustUnderstand: UInt64 = 0xffff_ffff

  /// U+FFFD replaces invalid UTF-8.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: false
    default: scalar != "\u{FFFD}"
    }
  }

  /// The effects that the plugin declares, in the flags from bit 32 on.
  var effects: InterceptorEffects {
    InterceptorEffects(rawValue: UInt32(truncatingIfNeeded: functions.flags >> 32))
  }

  /// The stages that the plugin has a callback for.
  var stages: Stages {
    var stages: Stages = []
    for stage in Stage.allCases where hasObserver(stage) || callback(stage) != nil {
      stages.insert(stage.set)
    }
    return stages
  }

  /// Whether there is a function of an observed stage.
  private func hasObserver(_ stage: Stage) -> Bool {
    stage == .attemptEnd && functions.attempt_end != nil
  }

  typealias Observer = (UnsafePointer<rpcurl_host>?, UnsafeMutableRawPointer?, rpcurl_call) -> Void

  /// The function of an observed stage, with what it observes.
  func callback(_ observation: Observation, _ arena: Arena) -> Observer? {
    switch observation {
    case .attemptEnd(let report):
      guard let callback = functions.attempt_end else { return nil }
      let attempt = arena.attempt(report)
      return { callback($0, $1, $2, attempt) }
    }
  }

  typealias StageCallback =
    @convention(c) (UnsafePointer<rpcurl_host>?, UnsafeMutableRawPointer?, rpcurl_call, rpcurl_token) -> Int32

  /// The function of a stage whose values have tokens.
  func callback(_ stage: Stage) -> StageCallback? {
    switch stage {
    case .requestStart: functions.request_start
    case .requestMessage: functions.request_message
    case .requestEnd: functions.request_end
    case .responseStart: functions.response_start
    case .responseMessage: functions.response_message
    case .responseEnd: functions.response_end
    case .metrics: functions.metrics
    case .attemptEnd: nil
    }
  }
}

extension MessageAccesses {
  /// The declaration of two RPCURL_MESSAGES_...; nil for an unknown number.
  init?(request: UInt32, response: UInt32) {
    guard let request = MessageAccess(rawValue: request), let response = MessageAccess(rawValue: response)
    else { return nil }
    self.init(request: request, response: response)
  }
}
