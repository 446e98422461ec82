import RPCurlBase
import RPCurlLanguage
import RPCurlProtobuf

/// An earlier run, with which another one is compared: by its report as JSON.
///
/// Each comparison is Fisher's exact test: whether more calls than before failed, or took longer than a percentile of the calls of
/// both runs (Mood's test of medians, for any percentile).
package struct LoadBaseline {
  /// The percentiles that are compared.
  static let percentiles: [Double] = [50, 90, 99]
  /// The greatest probability with which chance alone fails one of the comparisons.
  static let significance = 0.01
  /// The fraction by which a percentile may be greater: two runs of the same server differ by this.
  static let tolerance = 0.05
  /// The most that --requests allows: the test takes a moment with as many.
  private static let mostCalls: Int64 = 1_000_000_000_000

  /// The numbers of calls with each latency in nanoseconds.
  private typealias Latencies = [(value: Int64, count: Int64)]

  /// The name of the file, without control characters: reports are shown on terminals.
  private let name: String
  private let latencies: Latencies
  private let errors: FisherTest.Share
  /// What was run.
  private let subject: String
  private let load: String

  /// Reads a report.
  ///
  /// - Parameter name: The name of its file.
  /// - Throws: ``LanguageError`` if it is not the report of a load.
  package init(_ report: JSONValue, named name: String) throws(LanguageError) {
    guard case .string(let method)? = report["method"], case .string(let load)? = report["load"],
      case .array(let classes)? = report["histogram_ns"],
      let calls = Self.number(report["calls"]), let missed = Self.number(report["not_started"]),
      let errors = Self.number(report["errors"]), calls + missed <= Self.mostCalls, errors <= calls + missed
    else {
      throw LanguageError("not a report of a load", hint: "write one with rpcurl load --format json")
    }
    let target = if case .string(let target)? = report["target"] { target } else { "" }
    (self.name, self.load) = (TerminalText.escape(name), load)
    subject = Self.subject(method, of: target)
    self.errors = (errors, calls + missed)
    var latencies: Latencies = []
    var total: Int64 = 0
    for entry in classes {
      guard case .array(let pair) = entry, pair.count == 2, let value = Self.number(pair[0]),
        let count = Self.number(pair[1])
      else { throw LanguageError("histogram_ns is not a list of pairs of numbers") }
      latencies.append((value, count))
      total += count
      guard total <= Self.mostCalls else { throw LanguageError("histogram_ns has too many calls") }
    }
    guard total > 0 else { throw LanguageError("no call ended in the run of this file") }
    self.latencies = latencies
  }

  private static func number(_ value: JSONValue?) -> Int64? {
    guard case .number(let text)? = value, let number = Int64(text), (0...1 << 53).contains(number) else {
      return nil
    }
    return number
  }

  /// What a run is of: a method, or a suite, by the name of its file. The file may be in another folder, as in another clone.
  ///
  /// - Parameters:
  ///   - method: The method; `suite` for a suite.
  ///   - target: The server, or the path of the suite.
  package static func subject(_ method: String, of target: String) -> String {
    guard method == "suite" else { return method }
    return "the suite \(target.split(separator: "/").last ?? "")"
  }

  /// Why a run cannot be compared with it; nil if it can.
  package func obstacle(to subject: String, _ load: String) -> String? {
    guard subject == self.subject else { return "a run of \(self.subject), not of \(subject)" }
    return load == self.load ? nil : "a run of another load: \(self.load); this one is \(load)"
  }

  /// The results of the comparisons of a run.
  package func results(_ report: LoadReport) -> [LoadThreshold.Result] {
    let now = report.statistics.latencies.recorded.map { (value: $0.latency.nanoseconds, count: $0.count) }
    let percentiles = Self.percentiles.map { percentile in
      let condition = "p\(Decimal.short(percentile)) <= \(name)"
      guard !now.isEmpty else {
        return LoadThreshold.Result(condition: condition, measured: "no call ended", holds: false)
      }
      let limit = Self.quantile(percentile, of: latencies + now)
      let probability = FisherTest.probability(
        of: Self.share(of: now, above: limit), above: Self.share(of: latencies, above: limit))
      let (new, old) = (Self.quantile(percentile, of: now), Self.quantile(percentile, of: latencies))
      return result(
        condition, Double(new) / 1e6, Double(old) / 1e6, " ms", probability, tolerance: Self.tolerance)
    }
    let all = Int64(report.statistics.calls + report.missed)
    let probability = FisherTest.probability(of: (Int64(report.errors), all), above: errors)
    let old = Double(errors.part) / Double(max(errors.all, 1)) * 100
    return percentiles + [result("errors <= \(name)", report.errorShare * 100, old, " %", probability)]
  }

  private func result(
    _ condition: String, _ new: Double, _ old: Double, _ unit: String, _ probability: Double,
    tolerance: Double = 0
  ) -> LoadThreshold.Result {
    let isSignificant = probability < Self.significance / Double(Self.percentiles.count + 1)
    let change = new / old * 100 - 100
    let percent = old > 0 ? " (\(change < 0 ? "" : "+")\(Decimal.text(change, 1)) %)" : ""
    let chance = probability < 0.0001 ? "p < 0.0001" : "p = \(Decimal.text(probability, 4))"
    return LoadThreshold.Result(
      condition: condition,
      measured: "\(Decimal.text(new, 3))\(unit), was \(Decimal.text(old, 3))\(unit)\(percent), \(chance)",
      holds: !isSignificant || new < old * (1 + tolerance))
  }

  private static func share(of latencies: Latencies, above limit: Int64) -> FisherTest.Share {
    latencies.reduce(into: (part: 0, all: 0)) { share, element in
      share.all += element.count
      if element.value > limit { share.part += element.count }
    }
  }

  /// The latency that a percentage of the calls does not exceed.
  private static func quantile(_ percentile: Double, of latencies: Latencies) -> Int64 {
    let all = latencies.reduce(0) { $0 + $1.count }
    var rest = percentile / 100 * Double(all) * (1 - 1e-12)
    var last: Int64 = 0
    for element in latencies.sorted(by: { $0.value < $1.value }) where element.count > 0 {
      last = element.value
      rest -= Double(element.count)
      if rest <= 0 { break }
    }
    return last
  }
}
