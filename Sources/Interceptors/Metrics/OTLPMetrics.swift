import RPCurlProtocols

/// The report of `metrics` as OTLP: the metrics of OpenTelemetry's conventions for RPC clients, and sums of their own.
struct OTLPMetrics {
  /// The metrics.
  private enum Metric: String, CaseIterable {
    case duration = "rpc.client.duration"
    case requests = "rpc.client.requests_per_rpc"
    case responses = "rpc.client.responses_per_rpc"
    case sentBytes = "rpcurl.client.sent.bytes"
    case receivedBytes = "rpcurl.client.received.bytes"

    var unit: String {
      switch self {
      case .duration: "ms"
      case .requests, .responses: "{count}"
      case .sentBytes, .receivedBytes: "By"
      }
    }

    var isSum: Bool { unit == "By" }
  }

  private let start: UInt64
  private let end: UInt64

  /// Makes a report of a period, in nanoseconds since 1970.
  init(from start: Int64, to end: Int64) {
    self.start = UInt64(clamping: start)
    self.end = UInt64(clamping: end)
  }

  /// A `ExportMetricsServiceRequest`.
  func request(_ statistics: CallStatistics, _ resource: OTLPResource) -> [UInt8] {
    resource.request(
      Metric.allCases.map { serialized($0, statistics.series) } + statistics.counters.map(serialized))
  }

  /// The sum of a plugin's counter.
  private func serialized(_ name: String, _ value: Double) -> [UInt8] {
    var point = OTLPMessage()
    point.add(2, fixed64: start)
    point.add(3, fixed64: end)
    point.add(4, fixed64: value.bitPattern)
    var data = OTLPMessage()
    data.add(1, bytes: point.bytes)
    data.add(2, varint: 2)
    data.add(3, varint: 1)
    var message = OTLPMessage()
    message.add(1, name)
    message.add(7, bytes: data.bytes)
    return message.bytes
  }

  private func serialized(_ metric: Metric, _ series: [CallSeries]) -> [UInt8] {
    var data = OTLPMessage()
    for one in series { data.add(1, bytes: point(metric, one).bytes) }
    // Cumulative: the counts since the start of the program.
    data.add(2, varint: 2)
    if metric.isSum { data.add(3, varint: 1) }
    var message = OTLPMessage()
    message.add(1, metric.rawValue)
    message.add(3, metric.unit)
    message.add(metric.isSum ? 7 : 9, bytes: data.bytes)
    return message.bytes
  }

  /// A data point of a sum or a histogram.
  private func point(_ metric: Metric, _ series: CallSeries) -> OTLPMessage {
    var point = OTLPMessage()
    let attributes: UInt64 = metric.isSum ? 7 : 9
    point.add(attributes, attributesOf: series.method, series.protocolName)
    point.add(attributes, attributesOf: series.code, series.protocolName)
    point.add(2, fixed64: start)
    point.add(3, fixed64: end)
    switch metric {
    case .duration: addLatencies(series, to: &point)
    // Of these only the sum and the number of calls are known.
    case .requests: point.add(5, fixed64: Double(series.sentMessages).bitPattern)
    case .responses: point.add(5, fixed64: Double(series.receivedMessages).bitPattern)
    case .sentBytes: point.add(6, fixed64: UInt64(clamping: series.sentBytes))
    case .receivedBytes: point.add(6, fixed64: UInt64(clamping: series.receivedBytes))
    }
    if !metric.isSum { point.add(4, fixed64: UInt64(series.calls)) }
    return point
  }

  /// Adds latencies in milliseconds, with the buckets of the report for Prometheus.
  private func addLatencies(_ series: CallSeries, to point: inout OTLPMessage) {
    let latencies = series.latencies
    var counts: [UInt64] = []
    var last: Int64 = 0
    for count in latencies.counts(upTo: PrometheusText.bounds) + [Int64(series.calls)] {
      counts.append(UInt64(clamping: count - last))
      last = count
    }
    point.add(5, fixed64: milliseconds(series.totalLatency))
    point.add(6, packed: counts)
    point.add(7, packed: PrometheusText.bounds.map(milliseconds))
    point.add(11, fixed64: milliseconds(latencies.min))
    point.add(12, fixed64: milliseconds(latencies.max))
  }

  private func milliseconds(_ duration: Duration) -> UInt64 {
    (Double(duration.nanoseconds) / 1e6).bitPattern
  }
}
