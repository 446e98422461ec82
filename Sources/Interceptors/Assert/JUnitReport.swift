/// A report in JUnit's XML format, one test case per call.
enum JUnitReport {
  /// One call.
  struct Case: Sendable {
    let name: String
    let className: String
    /// In nanoseconds since 1970.
    let startedAt: Int64
    let duration: Duration
    let failures: [String]
  }

  /// The file of a report.
  static func file(_ path: String, _ services: any InterceptorServices) -> ReportFile<Case> {
    ReportFile(path, services, isPrivate: false) { text(of: $0, now: services.nanosecondsSince1970) }
  }

  private static func text(of cases: [Case], now: Int64) -> String {
    let total = cases.reduce(Duration.zero) { $0 + $1.duration }
    let failed = cases.count { !$0.failures.isEmpty }
    let counts =
      "tests=\"\(cases.count)\" failures=\"\(failed)\" errors=\"0\" skipped=\"0\" time=\"\(total.secondsText)\""
    // In UTC without a zone: the schema's type of the attribute has none.
    let start = CivilTime.text(nanosecondsSince1970: cases.first?.startedAt ?? now)
    let timestamp = start.prefix(19)
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="rpcurl" \(counts)>
        <testsuite id="0" package="rpcurl" name="rpcurl" hostname="localhost" timestamp="\(timestamp)" \(counts)>
          <properties/>

      """
    for one in cases { text += element(one) }
    text += """
          <system-out/>
          <system-err/>
        </testsuite>
      </testsuites>

      """
    return text
  }

  private static func element(_ one: Case) -> String {
    let attributes =
      "name=\"\(XMLText.escape(one.name))\" classname=\"\(XMLText.escape(one.className))\" "
      + "time=\"\(one.duration.secondsText)\""
    guard let first = one.failures.first else { return "    <testcase \(attributes)/>\n" }
    let message = one.failures.count == 1 ? first : "\(one.failures.count) assertions failed"
    return """
          <testcase \(attributes)>
            <failure type="assertion" message="\(XMLText.escape(message))">\(XMLText.escape(one.failures.joined(separator: "\n")))</failure>
          </testcase>

      """
  }
}

/// Escaping for XML.
enum XMLText {
  /// `text` with XML's markup characters escaped, and characters that XML 1.0 forbids replaced.
  static func escape(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\t", "\r": escaped += "&#\(scalar.value);"
      case "\n", "\u{20}"..."\u{D7FF}", "\u{E000}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}":
        escaped.unicodeScalars.append(scalar)
      default: escaped += "\u{FFFD}"
      }
    }
    return escaped
  }
}
