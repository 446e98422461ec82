import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that count calls, and reports the counts after the last call.
struct MetricsFactory: CollectingFactory {
  static let description = BuiltIns.Description(
    name: "metrics", summary: "count calls, sizes and latencies, and report them after the last call",
    keys: [
      BuiltIns.Key("format=text|json|prometheus|otlp", "format of the report", default: "text"),
      BuiltIns.Key("file=FILE", "file to write the report to (standard error)", isOutput: true),
      BuiltIns.Key("interval=DURATION", "expected time between calls, to correct quantiles"),
      BuiltIns.Key("endpoint=URL", "OTLP endpoint (that of OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)"),
      BuiltIns.Key(
        "timeout=DURATION", "how long the program waits for the endpoint", default: "2s", for: ["endpoint"]),
    ],
    make: { settings, services throws(ConfigurationError) in try MetricsFactory(settings, services) })

  fileprivate enum Format: String, CaseIterable {
    case text, json, prometheus, otlp
  }

  /// The destination of the report.
  private enum Destination {
    case standardError
    case file(String)
    case endpoint(OTLPEndpoint)
  }

  /// The counts of all calls of a registration.
  final class Shared: Sendable {
    private let services: any InterceptorServices
    private let statistics: Locked<CallStatistics>

    fileprivate init(_ services: any InterceptorServices, expectedInterval: Duration) {
      self.services = services
      statistics = Locked(CallStatistics(expectedInterval: expectedInterval))
    }

    func started() {
      let now = services.nanosecondsSince1970
      statistics.withLock { $0.started(at: now) }
    }

    func count(_ facts: CallFacts, _ code: StatusCode, _ latency: Duration, _ metrics: CallMetrics) {
      statistics.withLock { $0.count(facts.method, facts.protocolName, code, latency, metrics) }
    }

    /// The report in a format; nil if no call was made.
    fileprivate func report(_ format: Format, at now: Int64) -> [UInt8]? {
      statistics.withLock { statistics in
        guard !statistics.series.isEmpty, let start = statistics.startedAt else { return nil }
        statistics.counters = services.shared.counters
        switch format {
        case .text: return Array(MetricsTable.text(statistics).utf8)
        case .json: return MetricsJSON.line(statistics, duration: .nanoseconds(now - start))
        case .prometheus: return Array(PrometheusText(statistics).text.utf8)
        case .otlp: return OTLPMetrics(from: start, to: now).request(statistics, OTLPResource(services))
        }
      }
    }
  }

  private let name: String
  private let format: Format
  private let destination: Destination
  private let shared: Shared
  private let services: any InterceptorServices

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    name = settings.interceptor
    self.services = services
    format = try settings.choice("format", Format.self) ?? .text
    let interval = try settings.duration("interval") ?? .zero
    guard interval == .zero || interval >= .milliseconds(1) else {
      throw settings.error("interval", "must be at least 1ms")
    }
    shared = Shared(services, expectedInterval: interval)
    if format != .otlp {
      for key in ["endpoint", "timeout"] where settings.text(key) != nil {
        throw settings.error(key, "requires format=otlp")
      }
    }
    switch (settings.text("file"), format) {
    case ("-", .text), ("-", .json), (nil, .text), (nil, .json): destination = .standardError
    case ("", _), ("-", _): throw settings.error("file", "must be a file name")
    case (let file?, .otlp) where settings.text("endpoint") != nil:
      throw settings.error("file", "\(file): cannot be combined with endpoint")
    case (let file?, _):
      do { try services.claim(file) } catch { throw settings.error("file", "\(file): \(error.reason)") }
      destination = .file(file)
    case (nil, .prometheus):
      throw ConfigurationError(
        interceptor: name, key: "format", reason: "prometheus requires a file",
        hint: "add file=FILE, below the directory of the textfile collector")
    case (nil, .otlp):
      guard let endpoint = try OTLPEndpoint(.metrics, settings, services) else {
        throw ConfigurationError(
          interceptor: name, key: "format", reason: "otlp requires an endpoint or a file",
          hint: "add endpoint=http://localhost:4318, or set OTEL_EXPORTER_OTLP_ENDPOINT")
      }
      destination = .endpoint(endpoint)
    }
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(stages: [.requestStart, .responseEnd]).keepingResponses()
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    Metrics(shared, call, context)
  }

  func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
    guard let report = shared.report(format, at: services.nanosecondsSince1970) else { return completion() }
    do throws(SystemError) {
      switch destination {
      case .standardError: try services.openFile("-", isAppending: true).write(report)
      case .file(let path):
        do throws(SystemError) {
          try services.replaceFile(path, with: report, isPrivate: false)
        } catch {
          throw SystemError("\(path): \(error.reason)")
        }
      case .endpoint(let endpoint):
        let name = name
        return endpoint.send(report, network) { problem in
          if let problem {
            network.log(LogRecord(level: .warning, source: name, text: "not exported: \(problem)"))
          }
          completion()
        }
      }
    } catch {
      network.log(LogRecord(level: .warning, source: name, text: "cannot write the report: \(error.reason)"))
    }
    completion()
  }
}
