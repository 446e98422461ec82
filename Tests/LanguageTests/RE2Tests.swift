import RPCurlPlatform
import RPCurlProtobuf
import Testing

@testable import RPCurlLanguage

/// The engine against RE2: RE2/generate.py writes the cases.
@Suite struct RE2Tests {
  /// Parts of expressions that differ, with the reasons. The cases have no expressions that RE2 refuses because of its
  /// memory, such as `\pL{1000}`.
  private static let differences: [(part: String, reason: String)] = [
    (#"\C"#, "a byte of the text: this engine reads characters, and values are valid UTF-8"),
    (#"\B"#, "RE2 finds it also between the bytes of a character"),
  ]

  /// What is found: nothing, or a match.
  private enum Found: Equatable {
    case nothing
    case match(String, group: String?)

    init(_ match: TextPattern.Match?) {
      self = match.map { .match($0.text, group: $0.group) } ?? .nothing
    }

    init?(_ json: JSONValue) {
      switch json {
      case .bool(false): self = .nothing
      case .array(let parts):
        guard case .string(let text)? = parts.first else { return nil }
        let group: String? =
          if case .string(let group) = parts[parts.count - 1], parts.count == 2 { group } else { nil }
        self = .match(text, group: group)
      default: return nil
      }
    }
  }

  private struct Case {
    let expression: String
    let text: String
    /// Nil if the expression is invalid.
    let found: Found?

    init?(_ line: Substring) {
      guard case .array(let parts)? = try? JSONValue(parsing: Array(line.utf8)), parts.count == 3,
        case .string(let expression) = parts[0], case .string(let text) = parts[1]
      else { return nil }
      self.expression = expression
      self.text = text
      found = Found(parts[2])
    }
  }

  private static func cases() throws -> [Case] {
    let path = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/RE2/cases.ndjson"
    let file = try #require(fopen(path, "r"))
    defer { fclose(file) }
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { content += buffer[..<count] }
    return try String(decoding: content, as: UTF8.self).split(separator: "\n").map { try #require(Case($0)) }
  }

  @Test func findsWhatRE2Finds() throws {
    let cases = try Self.cases()
    #expect(cases.count > 5000)
    for one in cases {
      let isKnown = Self.differences.contains { one.expression.contains($0.part) }
      if isKnown, !one.text.utf8.allSatisfy({ $0 < 0x80 }) || one.expression.contains(#"\C"#) { continue }
      let pattern = try? TextPattern(one.expression)
      let place: Comment = "\(one.expression.debugDescription) in \(one.text.debugDescription)"
      let match = try pattern.map { pattern in Found(try pattern.firstMatch(in: one.text)) }
      #expect(match == one.found, place)
      #expect(pattern?.isFound(in: one.text) == one.found.map { $0 != .nothing }, place)
    }
  }
}
