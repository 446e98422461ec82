import RPCurlChain
import RPCurlLanguage
import RPCurlProtocols

/// Makes interceptors that send copies of calls to a second server, and compare the responses.
struct ShadowFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "shadow", summary: "send a copy of each call to a second server, and compare the responses",
    keys: [
      BuiltIns.Key("to=TARGET", "second server: URL, or HOST:PORT with the scheme of the call"),
      BuiltIns.Key("ignore=PATH", "response field that is not compared", mayRepeat: true),
      BuiltIns.Key("headers=NAME+NAME", "headers with credentials that another server receives too"),
      BuiltIns.Key("wait=DURATION", "how long the copy may run after the end of the call", default: "1s"),
      BuiltIns.Key("file=FILE", "file for the results of all calls, as NDJSON", isOutput: true),
      BuiltIns.Key(
        "append=true|false", "append to an existing file instead of replacing it", default: "false",
        for: ["file"]),
    ],
    make: { settings, services throws(ConfigurationError) in try ShadowFactory(settings, services) })

  private let plan: ShadowPlan

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    guard let target = settings.text("to") else {
      throw ConfigurationError(
        interceptor: settings.interceptor, key: "to", reason: "missing value",
        hint: "give the second server, as in shadow,to=localhost:50052")
    }
    let isURL = target.contains("://")
    guard isURL || !target.contains("/"),
      let url = try? TargetSyntax.checked(isURL ? target : "http://\(target)")
    else { throw settings.error("to", "must be http://HOST:PORT, https://HOST:PORT or HOST:PORT") }
    var ignored: [RedactedField] = []
    for path in settings.texts("ignore") {
      do {
        ignored.append(try RedactedField(path))
      } catch {
        throw settings.error("ignore", error.reason)
      }
    }
    let names = try settings.headerNames("headers")
    let isAppending = try settings.flag("append") ?? false
    var file: (path: String, file: any OutputFile)?
    if let path = settings.text("file") {
      do {
        file = (path, try services.openFile(path, isAppending: isAppending))
      } catch {
        throw settings.error("file", "\(path): \(error.reason)")
      }
    }
    plan = ShadowPlan(
      target: isURL ? url : target, isURL: isURL, ignored: ignored,
      headerNames: names, wait: try settings.duration("wait") ?? .seconds(1), file: file, services: services)
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: Shadow.stages, messages: Shadow.messages, effects: [.exports, .readsMessages]
    ).keepingResponses()
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    // Calls of interceptors belong to another call, and further attempts are copies already.
    guard !call.isSubrequest, call.attempt == 1 else { return nil }
    if let (path, file) = plan.file {
      do {
        try file.begin()
      } catch {
        context.log(.error, "cannot write \(path): \(error.reason)")
      }
    }
    guard call.kind == .unary else {
      context.report(.note, "not copied: \(call.method.method) is a stream")
      return nil
    }
    return Shadow(plan, call, context)
  }
}

/// What is copied to which server, and where the results are written.
struct ShadowPlan: Sendable {
  let target: String
  let isURL: Bool
  /// Fields that are not compared.
  let ignored: [RedactedField]
  /// The names of headers with credentials that another server receives too.
  let headerNames: Set<String>
  let wait: Duration
  /// The file of the results, and its path.
  let file: (path: String, file: any OutputFile)?
  /// Reports the first write to it that fails, of all calls.
  let failure = Once()
  let services: any InterceptorServices

  /// The second server of a call.
  func target(of start: RequestStart) -> String {
    guard !isURL else { return target }
    return "\(start.target.hasPrefix("https:") ? "https" : "http")://\(target)"
  }

  /// The headers of the copy: without credentials, unless it is for the same server or they are named. Credentials of an
  /// interceptor that requires TLS are copied only to a server with TLS.
  func headers(of start: RequestStart, secret names: SecretNames) -> Headers {
    let target = target(of: start)
    let isSameServer = Origin(url: target) == Origin(url: start.target)
    var headers = start.headers
    for name in Set(headers.fields.map(\.name)) {
      let bound = start.credentials.flatMap { $0.headerNames.contains(name) ? $0 : nil }
      let isCopied =
        isSameServer || headerNames.contains(name) || bound == nil && !names.contains(name)
      if !isCopied || bound?.allowsPlaintext == false && !target.hasPrefix("https:") { headers.remove(name) }
    }
    return headers
  }
}
