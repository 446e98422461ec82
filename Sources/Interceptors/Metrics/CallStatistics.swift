import RPCurlBase
import RPCurlChain
import RPCurlProtocols

/// What is counted of the calls of one method that ended with one status.
final class CallSeries {
  let method: MethodName
  let protocolName: ProtocolName
  let code: StatusCode
  private(set) var calls = 0
  private(set) var attempts = 0
  private(set) var sentMessages = 0
  private(set) var receivedMessages = 0
  private(set) var sentBytes = 0
  private(set) var receivedBytes = 0
  /// The sum of all latencies.
  private(set) var totalLatency = Duration.zero
  let latencies = LatencyHistogram()
  /// The latencies with those of calls that slow calls have delayed; nil if no interval is expected.
  let corrected: LatencyHistogram?

  init(_ method: MethodName, _ protocolName: ProtocolName, _ code: StatusCode, isCorrected: Bool) {
    self.method = method
    self.protocolName = protocolName
    self.code = code
    corrected = isCorrected ? LatencyHistogram() : nil
  }

  /// Counts a call.
  fileprivate func count(_ latency: Duration, _ metrics: CallMetrics, expectedInterval: Duration) {
    calls += 1
    attempts = attempts.saturatingSum(metrics.attempts)
    sentMessages = sentMessages.saturatingSum(metrics.sentMessages)
    receivedMessages = receivedMessages.saturatingSum(metrics.receivedMessages)
    sentBytes = sentBytes.saturatingSum(metrics.sentBytes)
    receivedBytes = receivedBytes.saturatingSum(metrics.receivedBytes)
    totalLatency += latency
    latencies.count(latency)
    corrected?.count(latency, expectedInterval: expectedInterval)
  }

  /// What reports are sorted by.
  fileprivate var order: (String, Int, String) { (method.description, code.rawValue, protocolName.rawValue) }
}

extension Double {
  /// The number without a fraction that is zero.
  var counterText: String { Int(exactly: self).map { "\($0)" } ?? "\(self)" }
}

/// What is counted of all calls.
struct CallStatistics {
  /// The percentages of the quantiles in reports.
  static let percentiles: [Double] = [50, 90, 99, 99.9]
  /// The same as fractions.
  static let fractions = ["0.5", "0.9", "0.99", "0.999"]

  /// The expected time between two calls; zero if not set.
  let expectedInterval: Duration
  /// When the first call started, in nanoseconds since 1970; nil before it.
  private(set) var startedAt: Int64?
  /// The series, by method, code and protocol.
  private(set) var series: [CallSeries] = []
  /// The counters of plugins, by name.
  var counters: [(name: String, value: Double)] = []

  init(expectedInterval: Duration) { self.expectedInterval = expectedInterval }

  /// Notes that a call has started.
  mutating func started(at now: Int64) {
    if startedAt == nil { startedAt = now }
  }

  /// Counts a call that has ended.
  mutating func count(
    _ method: MethodName, _ protocolName: ProtocolName, _ code: StatusCode, _ latency: Duration,
    _ metrics: CallMetrics
  ) {
    var place = 0
    for one in series {
      if one.method == method, one.code == code, one.protocolName == protocolName {
        return one.count(latency, metrics, expectedInterval: expectedInterval)
      }
      if one.order < (method.description, code.rawValue, protocolName.rawValue) { place += 1 }
    }
    let new = CallSeries(method, protocolName, code, isCorrected: expectedInterval > .zero)
    new.count(latency, metrics, expectedInterval: expectedInterval)
    series.insert(new, at: place)
  }
}
