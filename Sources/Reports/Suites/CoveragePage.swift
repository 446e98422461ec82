import RPCurlProtobuf

/// Coverage as a part of the page of a run, and as a page of its own.
enum CoveragePage {
  /// The page.
  static func text(of coverage: SuiteCoverage, _ run: SuiteRun?) -> String {
    let called = coverage.called
    let verdict = "\(called.used) of \(called.of) methods called"
    let facts = run.map { [$0.time, $0.facts, "rpcurl \($0.version)"] } ?? []
    return HTMLPage.text(
      title: "\(verdict) – rpcurl test",
      header: """
        <h1>rpcurl test: coverage</h1>
        <p class="verdict">\(verdict)</p>
        <p class="facts">\(facts.map(HTMLReport.escape).joined(separator: " · "))</p>

        """, main: section(coverage, heading: ""))
  }

  /// The totals, the methods and what was not used, without a head.
  ///
  /// - Parameters:
  ///   - coverage: The coverage.
  ///   - heading: The heading of the section; empty for none.
  static func section(_ coverage: SuiteCoverage, heading: String) -> String {
    let shares = coverage.shares.filter { $0.share.of > 0 }.map { noun, share in
      """
      <tr><th scope="row">\(noun)</th><td class="time">\(share.percent) %</td>\
      <td class="line">\(share.used) of \(share.of)</td><td class="meter"><i style="width:\(share.percent)%"></i></td></tr>

      """
    }
    let statuses = coverage.statuses
    let codes = statuses.isEmpty ? "" : "<p class=\"chips\">\(chips(statuses, areStatuses: true))</p>\n"
    return """
      <section class="coverage">
      \(heading.isEmpty ? "" : "<h2>\(heading)</h2>\n")<table class="totals">
      \(shares.joined())</table>
      \(codes)\(coverage.services.map(service).joined())\
      \(groups("Enum values", coverage.enums))\(groups("Oneof members", coverage.oneofs))</section>

      """
  }

  private static func service(
    _ service: (name: String, methods: [(name: String, statuses: [SuiteCoverage.Item])])
  ) -> String {
    let called = service.methods.count { !$0.statuses.isEmpty }
    let rows = service.methods.map { method in
      let statuses =
        method.statuses.isEmpty
        ? "<span class=\"unused\">not called</span>" : chips(method.statuses, areStatuses: true)
      return "<tr><th scope=\"row\">\(escape(method.name))</th><td class=\"chips\">\(statuses)</td></tr>\n"
    }
    return details(service.name, called, of: service.methods.count, "<table>\n\(rows.joined())</table>\n")
  }

  /// The items of enums or of oneofs.
  private static func groups(_ title: String, _ groups: SuiteCoverage.Groups) -> String {
    let share = groups.used
    guard share.of > 0 else { return "" }
    let rows = groups.names.map { name in
      "<tr><th scope=\"row\">\(escape(name))</th><td class=\"chips\">\(chips(groups.items[name] ?? []))</td></tr>\n"
    }
    return details(title, share.used, of: share.of, "<table>\n\(rows.joined())</table>\n")
  }

  private static func details(_ title: String, _ used: Int, of count: Int, _ content: String) -> String {
    """
    <details class="file"\(used > 0 ? " open" : "")>
    <summary><span class="path">\(escape(title))</span> <span class="counts">\(used) of \(count)</span></summary>
    \(content)</details>

    """
  }

  /// The items with their counts. Statuses other than `ok` are covered, which is neither good nor bad.
  private static func chips(_ items: [SuiteCoverage.Item], areStatuses: Bool = false) -> String {
    items.map { item in
      item.count == 0
        ? "<span class=\"tag unused\">\(escape(item.name))</span>"
        : "<span class=\"tag \(areStatuses && item.name != "ok" ? "other" : "used")\">\(escape(item.name)) <b>\(item.count)</b></span>"
    }.joined(separator: " ")
  }

  private static func escape(_ text: String) -> String { HTMLReport.escape(ReportText.oneLine(text)) }
}
