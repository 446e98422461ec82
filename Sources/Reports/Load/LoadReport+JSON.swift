import RPCurlProtobuf
import RPCurlProtocols

/// The report for programs.
extension LoadReport {
  /// The report as a JSON object on one line.
  package func json(_ results: [LoadThreshold.Result]) -> [UInt8] {
    var object = JSONObject()
    object.add("target", target)
    object.add("method", method)
    for (name, value) in facts { object.add(name, value) }
    if !run.tags.isEmpty {
      var tags = JSONObject()
      for tag in run.tags { tags.add(tag.name, tag.value) }
      object.add("tags", raw: tags.object)
    }
    object.add("loop", shape.loop == .closed ? "closed" : "open")
    if shape.loop != .closed, let rate = shape.level { object.add("intended_rate", raw: Decimal.short(rate)) }
    object.add("jobs", shape.jobs)
    if let connections { object.add("connections", connections) }
    object.add("interrupted", raw: "\(isInterrupted)")
    object.add("seconds", raw: Decimal.seconds(elapsed))
    for case (let name, let value?) in counts { object.add(name, value) }
    object.add("error_share", raw: Decimal.text(errorShare, 6))
    object.add("rate", raw: Decimal.text(rate, 3))
    object.add("latency_ms", raw: statistics.latencies.total == 0 ? "null" : latencyObject)
    object.add("statuses", raw: Self.array(statistics.groups.map(Self.object)))
    let parts = [("stages", stages), ("tests", tests), ("methods", methods), ("addresses", addresses)]
    for (name, parts) in parts where !parts.isEmpty {
      object.add(name, raw: Self.array(parts.map(Self.object)))
    }
    object.add("thresholds", raw: Self.array(results.map(Self.object)))
    object.add("interval_seconds", raw: Decimal.seconds(statistics.series.length))
    object.add("intervals", raw: Self.array(statistics.series.intervals.map(Self.object)))
    // What --compare reads.
    let classes = statistics.latencies.recorded
    object.add(
      "histogram_ns", raw: Self.array(classes.map { "[\($0.latency.nanoseconds),\($0.count)]" }))
    return object.line
  }

  /// What distinguishes the run from others, by name.
  private var facts: [(String, String)] {
    [("time", run.time), ("version", run.version), ("command", run.command), ("load", load)]
  }

  /// The numbers of calls, messages and bytes, by name. The messages of a suite are not counted.
  private var counts: [(String, Int?)] {
    let traffic = [
      ("sent_messages", statistics.sentMessages), ("received_messages", statistics.receivedMessages),
      ("sent_bytes", statistics.sentBytes), ("received_bytes", statistics.receivedBytes),
    ]
    return [("calls", statistics.calls), ("errors", errors), ("not_started", missed)]
      + traffic.map { ($0, tests.isEmpty ? $1 : nil) }
  }

  private var latencyObject: String {
    var object = JSONObject()
    for (name, latency) in latencies { object.add(name, raw: Decimal.milliseconds(latency)) }
    return object.object
  }

  private static func array(_ elements: [String]) -> String { "[\(elements.joined(separator: ","))]" }

  private static func object(_ group: LoadStatistics.Group) -> String {
    var object = JSONObject()
    object.add("status", group.outcome.name)
    object.add("calls", group.calls)
    if !group.reason.isEmpty { object.add("first", group.reason) }
    return object.object
  }

  private static func object(_ part: Part) -> String {
    let latencies = part.statistics.latencies
    var object = JSONObject()
    object.add("name", part.name)
    if let start = part.start { object.add("start_seconds", raw: Decimal.seconds(start)) }
    object.add("calls", part.statistics.calls)
    object.add("errors", part.errors)
    if part.start != nil { object.add("not_started", part.missed) }
    for percentile in latencies.total == 0 ? [] : percentiles {
      object.add(
        "p\(Decimal.short(percentile))_ms", raw: Decimal.milliseconds(latencies.quantile(percentile)))
    }
    return object.object
  }

  private static func object(_ result: LoadThreshold.Result) -> String {
    var object = JSONObject()
    object.add("threshold", result.condition)
    object.add("measured", result.measured)
    object.add("passed", raw: "\(result.holds)")
    return object.object
  }

  private static func object(_ interval: LoadSeries.Interval) -> String {
    var object = JSONObject()
    object.add("calls", interval.calls)
    object.add("errors", interval.errors)
    object.add("max_ms", raw: Decimal.milliseconds(interval.longest))
    return object.object
  }

  /// The report as comma-separated values (RFC 4180): a line of names, and a line of values.
  package func csv() -> String {
    var columns = [("target", target), ("method", method), ("seconds", Decimal.seconds(elapsed))]
    columns += counts.map { ($0, $1.map { "\($0)" } ?? "") }
    columns.append(("rate", Decimal.text(rate, 3)))
    let hasLatencies = statistics.latencies.total > 0
    columns += latencies.map { ("\($0)_ms", hasLatencies ? Decimal.milliseconds($1) : "") }
    columns += facts + [("interrupted", "\(isInterrupted)")]
    columns += run.tags.map { ("tag.\($0.name)", $0.value) }
    let names = columns.map(\.0).joined(separator: ",")
    return "\(names)\r\n\(columns.map { Self.field($0.1) }.joined(separator: ","))\r\n"
  }

  private static func field(_ text: String) -> String {
    guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
    return "\"\(text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }
}
