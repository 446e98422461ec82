/// The report as an HTML page without scripts and without references to other files.
package struct LoadPage {
  private let report: LoadReport
  private let results: [LoadThreshold.Result]

  /// Makes a page.
  package init(_ report: LoadReport, _ results: [LoadThreshold.Result]) {
    self.report = report
    self.results = results
  }

  /// The page.
  package var html: String {
    let title = HTMLPage.escape("\(report.method) at \(report.target)")
    let verdict = results.isEmpty ? "" : results.allSatisfy(\.holds) ? " passed" : " failed"
    let load = report.load + (report.isInterrupted ? ", interrupted" : "")
    let run = report.run
    let facts = [report.target, load, run.time, run.version] + run.tags.map(\.text)
    return HTMLPage.text(
      title: "\(title) – rpcurl load",
      header: """
        <h1>rpcurl load</h1>
        <p class="verdict\(verdict)">\(HTMLPage.escape(report.method))</p>
        <p class="facts">\(facts.map(HTMLPage.escape).joined(separator: " · "))</p>

        """,
      main: """
        \(thresholds)<h2>\(report.tests.isEmpty ? "Calls" : "Tests")</h2>
        \(Self.table(calls))\(parts)<h2>Latency by percentile</h2>
        \(distribution)\(percentiles)<h2>Calls in a second, over time</h2>
        \(chart(rates, unit: "/s"))<h2>Longest latency, over time</h2>
        \(chart(longest, unit: " ms"))<h2>Command</h2>
        <pre>\(command)</pre>

        """, style: Self.style)
  }

  private var command: String {
    report.run.command.split(separator: "\n").map { HTMLPage.escape(String($0)) }.joined(separator: "\n")
  }

  private static let style = """
    .numbers { width: auto; } .numbers td { font-variant-numeric: tabular-nums; }
    .numbers td { padding: .2rem 2rem .2rem 0; } .cards div { padding: .2rem 1rem .2rem 0; } .numbers tr:first-child { border-top: 0; }
    td.passed { color: var(--passed); } td.failed { color: var(--failed); font-weight: 600; }
    .cards { display: grid; grid-template-columns: repeat(5, 1fr); font-variant-numeric: tabular-nums; }
    @media (max-width: 40rem) { .cards { grid-template-columns: repeat(3, 1fr); } }
    .cards span { display: block; color: var(--faint); font-size: .8rem; }
    .chart { position: relative; height: 14rem; margin: 1rem 1.5rem 2.5rem 4.5rem; }
    .chart svg { position: absolute; width: 100%; height: 100%; overflow: visible; }
    .chart path { fill: none; vector-effect: non-scaling-stroke; stroke: var(--line); }
    .chart .area { fill: var(--bar); fill-opacity: .25; stroke: none; }
    .chart .curve { stroke: var(--link); stroke-width: 2; stroke-linejoin: round; }
    .chart span { position: absolute; color: var(--faint); font-size: .75rem; white-space: nowrap; }
    .chart .y { right: 100%; transform: translateY(-50%); padding-right: .5rem; }
    .chart .x { top: 100%; transform: translateX(-50%); padding-top: .3rem; }
    """

  /// The stages, the tests of a suite, and the methods that they called.
  private var parts: String {
    report.parts.map { _, element, parts in
      "<h2>By \(element)</h2>\n" + Self.table(parts.map(report.row(of:)))
    }
    .joined()
  }

  private var thresholds: String {
    guard !results.isEmpty else { return "" }
    return "<h2>Thresholds</h2>\n"
      + Self.table(
        results.map { [$0.holds ? "passed" : "failed", $0.condition, $0.measured] }, isMarked: true)
  }

  private var calls: [[String]] {
    let statistics = report.statistics
    var rows = [
      [
        "calls", "\(statistics.calls) in \(Decimal.seconds(report.elapsed)) s",
        "\(Decimal.text(report.rate, 1))/s",
      ],
      ["errors", "\(report.errors)", Decimal.percent(report.errorShare)],
    ]
    if report.tests.isEmpty {
      rows += [
        ["sent", "\(statistics.sentMessages) messages", Decimal.size(statistics.sentBytes)],
        ["received", "\(statistics.receivedMessages) messages", Decimal.size(statistics.receivedBytes)],
      ]
    }
    if report.missed > 0 { rows.append(["not started", "\(report.missed)", ""]) }
    return rows + statistics.groups.map { [$0.outcome.name, "\($0.calls)", $0.reason] }
  }

  /// A table. With `isMarked`, the first column has the classes that it names.
  private static func table(_ rows: [[String]], isMarked: Bool = false) -> String {
    let lines = rows.map { row in
      let cells = row.enumerated().map { index, cell in
        "<td\(isMarked && index == 0 ? " class=\"\(cell)\"" : "")>\(HTMLPage.escape(cell))</td>"
      }
      return "<tr>\(cells.joined())</tr>\n"
    }
    return "<table class=\"numbers\">\n\(lines.joined())</table>\n"
  }

  private var percentiles: String {
    let cards = report.latencies.map {
      "<div><span>\($0.name)</span>\(Decimal.milliseconds($0.latency)) ms</div>\n"
    }
    return "<div class=\"cards\">\n\(cards.joined())</div>\n"
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
    let marks = LoadAxis(last).values.filter { $0 <= last }.map { (x: $0, text: "\(Decimal.short($0)) s") }
    return chart(points, last: last, marks: marks, unit: unit)
  }

  /// A curve above a grid. Labels are text of the page, so that they keep their size when the chart is narrow.
  ///
  /// - Parameters:
  ///   - points: The points, in the order of x.
  ///   - last: The end of the horizontal axis, which begins at 0.
  ///   - marks: The labels of the horizontal axis.
  ///   - unit: The unit of the vertical axis.
  private func chart(
    _ points: [(x: Double, y: Double)], last: Double, marks: [(x: Double, text: String)], unit: String
  ) -> String {
    guard let first = points.first, let end = points.last else { return "<p>No call ended.</p>\n" }
    let axis = LoadAxis(points.reduce(0) { max($0, $1.y) })
    func place(_ x: Double, _ y: Double) -> String {
      "\(Decimal.text(x / last * 1000, 1)) \(Decimal.text(1000 - y / axis.top * 1000, 1))"
    }
    var grid = ""
    var labels = ""
    for value in axis.values {
      grid += "M\(place(0, value))H1000"
      let top = Decimal.text(100 - value / axis.top * 100, 2)
      labels += "<span class=\"y\" style=\"top:\(top)%\">\(Decimal.short(value))\(unit)</span>\n"
    }
    for mark in marks {
      labels +=
        "<span class=\"x\" style=\"left:\(Decimal.text(mark.x / last * 100, 2))%\">\(mark.text)</span>\n"
    }
    let line = points.map { place($0.x, $0.y) }.joined(separator: "L")
    return """
      <div class="chart">
      <svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true"><path d="\(grid)"/>\
      <path class="area" d="M\(place(first.x, 0))L\(line)L\(place(end.x, 0))Z"/><path class="curve" d="M\(line)"/></svg>
      \(labels)</div>

      """
  }
}

/// An axis of a chart: at most five steps of a round number from 0.
struct LoadAxis {
  /// The values of the grid.
  let values: [Double]

  /// The greatest of them.
  var top: Double { values.last ?? 1 }

  /// Makes an axis for values up to a positive one.
  init(_ greatest: Double) {
    // Above what occurs: microseconds to weeks in milliseconds.
    let greatest = greatest > 1e-5 ? min(greatest, 1e12) : 1e-5
    var (step, power) = (1e-6, 1e-6)
    search: while true {
      for factor in [1.0, 2, 5] {
        step = power * factor
        if greatest / step <= 5 { break search }
      }
      power *= 10
    }
    values = (0...Int((greatest / step).rounded(.up))).map { Double($0) * step }
  }
}
