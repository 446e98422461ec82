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
  /// How a case ended.
  package enum Result: Sendable {
    /// It passed.
    case passed
    /// It was not run.
    case skipped(message: String)
    /// A check did not hold.
    case failed(JUnitProblem)
    /// It could not be run to its end.
    case error(JUnitProblem)
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

/// Why a case did not pass.
package struct JUnitProblem: Sendable {
  /// The kind of the problem.
  package var type: String
  /// One line.
  package var message: String
  /// The details; if it is empty, the message is.
  package var text: String
  /// The file and the line, from 1, of what failed; nil if it is in none.
  package var place: (file: String, line: Int)?

  /// Makes a problem.
  package init(type: String, message: String, text: String, place: (file: String, line: Int)? = nil) {
    self.type = type
    self.message = message
    self.text = text
    self.place = place
  }
}

/// A document in JUnit's format. It has what the schemas of Ant (JUnit.xsd) and of Jenkins's xUnit plugin (junit-10.xsd) both
/// allow, and what readers use that one or both of them lack: totals, and the files and lines of cases and of their failures, by
/// which GitLab, CircleCI and actions of GitHub link to the test.
package enum JUnitDocument {
  /// The document.
  package static func text(of suites: [JUnitSuite]) -> String {
    let counts = counts(suites.flatMap(\.cases), suites.reduce(.zero) { $0 + $1.duration })
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites \(counts)>\n"
    for (id, suite) in suites.enumerated() { text += element(suite, id: id) }
    return text + "</testsuites>\n"
  }

  /// The attributes with the numbers and the time of cases.
  private static func counts(_ cases: [JUnitCase], _ duration: Duration) -> String {
    var (failed, errors, skipped) = (0, 0, 0)
    for one in cases {
      switch one.result {
      case .passed: break
      case .skipped: skipped += 1
      case .failed: failed += 1
      case .error: errors += 1
      }
    }
    return """
      tests="\(cases.count)" failures="\(failed)" errors="\(errors)" skipped="\(skipped)" \
      time="\(duration.thousandths)"
      """
  }

  private static func element(_ suite: JUnitSuite, id: Int) -> String {
    let output =
      suite.output.isEmpty ? "<system-out/>" : "<system-out>\(XMLText.escape(suite.output))</system-out>"
    return """
        <testsuite id="\(id)" package="\(XMLText.escape(suite.package))" name="\(XMLText.escape(suite.name))" \
      hostname="localhost" timestamp="\(XMLText.escape(suite.timestamp))" \
      \(counts(suite.cases, suite.duration))>
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
      + "time=\"\(one.duration.thousandths)\"" + attributes(one.place)
    let content: String
    switch one.result {
    case .passed: return "\(start)/>\n"
    case .skipped(let message):
      let message = XMLText.escape(message)
      content = "<skipped message=\"\(message)\">\(message)</skipped>"
    case .failed(let problem): content = element("failure", problem)
    case .error(let problem): content = element("error", problem)
    }
    return "\(start)>\n      \(content)\n    </testcase>\n"
  }

  /// The message is the content too if there is no text: GitLab shows only the content.
  private static func element(_ name: String, _ problem: JUnitProblem) -> String {
    let content = XMLText.escape(problem.text.isEmpty ? problem.message : problem.text)
    return """
      <\(name) type="\(XMLText.escape(problem.type))" message="\(XMLText.escape(problem.message))"\
      \(attributes(problem.place))>\(content)</\(name)>
      """
  }

  private static func attributes(_ place: (file: String, line: Int)?) -> String {
    place.map { " file=\"\(XMLText.escape($0.file))\" line=\"\($0.line)\"" } ?? ""
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
