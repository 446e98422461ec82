import Interception

/// A report in JUnit's XML format, one test case per call.
enum JUnitReport {
  /// One call.
  struct Case: Sendable {
    let name: String
    let className: String
    /// In nanoseconds since 1970.
    let startedAt: Int64
    var duration = Duration.zero
    var failures: [String] = []
    /// Why the call was not made, or not completed.
    var error: String?
  }

  /// Adds an error to the report of a configuration, if it has one.
  static func add(_ error: ConfigurationError, _ spec: InterceptorSpec, _ services: any InterceptorServices) {
    guard spec.name == AssertFactory.description.name,
      let path = spec.settings.first(where: { $0.key == "junit" })?.value
    else { return }
    // The error itself is reported in any case.
    try? file(path, services).add(notMade(error.description, at: services.nanosecondsSince1970))
  }

  /// The case of a run that made no call.
  static func notMade(_ why: String, at time: Int64) -> Case {
    Case(name: "rpcurl", className: "rpcurl", startedAt: time, error: why)
  }

  /// The file of a report.
  ///
  /// - Throws: A ``ServiceFailure`` if another interceptor writes the file in another format.
  static func file(
    _ path: String, _ services: any InterceptorServices
  ) throws(ServiceFailure) -> ReportFile<Case> {
    try services.reports.file(path) {
      ReportFile(path, services, isPrivate: false) { text(of: $0, now: services.nanosecondsSince1970) }
    }
  }

  private static func text(of cases: [Case], now: Int64) -> String {
    let cases = cases.isEmpty ? [notMade("no call was made: see standard error", at: now)] : cases
    let total = cases.reduce(Duration.zero) { $0 + $1.duration }
    let failed = cases.count { !$0.failures.isEmpty }
    let errors = cases.count { $0.failures.isEmpty && $0.error != nil }
    let counts =
      "tests=\"\(cases.count)\" failures=\"\(failed)\" errors=\"\(errors)\" skipped=\"0\" "
      + "time=\"\(total.secondsText)\""
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
    guard let first = one.failures.first else {
      guard let error = one.error else { return "    <testcase \(attributes)/>\n" }
      return """
            <testcase \(attributes)>
              <error type="call" message="\(XMLText.escape(error))"/>
            </testcase>

        """
    }
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
