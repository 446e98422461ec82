import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols

/// The report of `metrics` as a JSON object on one line.
enum MetricsJSON {
  /// The object.
  ///
  /// - Parameter duration: The time since the start of the first call.
  static func line(_ statistics: CallStatistics, duration: Duration) -> [UInt8] {
    var report = JSONObject()
    report.add("duration_ms", milliseconds: duration)
    if statistics.expectedInterval > .zero {
      report.add("expected_interval_ms", milliseconds: statistics.expectedInterval)
    }
    report.add("calls", raw: "[\(statistics.series.map(object).joined(separator: ","))]")
    if !statistics.counters.isEmpty {
      var counters = JSONObject()
      for (name, value) in statistics.counters { counters.add(name, raw: value.counterText) }
      report.add("counters", raw: counters.object)
    }
    return report.line
  }

  private static func object(_ series: CallSeries) -> String {
    var object = JSONObject()
    object.add("method", series.method.description)
    object.add("protocol", series.protocolName.rawValue)
    object.add("code", series.code.name)
    object.add("code_number", series.code.rawValue)
    object.add("calls", series.calls)
    object.add("attempts", series.attempts)
    object.add("sent", series.sentMessages)
    object.add("received", series.receivedMessages)
    object.add("bytes_sent", series.sentBytes)
    object.add("bytes_received", series.receivedBytes)
    object.add("latency_ms", raw: latencies(series.latencies))
    if let corrected = series.corrected { object.add("corrected_latency_ms", raw: latencies(corrected)) }
    return object.object
  }

  private static func latencies(_ histogram: LatencyHistogram) -> String {
    var object = JSONObject()
    object.add("min", milliseconds: histogram.min)
    object.add("mean", milliseconds: histogram.mean)
    for (index, name) in ["p50", "p90", "p99", "p999"].enumerated() {
      object.add(name, milliseconds: histogram.quantile(CallStatistics.percentiles[index]))
    }
    object.add("max", milliseconds: histogram.max)
    return object.object
  }
}
