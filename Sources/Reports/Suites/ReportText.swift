import RPCurlProtobuf
import RPCurlProtocols

/// Words and texts that several reports contain.
enum ReportText {
  /// `text` with control and bidirectional characters as `\u{1b}`. Line feeds and tabs are kept.
  static func printable(_ text: String) -> String {
    escaped(text) { $0.steersReader && $0 != "\n" && $0 != "\t" }
  }

  /// The same on one line: line feeds and tabs are escaped too.
  static func oneLine(_ text: String) -> String { escaped(text, \.steersReader) }

  private static func escaped(_ text: String, _ isEscaped: (Unicode.Scalar) -> Bool) -> String {
    guard text.unicodeScalars.contains(where: isEscaped) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isEscaped(scalar) {
        result += scalar.escaped(asASCII: true)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// `text` as a string of JSON in which no character controls a terminal or the order of text.
  static func quoted(_ text: String) -> String {
    var result = ""
    for scalar in JSONValue.quoted(text).unicodeScalars {
      if scalar.steersReader {
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: max(4 - digits.count, 0)) + digits
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A number with its noun: `1 file`, `2 files`.
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

extension TestResult {
  /// The name with that of the row: `each user (ada@x.org)`.
  var title: String { ReportText.oneLine(row.map { "\(name) (\($0))" } ?? name) }

  /// The time, with the number of attempts if there was more than one.
  var timing: String {
    attempts > 1 ? "\(duration.brief), \(ReportText.count(attempts, "attempt"))" : duration.brief
  }
}

extension SuiteError {
  /// What failed and why, on one line.
  var text: String { ReportText.oneLine(what.isEmpty ? why : "\(what): \(why)") }
}

extension StepResult {
  /// The number of attempts; nil if there was one.
  var attemptsText: String? { attempts > 1 ? ReportText.count(attempts, "attempt") : nil }
}

extension SuiteEnd {
  /// The counts that are not zero.
  var counts: [(outcome: TestOutcome, text: String)] {
    let all: [(TestOutcome, Int, String)] = [
      (.passed, passed, "\(passed) passed"), (.failed, failed, "\(failed) failed"),
      (.error, errors, ReportText.count(errors, "error")), (.skipped, skipped, "\(skipped) skipped"),
    ]
    return all.compactMap { outcome, number, text in number > 0 ? (outcome, text) : nil }
  }

  /// The counts as text: `5 passed, 1 failed`.
  var text: String { total == 0 ? "no tests" : counts.map(\.text).joined(separator: ", ") }
}

extension SuiteRun {
  /// What the summary line has in parentheses: `3 files, 1 of shared steps, seed 1234`.
  var facts: String {
    ReportText.count(files, "file") + (shared > 0 ? ", \(shared) of shared steps" : "")
      + (seed.map { ", seed \($0)" } ?? "")
  }
}

extension Duration {
  /// The time for people, with three digits: `2.3 ms`, `120 ms`, `1.50 s`, `2 min 5 s`.
  package var brief: String {
    let time = max(microseconds, 0)
    switch time {
    case ..<9950: return "\(Self.decimal((time + 50) / 100, 1)) ms"
    case ..<999_500: return "\((time + 500) / 1000) ms"
    case ..<59_995_000: return "\(Self.decimal((time + 5000) / 10_000, 2)) s"
    default:
      let seconds = time / 1_000_000
      return "\(seconds / 60) min \(seconds % 60) s"
    }
  }

  /// Seconds to the millisecond, as reports for machines have them: `0.012`.
  var thousandths: String { Self.decimal(max(roundedToMilliseconds.milliseconds, 0), 3) }

  /// Milliseconds to the microsecond.
  var millisecondsNumber: String { Self.decimal(max(microseconds, 0), 3) }

  private static func decimal(_ number: Int64, _ digits: Int) -> String {
    let text = String(number)
    let padded = String(repeating: "0", count: max(digits + 1 - text.count, 0)) + text
    return "\(padded.dropLast(digits)).\(padded.suffix(digits))"
  }
}
