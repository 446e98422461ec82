import CommandLine
import Interceptors

/// A condition that a run has to fulfil, such as `p99<50ms`.
package struct LoadThreshold: Equatable, Sendable {
  /// What is compared.
  enum Metric: Equatable, Sendable {
    /// A latency: least, mean, greatest, or that of a percentile.
    case least, mean, most
    case percentile(Double)
    /// The number of calls that failed, and its fraction of all calls.
    case errors, errorShare
    /// The number of calls that ended in a second.
    case rate
  }

  /// How it is compared.
  enum Comparison: String, CaseIterable, Sendable {
    case atMost = "<="
    case atLeast = ">="
    case less = "<"
    case greater = ">"

    func holds(_ value: Double, _ limit: Double) -> Bool {
      switch self {
      case .atMost: value <= limit
      case .atLeast: value >= limit
      case .less: value < limit
      case .greater: value > limit
      }
    }
  }

  /// Why a condition is invalid.
  package struct ParseError: Error, Equatable {
    /// The condition.
    package let text: String
    /// The reason.
    package let why: String
  }

  /// The condition as it was given.
  package let text: String
  let metric: Metric
  let comparison: Comparison
  /// The limit: a latency in nanoseconds, a number of errors or calls, or a fraction.
  let limit: Double

  /// Parses conditions with commas between them.
  ///
  /// - Throws: ``ParseError`` for the first that is invalid.
  package static func list(_ text: String) throws(ParseError) -> [LoadThreshold] {
    var list: [LoadThreshold] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      list.append(try LoadThreshold(String(part.filter { $0 != " " })))
    }
    return list
  }

  private init(_ text: String) throws(ParseError) {
    func invalid(_ why: String) -> ParseError { ParseError(text: text, why: why) }
    self.text = text
    let name = text.prefix { $0 != "<" && $0 != ">" }
    let rest = text[name.endIndex...]
    guard let comparison = Comparison.allCases.first(where: { rest.hasPrefix($0.rawValue) }) else {
      throw invalid("missing comparison: <, <=, > or >=")
    }
    self.comparison = comparison
    let value = String(rest.dropFirst(comparison.rawValue.count))
    switch name {
    case "rate", "errors":
      let isShare = name == "errors" && value.hasSuffix("%")
      guard let number = Double(isShare ? String(value.dropLast()) : value), number >= 0, number.isFinite
      else {
        throw invalid(name == "rate" ? "the rate is a number" : "errors are a number, or a percentage with %")
      }
      metric = name == "rate" ? .rate : isShare ? .errorShare : .errors
      limit = isShare ? number / 100 : number
    default:
      guard let latency = Self.latency(name) else {
        throw invalid("compare p50, p99.9 or another percentile, min, mean, max, errors or rate")
      }
      guard let duration = Value.duration(value), value.last?.isLetter == true else {
        throw invalid("the limit of a latency is a duration with its unit, such as 50ms")
      }
      metric = latency
      limit = Double(duration.nanoseconds)
    }
  }

  private static func latency(_ name: Substring) -> Metric? {
    switch name {
    case "min": return .least
    case "mean", "avg": return .mean
    case "max": return .most
    default:
      guard name.first == "p", let percentile = Double(name.dropFirst()), percentile > 0, percentile <= 100
      else { return nil }
      return .percentile(percentile)
    }
  }

  /// The result of the condition for a run.
  package struct Result {
    /// The condition.
    package let threshold: LoadThreshold
    /// The measured value as text.
    package let measured: String
    /// Whether the condition holds.
    package let holds: Bool
  }

  /// Compares what was measured. No condition holds if no call was due, and none on a latency if no call ended.
  func evaluate(_ report: LoadReport) -> Result {
    let latencies = report.statistics.latencies
    guard report.statistics.calls + report.missed > 0 else {
      return Result(threshold: self, measured: "no call was measured", holds: false)
    }
    let value: Double
    let text: String
    switch metric {
    case .errors: (value, text) = (Double(report.errors), "\(report.errors)")
    case .errorShare: (value, text) = (report.errorShare, Decimal.percent(report.errorShare))
    case .rate: (value, text) = (report.rate, "\(Decimal.text(report.rate, 1))/s")
    case .least, .mean, .most, .percentile:
      guard latencies.total > 0 else {
        return Result(threshold: self, measured: "no call ended", holds: false)
      }
      let latency = latency(of: latencies)
      (value, text) = (Double(latency.nanoseconds), "\(Decimal.milliseconds(latency)) ms")
    }
    return Result(threshold: self, measured: text, holds: comparison.holds(value, limit))
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
