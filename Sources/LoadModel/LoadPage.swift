import Interceptors
import SuiteReports

/// The report as an HTML page without scripts and without references to other files.
package struct LoadPage {
  private let report: LoadReport
  private let results: [LoadThreshold.Result]

  /// The size of a chart and of its margin, in its own units.
  private static let width = 800.0
  private static let height = 240.0
  private static let margin = 60.0

  /// Makes a page.
  package init(_ report: LoadReport, _ results: [LoadThreshold.Result]) {
    self.report = report
    self.results = results
  }

  /// The page.
  package var html: String {
    let title = Self.escaped("\(report.method) at \(report.target)")
    return """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
      <title>\(title)</title>
      <style>\(Self.style)</style></head><body>
      <h1>\(title)</h1>
      <p>\(Self.escaped(report.shape.text))\(report.isInterrupted ? ", interrupted" : "")</p>
      \(thresholds)
      <h2>Calls</h2>
      \(calls)
      <h2>Latency by percentile</h2>
      \(distribution)
      \(Self.table(report.latencies.map { [$0.name, "\(Decimal.milliseconds($0.latency)) ms"] }))
      <h2>Calls in a second, over time</h2>
      \(chart(rates, unit: "/s"))
      <h2>Longest latency, over time</h2>
      \(chart(longest, unit: " ms"))
      </body></html>

      """
  }

  private static let style = """
    :root{color-scheme:light dark;--line:#06c;--bad:#c00;--good:#080;--grid:#8886}\
    @media(prefers-color-scheme:dark){:root{--line:#6af;--bad:#f66;--good:#6c6}}\
    body{font:15px/1.4 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
    h1{font-size:1.3em;overflow-wrap:anywhere}h2{font-size:1.1em;margin-top:2em}\
    table{border-collapse:collapse}td{padding:.15em 1.5em .15em 0;font-variant-numeric:tabular-nums}\
    svg{width:100%;height:auto}svg text{font-size:12px;fill:currentColor}\
    .grid{stroke:var(--grid)}.line{fill:none;stroke:var(--line);stroke-width:2}\
    .failed{color:var(--bad);font-weight:bold}.passed{color:var(--good)}
    """

  private var thresholds: String {
    guard !results.isEmpty else { return "" }
    let rows = results.map { result in
      let word = result.holds ? "passed" : "failed"
      let cells = [result.threshold.text, result.measured].map { "<td>\(Self.escaped($0))</td>" }
      return "<tr><td class=\"\(word)\">\(word)</td>\(cells.joined())</tr>"
    }
    return "<h2>Thresholds</h2>\n<table>\(rows.joined())</table>"
  }

  private var calls: String {
    let statistics = report.statistics
    var rows = [
      [
        "calls", "\(statistics.calls) in \(Decimal.seconds(report.elapsed)) s",
        "\(Decimal.text(report.rate, 1))/s",
      ],
      ["errors", "\(report.errors)", Decimal.percent(report.errorShare)],
      ["sent", "\(statistics.sentMessages) messages", Decimal.size(statistics.sentBytes)],
      ["received", "\(statistics.receivedMessages) messages", Decimal.size(statistics.receivedBytes)],
    ]
    if report.missed > 0 { rows.append(["not started", "\(report.missed)", ""]) }
    rows += statistics.groups.map { [$0.outcome.name, "\($0.calls)", $0.reason] }
    return Self.table(rows)
  }

  private static func table(_ rows: [[String]]) -> String {
    let lines = rows.map { "<tr>\($0.map { "<td>\(escaped($0))</td>" }.joined())</tr>" }
    return "<table>\(lines.joined())</table>"
  }

  // MARK: Charts

  /// The latencies, from the median to the greatest, where each step to the right has a tenth of the calls above it.
  private var distribution: String {
    let total = Double(max(report.statistics.latencies.total, 1))
    let last = log10(max(total, 100)) + 0.3
    var points: [(x: Double, y: Double)] = []
    var marks: [(x: Double, text: String)] = []
    for point in report.statistics.latencies.distribution {
      let x = point.fraction < 1 ? min(-log10(1 - point.fraction), last) : last
      points.append((x, point.latency / .milliseconds(1)))
    }
    for (fraction, name) in [
      (0.0, "0"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %"),
    ] {
      let x = -log10(1 - fraction)
      if x < last { marks.append((x, name)) }
    }
    return chart(points, last: last, marks: marks, unit: " ms")
  }

  /// The decimal logarithm of a positive number. The standard library has none without the C library.
  private func log10(_ value: Double) -> Double {
    // log2 of the significand by its series: 2·(z + z³/3 + …) with z = (m - 1) / (m + 1).
    let z = (value.significand - 1) / (value.significand + 1)
    var (sum, power, divisor) = (0.0, z, 1.0)
    for _ in 0..<20 {
      sum += power / divisor
      power *= z * z
      divisor += 2
    }
    return (Double(value.exponent) * 0.693_147_180_559_945_3 + 2 * sum) / 2.302_585_092_994_045_7
  }

  private var seconds: Double { report.statistics.series.length / .seconds(1) }

  private var rates: [Double] { report.statistics.series.intervals.map { Double($0.calls) / seconds } }

  private var longest: [Double] {
    report.statistics.series.intervals.map { $0.longest / .milliseconds(1) }
  }

  private func chart(_ values: [Double], unit: String) -> String {
    let points = values.enumerated().map { (x: (Double($0) + 0.5) * seconds, y: $1) }
    let last = max(Double(values.count) * seconds, 0.1)
    let marks = (0...4).map {
      (x: Double($0) * last / 4, text: "\(Decimal.text(Double($0) * last / 4, 1)) s")
    }
    return chart(points, last: last, marks: marks, unit: unit)
  }

  private func chart(
    _ points: [(x: Double, y: Double)], last: Double, marks: [(x: Double, text: String)], unit: String
  ) -> String {
    guard !points.isEmpty else { return "<p>No call ended.</p>" }
    let (width, height, margin) = (Self.width, Self.height, Self.margin)
    let top = max(points.reduce(0) { max($0, $1.y) }, 1e-9)
    func place(_ x: Double, _ y: Double) -> String {
      let right = margin + x / last * (width - 2 * margin)
      return "\(Decimal.text(right, 1)),\(Decimal.text(height - 20 - y / top * (height - 40), 1))"
    }
    var svg = "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\">"
    for step in 0...4 {
      let y = top * Double(step) / 4
      let line = "M\(place(0, y))L\(place(last, y))"
      let base = Decimal.text(height - 16 - Double(step) / 4 * (height - 40), 1)
      svg +=
        "<path class=\"grid\" d=\"\(line)\"/><text x=\"0\" y=\"\(base)\">\(Decimal.text(y, y < 10 ? 2 : 0))\(unit)</text>"
    }
    for mark in marks {
      let x = Decimal.text(margin + mark.x / last * (width - 2 * margin), 1)
      svg += "<text x=\"\(x)\" y=\"\(Int(height) - 4)\" text-anchor=\"middle\">\(mark.text)</text>"
    }
    let line = points.map { place($0.x, $0.y) }.joined(separator: "L")
    return svg + "<path class=\"line\" d=\"M\(line)\"/></svg>"
  }

  /// The text with XML's markup characters and terminal control characters escaped.
  private static func escaped(_ text: String) -> String { XMLText.escape(TerminalText.escape(text)) }
}
