import RPCurlChain
import RPCurlProtocols

/// Makes interceptors that respond to calls with stored responses.
struct CacheFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "cache", summary: "store responses on disk, and respond to repeated calls with them",
    keys: [
      BuiltIns.Key("ttl=DURATION", "how long a response is used at most", default: "5m"),
      BuiltIns.Key("vary=NAME+NAME", "request headers on which responses depend"),
      BuiltIns.Key("size=BYTES", "size of all stored responses", default: "64m"),
      BuiltIns.Key("refresh=true", "ignore stored responses, and replace them"),
    ],
    make: { settings, services throws(ConfigurationError) in try CacheFactory(settings, services) })

  /// Whether `methods` selects the methods; otherwise only those without side effects are cached.
  private let namesMethods: Bool
  private let policy: Cache.Policy
  private let store: ResponseStore
  private let services: any InterceptorServices

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    self.services = services
    namesMethods = settings.namesMethods
    policy = Cache.Policy(
      ttl: try settings.positiveDuration("ttl") ?? .seconds(300),
      headerNames: try settings.headerNames("vary"),
      refreshes: try settings.flag("refresh") ?? false)
    let size = try settings.byteCount("size") ?? 64 << 20
    guard size >= 64 << 10 else { throw settings.error("size", "must be at least 64k") }
    do {
      store = ResponseStore(try services.cacheFolder("responses", limitBytes: size))
    } catch {
      throw ConfigurationError(
        interceptor: settings.interceptor, reason: "no directory for the cache: \(error.reason)",
        hint: "set XDG_CACHE_HOME to the absolute path of a directory")
    }
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: Cache.stages, messages: MessageAccesses(.readTyped),
      effects: [.readsHeaders, .readsMessages, .responds, .reusesResponses])
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    // The messages of a subrequest are bytes without a schema.
    guard !call.isSubrequest else { return nil }
    guard call.kind == .unary else {
      context.report(.note, "not used: \(call.method.method) is a stream")
      return nil
    }
    guard call.hasNoSideEffects || namesMethods else {
      context.report(
        .note,
        "not used: the schema does not mark \(call.method.method) as free of side effects; "
          + "methods=\(call.method) uses it")
      return nil
    }
    return Cache(policy, store, call, context, services)
  }
}
