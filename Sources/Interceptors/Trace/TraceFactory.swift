import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that continue a trace, or begin one, and export spans.
struct TraceFactory: CollectingFactory {
  static let description = BuiltIns.Description(
    name: "trace", summary: "send trace context (W3C), and export spans with OTLP",
    keys: [
      BuiltIns.Key("endpoint=URL", "OTLP endpoint (that of OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)"),
      BuiltIns.Key("file=FILE", "write the spans to a file instead", isOutput: true),
      BuiltIns.Key("messages=true|false", "record an event for each message", default: "true"),
      BuiltIns.Key(
        "timeout=DURATION", "how long the program waits for the endpoint", default: "2s", for: ["endpoint"]),
    ],
    make: { settings, services throws(ConfigurationError) in try TraceFactory(settings, services) })

  /// What the calls of a registration share.
  final class Plan: Sendable {
    /// The span of the environment, which causes all calls; nil if absent.
    let parent: TraceParent?
    let traceState: String
    let hasMessages: Bool
    /// Nil if spans are not exported.
    let exporter: SpanExporter?
    let services: any InterceptorServices
    /// What is invalid in the environment; empty after it was reported.
    private let problem: Locked<String>

    fileprivate init(
      _ settings: SettingsReader, _ services: any InterceptorServices
    ) throws(ConfigurationError) {
      self.services = services
      hasMessages = try settings.flag("messages") ?? true
      exporter = try TraceFactory.exporter(settings, services)
      var problem = ""
      // OpenTelemetry, "Environment Variables as Context Propagation Carriers".
      let text = services.environment("TRACEPARENT") ?? ""
      parent = TraceParent(text)
      var state: String? = ""
      if parent != nil {
        state = TraceState.parse([services.environment("TRACESTATE") ?? ""])
        if state == nil { problem = "the environment variable TRACESTATE is invalid, and is not forwarded" }
      } else if !text.isEmpty {
        problem = "the environment variable TRACEPARENT is invalid: a new trace begins"
      }
      traceState = state ?? ""
      self.problem = Locked(problem)
    }

    /// Returns what is invalid in the environment, the first time.
    fileprivate func takeProblem() -> String {
      problem.withLock { problem in
        defer { problem = "" }
        return problem
      }
    }
  }

  /// Makes the interceptors of attempts.
  private struct Attempts: InterceptorFactory {
    let exporter: SpanExporter
    let hasMessages: Bool

    var declaration: InterceptorDeclaration { InterceptorDeclaration().keepingResponses() }

    func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
      TraceAttempt(exporter, hasMessages: hasMessages, call, context)
    }
  }

  private let plan: Plan

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    plan = try Plan(settings, services)
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(stages: [.requestStart, .responseEnd], effects: .changesHeaders)
      .keepingResponses()
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    let problem = plan.takeProblem()
    if !problem.isEmpty { context.log(.warning, problem) }
    plan.exporter?.begin()
    return Trace(plan, call, context)
  }

  var innermost: (any InterceptorFactory)? {
    plan.exporter.map { Attempts(exporter: $0, hasMessages: plan.hasMessages) }
  }

  func callFinished(_ network: FactoryNetwork) { plan.exporter?.flush(network) }

  func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
    guard let exporter = plan.exporter else { return completion() }
    exporter.conclude(network, completion)
  }

  private static func exporter(
    _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) -> SpanExporter? {
    let resource = OTLPResource(services)
    guard let path = settings.text("file") else {
      let endpoint = try OTLPEndpoint(.traces, settings, services)
      return endpoint.map { SpanExporter(settings.interceptor, .endpoint($0), resource) }
    }
    guard path != "-", !path.isEmpty else { throw settings.error("file", "must be a file name") }
    for key in ["endpoint", "timeout"] where settings.text(key) != nil {
      throw settings.error(key, "cannot be combined with file")
    }
    do throws(SystemError) {
      let file = try services.openFile(path, isAppending: false)
      return SpanExporter(settings.interceptor, .file(file, path), resource)
    } catch {
      throw settings.error("file", "\(path): \(error.reason)")
    }
  }
}
