import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// Formats suites: `--format-files`.
///
/// - No white space at the ends of lines, and one line feed at the end of the file.
/// - One blank line before `test` and `teardown`, or before the comments above them; at most one blank line elsewhere.
/// - Within JSON that spans lines, two blanks for each open bracket.
///
/// Everything else stays as it is. Formatted text stays the same when it is formatted again.
package struct SuiteFormatter {
  /// Formats a suite.
  ///
  /// - Parameters:
  ///   - path: Its name, for errors.
  ///   - text: Its content.
  /// - Throws: `Failure` if it is not a suite; the file is then to be left as it is.
  package static func format(_ path: String, _ text: [UInt8]) throws(Failure) -> [UInt8] {
    _ = try Suite(path, parsing: text)
    var formatter = SuiteFormatter()
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    for line in lines { try formatter.add(String(line)) }
    formatter.endComments(beforeBlock: false)
    while formatter.lines.last == "" { formatter.lines.removeLast() }
    return Array((formatter.lines.joined(separator: "\n") + "\n").utf8)
  }

  /// The formatted content of a file, and whether it differs.
  package static func format(file: String) throws(Failure) -> (text: [UInt8], isChanged: Bool) {
    let text = try FileContents.input(file, waitLimit: nil)
    let formatted = try format(file, text)
    return (formatted, formatted != text)
  }

  private var lines: [String] = []
  /// The comments whose place depends on the line after them.
  private var comments: [String] = []
  private var isBlankBefore = false
  private var reader = SessionStatementReader()
  private var brackets = OpenBrackets()

  private mutating func add(_ line: String) throws(Failure) {
    let text = String(line[...].withoutOuterSpace)
    guard !reader.isWithin else {
      // A string may contain the white space of its line; such lines stay as they are.
      let isInString = brackets.isString
      let closing = text.utf8.prefix { $0 == UInt8(ascii: "}") || $0 == UInt8(ascii: "]") }.count
      let depth = max(brackets.depth - closing, 0)
      _ = try reader.add(line)
      brackets.read(line[...])
      lines.append(isInString ? line : text.isEmpty ? "" : String(repeating: "  ", count: depth) + text)
      return
    }
    if text.isEmpty {
      endComments(beforeBlock: false)
      isBlankBefore = true
      return
    }
    if text.begins(with: "#") {
      comments.append(text)
      return
    }
    let word = Suite.Word(rawValue: String(text.prefixOfScalars { !$0.properties.isWhitespace }))
    endComments(beforeBlock: word == .test || word == .teardown)
    lines.append(text)
    brackets = OpenBrackets()
    brackets.read(text[...])
    _ = try reader.add(line)
  }

  /// Adds the blank line and the comments that wait.
  private mutating func endComments(beforeBlock isBeforeBlock: Bool) {
    if isBlankBefore || isBeforeBlock, !lines.isEmpty, lines.last != "" { lines.append("") }
    lines += comments
    comments = []
    isBlankBefore = false
  }
}
