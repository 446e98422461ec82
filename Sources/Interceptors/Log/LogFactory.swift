import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// Makes interceptors that log calls.
struct LogFactory: CollectingFactory {
  static let description = BuiltIns.Description(
    name: "log", summary: "log calls as text, NDJSON or a HAR file",
    keys: [
      BuiltIns.Key("format=human|ndjson|har", "format", default: "human"),
      BuiltIns.Key("file=FILE", "file to write to (standard error)", isOutput: true),
      BuiltIns.Key(
        "append=true|false", "append to an existing file instead of replacing it", default: "false"),
      BuiltIns.Key("bodies=true|false", "log messages too", default: "false"),
      BuiltIns.Key("max-body=BYTES", "maximum logged size of a message", default: "16384"),
    ] + SettingsReader.redactionKeys,
    isHarmless: true,
    make: { settings, services throws(ConfigurationError) in try LogFactory(settings, services) })

  private enum Format: String, CaseIterable {
    case human, ndjson, har
  }

  /// The destination of the log.
  private enum Target {
    case lines(any OutputFile, isJSON: Bool)
    case archive(ReportFile<String>)
  }

  private let target: Target
  private let options: LogOptions
  private let services: any InterceptorServices
  private let name: String

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    self.services = services
    name = settings.interceptor
    let format = try settings.choice("format", Format.self) ?? .human
    let path = settings.text("file") ?? "-"
    options = LogOptions(
      destination: path == "-" ? "the log" : path,
      redaction: try settings.redaction(), bodies: try settings.flag("bodies") ?? false,
      maxBodyBytes: try settings.integer("max-body", in: 1...(64 << 20)) ?? 16_384)
    let isAppending = try settings.flag("append") ?? false
    guard !path.isEmpty else { throw settings.error("file", "must be a file name") }
    do throws(SystemError) {
      guard format == .har else {
        target = .lines(try services.openFile(path, isAppending: isAppending), isJSON: format == .ndjson)
        return
      }
      guard path != "-" else {
        throw SystemError("format=har requires a file, which is rewritten after each call")
      }
      guard !isAppending else { throw SystemError("format=har cannot append") }
      try services.checkReplacing(path)
      target = .archive(try HARFile.file(path, services))
    } catch {
      throw settings.error("file", path == "-" ? error.reason : "\(path): \(error.reason)")
    }
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: Log.stages, messages: MessageAccesses(.readTyped), effects: options.bodies ? .exports : []
    ).keepingResponses()
  }

  func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
    if case .archive(let archive) = target { archive.conclude(name, network) }
    completion()
  }

  func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    if options.bodies { options.redaction.reportMissingFields(call, context) }
    let writer: any LogWriter
    switch target {
    case .lines(let file, true): writer = NDJSONLog(file, call)
    case .lines(let file, false): writer = HumanLog(file, call)
    case .archive(let archive):
      do throws(SystemError) {
        try archive.start()
      } catch {
        throw ConfigurationError(
          interceptor: name, key: "file", reason: "\(archive.path): \(error.reason)")
      }
      writer = HARLog(archive, call, options)
    }
    return Log(writer, options, context, services)
  }
}

/// What to log, and how much of it.
struct LogOptions: Sendable {
  /// The name of the file for errors.
  let destination: String
  /// Reports the first write that fails, of all calls.
  let failure = Once()
  let redaction: Redaction
  let bodies: Bool
  let maxBodyBytes: Int
}
