import RPCurlBase
import RPCurlLanguage
import RPCurlProtocols

/// A condition that a run has to fulfil, such as `p99 < 50ms`.
package struct LoadThreshold: Equatable, Sendable {
  /// What is compared.
  enum Metric: Equatable, Sendable {
    /// A latency: least, mean, greatest, or that of a percentile.
    case least, mean, most
    case percentile(Double)
    /// The number of calls that failed, and its percentage of all calls.
    case errors, errorShare
    /// The number of calls that ended in a second.
    case rate
  }

  /// The condition as it was given.
  package let text: String
  let metric: Metric
  let comparison: Comparison
  /// The limit: a latency in nanoseconds, a number of errors or calls, or a percentage.
  let limit: Double

  /// Parses conditions with commas between them.
  ///
  /// - Throws: ``LanguageError`` for the first that is invalid.
  package static func list(_ text: String) throws(LanguageError) -> [LoadThreshold] {
    var list: [LoadThreshold] = []
    for part in parts(text) { list.append(try LoadThreshold(part)) }
    return list
  }

  /// The texts of conditions with commas between them.
  package static func parts(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map { String($0.stripped) }
  }

  /// Parses a condition.
  package init(_ text: String) throws(LanguageError) {
    self.text = text
    let name = text.prefix { !$0.isWhitespace && !"<>=!".contains($0) }
    var rest = text[name.endIndex...].stripped
    guard let comparison = Comparison.parse(from: &rest), comparison.holds(.same) != nil else {
      throw LanguageError("missing comparison: ==, !=, <, <=, > or >=")
    }
    self.comparison = comparison
    let value = String(rest.stripped)
    switch name {
    case "rate", "errors":
      let isShare = name == "errors" && value.hasSuffix("%")
      guard let number = Double(isShare ? String(value.dropLast()) : value), number >= 0, number.isFinite
      else {
        throw LanguageError(
          name == "rate" ? "the rate is a number" : "errors are a number, or a percentage with %")
      }
      metric = name == "rate" ? .rate : isShare ? .errorShare : .errors
      limit = number
    default:
      guard let latency = Self.latency(name) else {
        throw LanguageError(
          "\(name) is not measured", hint: "compare p50, p99.9, min, mean, max, errors or rate")
      }
      metric = latency
      limit = Double(try Duration(withUnit: value).nanoseconds)
    }
  }

  /// The names of latencies that are no percentiles.
  private static let latencies: [String: Metric] = ["min": .least, "mean": .mean, "avg": .mean, "max": .most]

  /// The names that can be compared, with the percentiles of reports.
  package static let names: [String] =
    LoadReport.percentiles.map { "p\(Decimal.short($0))" } + latencies.keys.sorted() + ["errors", "rate"]

  private static func latency(_ name: Substring) -> Metric? {
    if let metric = latencies[String(name)] { return metric }
    guard name.first == "p", let percentile = Double(name.dropFirst()), percentile > 0, percentile <= 100
    else { return nil }
    return .percentile(percentile)
  }

  /// The result of the condition for a run.
  package struct Result {
    /// The condition.
    package let condition: String
    /// The measured value as text.
    package let measured: String
    /// Whether the condition holds.
    package let holds: Bool
  }

  /// Compares what was measured. No condition holds if no call was due, and none on a latency if no call ended.
  func evaluate(_ report: LoadReport) -> Result {
    let latencies = report.statistics.latencies
    let calls = report.statistics.calls + report.missed
    guard calls > 0 else {
      return Result(condition: text, measured: "no call was measured", holds: false)
    }
    let value: Double
    let measured: String
    switch metric {
    case .errors: (value, measured) = (Double(report.errors), "\(report.errors)")
    case .errorShare:
      // Rounded once, as the limit is: 7 of 125 are 5.6 %.
      (value, measured) = (Double(report.errors) * 100 / Double(calls), Decimal.percent(report.errorShare))
    case .rate: (value, measured) = (report.rate, "\(Decimal.text(report.rate, 1))/s")
    case .least, .mean, .most, .percentile:
      guard latencies.total > 0 else {
        return Result(condition: text, measured: "no call ended", holds: false)
      }
      let latency = latency(of: latencies)
      (value, measured) = (Double(latency.nanoseconds), "\(Decimal.milliseconds(latency)) ms")
    }
    return Result(condition: text, measured: measured, holds: comparison.holds(Order(value, limit)) == true)
  }

  private func latency(of latencies: LatencyHistogram) -> Duration {
    switch metric {
    case .least: latencies.min
    case .most: latencies.max
    case .percentile(let percentile): latencies.quantile(percentile)
    case .mean, .errors, .errorShare, .rate: latencies.mean
    }
  }
}
