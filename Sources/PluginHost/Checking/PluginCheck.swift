import CPluginABI
import Glibc
import Interception
import Protobuf
import RPCProtocols

/// Checks a plugin for its author: first its file, without running any of it, then its whole life.
public struct PluginCheck {
  /// Something that was found to be in order, or worth knowing.
  public enum Line: Sendable, Equatable {
    /// A step that is in order.
    case passed(String)
    /// What is no fault, but may be none of what the author wants.
    case note(String)
  }

  /// What is wrong.
  public struct Fault: Error, Sendable, Equatable {
    /// At which step.
    public let step: String
    /// What it is.
    public let reason: String
    /// What to do about it.
    public let hint: String?
  }

  private let loader: PluginLoader
  private let limit: Duration
  private let report: (Line) -> Void

  /// Makes a check.
  ///
  /// - Parameters:
  ///   - loader: Finds and loads the plugin.
  ///   - limit: How long a call of the self-test may take.
  ///   - report: Told of every step as it is done.
  public init(loader: PluginLoader, limit: Duration, report: @escaping (Line) -> Void) {
    self.loader = loader
    self.limit = limit
    self.report = report
  }

  /// Does all of it.
  public func run(_ spec: InterceptorSpec) throws(Fault) {
    let file = try inspect(spec.name)
    var strict = spec
    strict.isStrict = true
    let plugin = try attempt("loading") { () throws(PluginError) in try loader.load(strict) }
    try requireNoMisuse(plugin, "loading")
    passed("loaded: \(plugin.name)\(plugin.version.isEmpty ? "" : " \(plugin.version)")")
    if plugin.summary.isEmpty { report(.note("it has no summary for rpcurl plugins to show")) }
    if file.version.minor > UInt32(RPCURL_ABI_MINOR) {
      report(.note("it was built against a newer ABI than \(PluginLoader.abiVersion)"))
    }
    try runCalls(plugin)
    plugin.unload()
    try requireNoMisuse(plugin, "unload")
    passed("unloaded")
  }

  private func passed(_ text: String) { report(.passed(text)) }

  private func attempt<Result>(
    _ step: String, _ body: () throws(PluginError) -> Result
  ) throws(Fault) -> Result {
    do throws(PluginError) {
      return try body()
    } catch {
      throw Fault(step: step, reason: error.description, hint: error.hint)
    }
  }

  // MARK: - The file

  private func inspect(_ name: String) throws(Fault) -> PluginFileFacts {
    let path = try attempt("search") { () throws(PluginError) in try loader.searchPath.locate(name) }
    let facts = try attempt("inspection") { () throws(PluginError) in try loader.inspect(path) }
    passed("file: \(path), a shared object for this machine that only you and root can write")
    passed("version note: ABI \(facts.version.major).\(facts.version.minor)")
    switch facts.exportsEntry {
    case true?: passed("symbol: \(RPCURL_ENTRY_SYMBOL)")
    case false?:
      let error = PluginError.noEntry(path: path, symbol: RPCURL_ENTRY_SYMBOL)
      throw Fault(step: "inspection", reason: error.description, hint: error.hint)
    case nil: report(.note("its symbols cannot be listed without loading it"))
    }
    return facts
  }

  // MARK: - Calls

  private func runCalls(_ plugin: LoadedPlugin) throws(Fault) {
    let type = try messageType()
    let neighbours = [
      SelfTestNeighbour.registration("outer neighbour", priority: .max),
      SelfTestNeighbour.registration("inner neighbour", priority: .min),
    ]
    var registration = plugin.registration
    registration.methods = .all
    for holds in [false, true] {
      for kind in [CallKind.unary, .clientStreaming, .serverStreaming, .bidiStreaming] {
        for course in SelfTestCall.Course.allCases {
          let chain = holds ? [neighbours[0], registration, neighbours[1]] : [registration]
          try run(SelfTestCall(kind, course, chain, type, loop: loop, log: loader.log), plugin, holds)
        }
      }
    }
  }

  private let loop = SelfTestLoop()

  private func run(_ call: SelfTestCall, _ plugin: LoadedPlugin, _ holds: Bool) throws(Fault) {
    let step = "call: \(call.name)\(holds ? ", among others that hold every value" : "")"
    let begin = ContinuousClock.now
    let isInTime = call.run(for: limit)
    guard call.isFinished else {
      throw Fault(
        step: step, reason: "the call did not end, although it was canceled", hint: nil)
    }
    try requireNoMisuse(plugin, step)
    if !isInTime {
      report(.note("\(step): held for \((ContinuousClock.now - begin).components.seconds) s, then canceled"))
    } else if let error = call.end?.error, error.origin == .interceptor(plugin.name) {
      report(.note("\(step): the plugin failed the call: \(error.code.name): \(error.message)"))
    }
    passed(step)
  }

  private func requireNoMisuse(_ plugin: LoadedPlugin, _ step: String) throws(Fault) {
    guard let misuse = plugin.misuses.first else { return }
    throw Fault(step: step, reason: "the plugin misbehaves: \(misuse)", hint: nil)
  }

  private func messageType() throws(Fault) -> MessageType {
    let pool = DescriptorPool()
    do throws(SchemaError) {
      try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
      if let type = try pool.messageType(named: "google.protobuf.Value") { return type }
    } catch {
      throw Fault(step: "self-test", reason: error.description, hint: nil)
    }
    throw Fault(step: "self-test", reason: "the well-known types lack google.protobuf.Value", hint: nil)
  }
}
