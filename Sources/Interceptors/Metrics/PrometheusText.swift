import RPCurlProtocols

/// The report of `metrics` in the text format of Prometheus, version 0.0.4.
struct PrometheusText {
  /// The upper bounds of the buckets of latencies.
  static let bounds: [Duration] = [
    1, 2, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000,
  ].map { .milliseconds($0) }

  private(set) var text = ""

  /// Writes the metrics of all series, and the counters of plugins.
  init(_ statistics: CallStatistics) {
    let series = statistics.series
    let duration = "rpcurl_call_duration_seconds"
    describe(duration, "histogram", "Time from the start of a call to its end.")
    for one in series {
      let labels = Self.labels(of: one)
      let counts = one.latencies.counts(upTo: Self.bounds)
      for (index, bound) in Self.bounds.enumerated() {
        add(duration + "_bucket", "\(labels),le=\"\(Self.seconds(bound))\"", "\(counts[index])")
      }
      add(duration + "_bucket", labels + ",le=\"+Inf\"", "\(one.calls)")
      add(duration + "_sum", labels, Self.seconds(one.totalLatency))
      add(duration + "_count", labels, "\(one.calls)")
    }
    let quantiles = "rpcurl_call_duration_quantile_seconds"
    describe(quantiles, "gauge", "Quantiles of the time of a call.")
    for one in series {
      let latencies = one.corrected ?? one.latencies
      for (index, fraction) in CallStatistics.fractions.enumerated() {
        let quantile = latencies.quantile(CallStatistics.percentiles[index])
        add(quantiles, "\(Self.labels(of: one)),quantile=\"\(fraction)\"", Self.seconds(quantile))
      }
    }
    addCounters("rpcurl_attempts_total", "Attempts at calls.", series, \.attempts)
    addCounters("rpcurl_sent_messages_total", "Messages sent.", series, \.sentMessages)
    addCounters("rpcurl_received_messages_total", "Messages received.", series, \.receivedMessages)
    addCounters("rpcurl_sent_bytes_total", "Bytes of request bodies.", series, \.sentBytes)
    addCounters("rpcurl_received_bytes_total", "Bytes of response bodies.", series, \.receivedBytes)
    for (name, value) in statistics.counters {
      describe(name, "counter", "Counted by a plugin.")
      text += "\(name) \(value.counterText)\n"
    }
  }

  @inline(never)
  private mutating func addCounters(
    _ name: String, _ help: String, _ series: [CallSeries], _ value: (CallSeries) -> Int
  ) {
    describe(name, "counter", help)
    for one in series { add(name, Self.labels(of: one), "\(value(one))") }
  }

  private mutating func describe(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  private mutating func add(_ name: String, _ labels: String, _ value: String) {
    text += "\(name){\(labels)} \(value)\n"
  }

  /// The names of services and methods have no characters that need an escape.
  private static func labels(of series: CallSeries) -> String {
    let name = series.method
    return
      "service=\"\(name.service)\",method=\"\(name.method)\",protocol=\"\(series.protocolName.rawValue)\",code=\"\(series.code.name)\""
  }

  private static func seconds(_ duration: Duration) -> String { "\(Double(duration.nanoseconds) / 1e9)" }
}
