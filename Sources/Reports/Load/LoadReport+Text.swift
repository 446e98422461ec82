import RPCurlBase

/// The report for people.
extension LoadReport {
  /// The table.
  package func text(_ results: [LoadThreshold.Result]) -> String {
    var text = "\(method) at \(escape(target))\n\(load)"
    if isInterrupted { text += ", interrupted" }
    text += "\n\(([run.time, run.version] + run.tags.map { escape($0.text) }).joined(separator: ", "))\n\n"
    var rows = [
      [
        tests.isEmpty ? "calls" : "tests",
        "\(statistics.calls) in \(Decimal.seconds(elapsed)) s, \(Decimal.text(rate, 1))/s",
      ],
      ["errors", "\(errors) (\(Decimal.percent(errorShare)))"],
    ]
    if tests.isEmpty {
      rows += [
        ["sent", traffic(statistics.sentMessages, statistics.sentBytes)],
        ["received", traffic(statistics.receivedMessages, statistics.receivedBytes)],
      ]
    }
    if missed > 0 {
      rows.append(["not started", "\(missed), which were due while \(shape.jobs) calls were running"])
    }
    text += Self.table(rows)
    text += "\nlatency in ms\(shape.loop == .closed ? "" : ", from the time at which each call was due")\n"
    let latencies = latencies.map { [$0.name, Decimal.milliseconds($0.latency)] }
    text += statistics.latencies.total == 0 ? "no call ended\n" : Self.table(latencies)
    if !statistics.groups.isEmpty {
      text += "\nstatus\n"
      text += Self.table(statistics.groups.map { [$0.outcome.name, "\($0.calls)", escape($0.reason)] })
    }
    for (name, _, parts) in parts { text += "\n\(name)\n" + Self.table(parts.map(row(of:))) }
    text += "\ncommand\n" + run.command.split(separator: "\n").map { "  \($0)\n" }.joined()
    if !results.isEmpty {
      text += "\nthresholds\n"
      let rows = results.map { [$0.holds ? "passed" : "failed", $0.condition, $0.measured] }
      text += Self.table(rows)
    }
    return text
  }

  /// The stages, tests, methods and addresses, with the name of each list and of its elements.
  var parts: [(name: String, element: String, parts: [Part])] {
    let all = [
      ("stages", "stage", stages), ("tests", "test", tests), ("calls", "method", methods),
      ("addresses", "address", addresses),
    ]
    return all.filter { !$0.2.isEmpty }
  }

  /// A part as cells.
  func row(of part: Part) -> [String] {
    let (statistics, latencies) = (part.statistics, part.statistics.latencies)
    let quantile = { Decimal.milliseconds(latencies.quantile($0)) }
    let times = latencies.total == 0 ? [] : ["p50 \(quantile(50)) ms", "p99 \(quantile(99)) ms"]
    let start = part.start.map { ["from \(Decimal.short($0 / .seconds(1))) s"] } ?? []
    let failed = "\(statistics.errors) failed" + (part.missed > 0 ? ", \(part.missed) not started" : "")
    return [escape(part.name)] + start + ["\(statistics.calls)", failed] + times
  }

  private func traffic(_ messages: Int, _ bytes: Int) -> String {
    let rate = Decimal.text(perSecond(messages), 1)
    return "\(messages) message\(messages == 1 ? "" : "s"), \(Decimal.size(bytes)), \(rate) messages/s"
  }

  private func escape(_ text: String) -> String { TerminalText.escape(text) }

  /// Rows whose columns are aligned, each indented.
  private static func table(_ rows: [[String]]) -> String {
    var text = ""
    for row in rows {
      var line = ""
      for (column, cell) in row.enumerated() where !cell.isEmpty {
        line += "  " + cell
        let width = rows.reduce(0) { max($0, $1.count > column ? $1[column].count : 0) }
        if column + 1 < row.count { line += String(repeating: " ", count: width - cell.count) }
      }
      while line.last == " " { line.removeLast() }
      text += line + "\n"
    }
    return text
  }
}

extension LoadStatistics {
  /// What the line on the terminal shows.
  ///
  /// - Parameters:
  ///   - running: The number of calls that have not ended.
  ///   - now: The time since the start of the run.
  ///   - shape: The load.
  package func progress(running: Int, at now: Duration, _ shape: LoadShape) -> Progress {
    var progress = Progress()
    (progress.sentMessages, progress.receivedMessages) = (sentMessages, receivedMessages)
    (progress.sentBytes, progress.receivedBytes) = (sentBytes, receivedBytes)
    progress.calls = Progress.Calls(ended: ended, failed: errors, running: running, of: shape.requests)
    progress.calls?.results = groups.filter(\.outcome.isError).map { ($0.outcome.name, $0.calls) }
    if shape.requests == nil { progress.share = shape.endTime.map { min(now / $0, 1) } }
    progress.latencies = (latencies.quantile(50), latencies.quantile(99))
    progress.isWarmUp = now <= shape.leadTime
    return progress
  }
}
