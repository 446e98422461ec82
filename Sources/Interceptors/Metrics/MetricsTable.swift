import RPCurlProtocols

/// The report of `metrics` as a table for people.
enum MetricsTable {
  /// The table, with a line for each method and status.
  static func text(_ statistics: CallStatistics) -> String {
    var rows = [
      ["METHOD", "STATUS", "CALLS", "MEAN", "P50", "P90", "P99", "P99.9", "MAX", "SENT", "RECEIVED"]
    ]
    for series in statistics.series {
      let latencies = series.corrected ?? series.latencies
      var row = [
        series.method.description, series.code.name, "\(series.calls)", text(latency: latencies.mean),
      ]
      for percentile in CallStatistics.percentiles {
        row.append(text(latency: latencies.quantile(percentile)))
      }
      row.append(text(latency: latencies.max))
      row.append("\(series.sentMessages) (\(text(size: series.sentBytes)))")
      row.append("\(series.receivedMessages) (\(text(size: series.receivedBytes)))")
      rows.append(row)
    }
    var text = ""
    for row in rows {
      for column in 0..<row.count - 1 {
        let width = rows.reduce(0) { max($0, $1[column].utf8.count) }
        text += row[column] + String(repeating: " ", count: width - row[column].utf8.count + 2)
      }
      text += row[row.count - 1] + "\n"
    }
    if statistics.expectedInterval > .zero {
      text += "latencies corrected for an expected interval of \(statistics.expectedInterval)\n"
    }
    for (name, value) in statistics.counters { text += "\(name): \(value.counterText)\n" }
    return text
  }

  private static func text(size bytes: Int) -> String { scaled(bytes, 1, ["B", "kB", "MB", "GB"]) }

  private static func text(latency: Duration) -> String {
    scaled(Int(latency.nanoseconds), 1000, ["us", "ms", "s"])
  }

  /// A number in the largest unit that it reaches, with three significant digits.
  ///
  /// - Parameters:
  ///   - size: The size of the first unit; that of each further one is 1000 times that of the one before.
  ///   - units: The names of the units.
  private static func scaled(_ number: Int, _ size: Int, _ units: [String]) -> String {
    var size = size
    var index = 0
    while index + 1 < units.count, number >= size * 1000 {
      size *= 1000
      index += 1
    }
    let whole = number / size
    guard size > 1, whole < 100 else { return "\(whole + (number % size + size / 2) / size) \(units[index])" }
    let factor = whole < 10 ? 100 : 10
    let rounded = whole * factor + (number % size * factor + size / 2) / size
    // The digits after the point, with their leading zeros.
    let fraction = "\(rounded % factor + factor)".dropFirst()
    return "\(rounded / factor).\(fraction) \(units[index])"
  }
}
