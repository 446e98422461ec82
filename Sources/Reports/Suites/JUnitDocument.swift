/// A test suite of a report in JUnit's format.
package struct JUnitSuite: Sendable {
  /// The name; not empty.
  package var name: String
  /// The package: the start of the class names of its cases.
  package var package: String
  /// The start in UTC, to the second and without a zone: `2026-11-23T10:20:30`.
  package var timestamp: String
  /// The time of all cases.
  package var duration: Duration
  /// The cases.
  package var cases: [JUnitCase]
  /// What the tests printed.
  package var output = ""

  /// Makes a suite.
  package init(name: String, package: String, timestamp: String, duration: Duration, cases: [JUnitCase]) {
    self.name = name
    self.package = package
    self.timestamp = timestamp
    self.duration = duration
    self.cases = cases
  }
}

/// A test case.
package struct JUnitCase: Sendable {
  /// How a case ended. `message` is one line, and `text` has the details.
  package enum Result: Sendable {
    /// It passed.
    case passed
    /// It was not run.
    case skipped(message: String)
    /// A check did not hold.
    case failed(type: String, message: String, text: String)
    /// It could not be run to its end.
    case error(type: String, message: String, text: String)
  }

  /// The name. Readers expect one case of a name in a class.
  package var name: String
  /// The class: names separated by dots.
  package var className: String
  /// The time.
  package var duration: Duration
  /// How it ended.
  package var result: Result
  /// The file of the case and its line, from 1; nil if it is in none.
  package var place: (file: String, line: Int)?

  /// Makes a case.
  package init(
    name: String, className: String, duration: Duration, result: Result,
    place: (file: String, line: Int)? = nil
  ) {
    self.place = place
    self.name = name
    self.className = className
    self.duration = duration
    self.result = result
  }
}

/// A document in JUnit's format. It is valid by the schemas of Ant (JUnit.xsd) and of Jenkins's xUnit plugin
/// (junit-10.xsd), which allow different attributes: it has those that both allow, and the file and the line of a case, which neither
/// has, and by which GitLab, CircleCI and actions of GitHub link to the test.
package enum JUnitDocument {
  /// The document.
  package static func text(of suites: [JUnitSuite]) -> String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
    for (id, suite) in suites.enumerated() { text += element(suite, id: id) }
    return text + "</testsuites>\n"
  }

  private static func element(_ suite: JUnitSuite, id: Int) -> String {
    var (failed, errors, skipped) = (0, 0, 0)
    for one in suite.cases {
      switch one.result {
      case .passed: break
      case .skipped: skipped += 1
      case .failed: failed += 1
      case .error: errors += 1
      }
    }
    let output =
      suite.output.isEmpty ? "<system-out/>" : "<system-out>\(XMLText.escape(suite.output))</system-out>"
    return """
        <testsuite id="\(id)" package="\(XMLText.escape(suite.package))" name="\(XMLText.escape(suite.name))" \
      hostname="localhost" timestamp="\(XMLText.escape(suite.timestamp))" tests="\(suite.cases.count)" \
      failures="\(failed)" errors="\(errors)" skipped="\(skipped)" time="\(suite.duration.thousandths)">
          <properties/>
      \(suite.cases.map(element).joined())\
          \(output)
          <system-err/>
        </testsuite>

      """
  }

  private static func element(_ one: JUnitCase) -> String {
    let start =
      "    <testcase name=\"\(XMLText.escape(one.name))\" classname=\"\(XMLText.escape(one.className))\" "
      + "time=\"\(one.duration.thousandths)\""
      + (one.place.map { " file=\"\(XMLText.escape($0.file))\" line=\"\($0.line)\"" } ?? "")
    let content: String
    switch one.result {
    case .passed: return "\(start)/>\n"
    case .skipped(let message): content = element("skipped", nil, message, "")
    case .failed(let type, let message, let text): content = element("failure", type, message, text)
    case .error(let type, let message, let text): content = element("error", type, message, text)
    }
    return "\(start)>\n      \(content)\n    </testcase>\n"
  }

  /// The message is the content too if there is no text: GitLab shows only the content.
  private static func element(_ name: String, _ type: String?, _ message: String, _ text: String) -> String {
    let attribute = type.map { " type=\"\(XMLText.escape($0))\"" } ?? ""
    let content = XMLText.escape(text.isEmpty ? message : text)
    return "<\(name)\(attribute) message=\"\(XMLText.escape(message))\">\(content)</\(name)>"
  }
}

/// Escaping for XML and HTML.
package enum XMLText {
  /// `text` with the characters of markup escaped, and characters that XML 1.0 forbids replaced.
  package static func escape(_ text: String) -> String {
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
