import Protobuf

/// Parses conditions.
struct ConditionParser {
  /// The words that a check can start with, instead of a path.
  static let words = [
    "status", "error", "detail", "header", "trailer", "count", "latency", "list", "first", "last", "any",
    "every", "message",
  ]

  private var rest: Substring
  private let statuses: StatusNames

  init(_ text: String, _ statuses: StatusNames) {
    rest = text[...].stripped
    self.statuses = statuses
  }

  mutating func parse() throws(LanguageError) -> Claim {
    if startsWithPath { return .field(.last, try valueClaim()) }
    let word = word()
    switch word {
    case "status": return try status()
    case "error": return .error(try ValueCondition(rest, isJSON: false))
    case "detail": return try detail()
    case "header":
      let name = try headerName()
      return .header(name, try metadataCondition())
    case "trailer":
      let name = try headerName()
      return .trailer(name, try metadataCondition())
    case "count":
      do throws(LanguageError) {
        return .count(try CountBound(rest))
      } catch {
        throw LanguageError("count \(error.reason)")
      }
    case "latency": return try latency()
    case "list": return .list(try valueClaim())
    case "first": return .field(.first, try valueClaim())
    case "last": return .field(.last, try valueClaim())
    case "any": return .field(.any, try valueClaim())
    case "every": return .field(.every, try valueClaim())
    case "message":
      let number = self.word()
      guard let index = Int(number), index >= 0 else {
        throw LanguageError(
          "message requires the number of a message, from 0", hint: "such as message 2 .id == 3")
      }
      return .field(.number(index), try valueClaim())
    default: throw Self.unknown(word)
    }
  }

  private var startsWithPath: Bool { rest.utf8.first == UInt8(ascii: ".") }

  private mutating func word() -> String {
    let word = rest.prefix { !$0.isWhitespace }
    rest = rest[word.endIndex...].stripped
    return String(word)
  }

  private static func unknown(_ word: String) -> LanguageError {
    guard !word.isEmpty else {
      return LanguageError("missing check", hint: "such as status ok, or .name == \"Ada\"")
    }
    let nearest = DescriptorPool.nearestNames(to: word, among: words)
    let path = word[...].endOfFieldPath
    return LanguageError(
      "unknown check \(word.debugDescription)",
      hint: nearest.isEmpty
        ? "a path starts with a full stop: .\(word[..<path]); other checks: \(words.joined(separator: ", "))"
        : "did you mean \(nearest.joined(separator: ", or "))? A path starts with a full stop: .\(word[..<path])"
    )
  }

  // MARK: Parts

  private func status() throws(LanguageError) -> Claim {
    var list = rest
    let comparison = Comparison.parse(from: &list) ?? .equal
    guard comparison == .equal || comparison == .unequal else {
      throw LanguageError("status is compared with == or != only")
    }
    var codes: Set<Int> = []
    var names: [String] = []
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.stripped
      guard let code = statuses.number(of: name) else {
        let nearest = DescriptorPool.nearestNames(to: name.lowercased(), among: statuses.names)
        throw LanguageError(
          name.isEmpty ? "status requires a code" : "\(name) is not a status code",
          hint: nearest.isEmpty || name.utf8.count < 4
            ? "such as ok, not_found or 5" : "did you mean \(nearest.joined(separator: ", or "))?")
      }
      if codes.insert(code).inserted { names.append(statuses.names[code]) }
    }
    let isWanted = comparison == .equal
    return .status(
      codes, isWanted: isWanted,
      text: (isWanted ? "" : "not ") + names.joined(separator: isWanted ? " or " : " and not "))
  }

  private mutating func detail() throws(LanguageError) -> Claim {
    let type = word()
    guard !type.isEmpty, !type.hasPrefix(".") else {
      throw LanguageError(
        "detail requires a type", hint: "such as detail google.rpc.BadRequest .fieldViolations exists")
    }
    if startsWithPath { return .detail(type: type, .field(try valueClaim())) }
    switch rest {
    case "", "exists": return .detail(type: type, .exists(isWanted: true))
    case "absent": return .detail(type: type, .exists(isWanted: false))
    default:
      throw LanguageError(
        "expected a path after the type of the detail: it starts with a full stop, as .reason")
    }
  }

  private mutating func headerName() throws(LanguageError) -> String {
    let name = rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != "!" && $0 != "<" && $0 != ">" }
    guard name.isHeaderName else {
      throw LanguageError(name.isEmpty ? "missing name of a header" : "\(name) is not the name of a header")
    }
    rest = rest[name.endIndex...].stripped
    return name.lowercased()
  }

  private func metadataCondition() throws(LanguageError) -> ValueCondition {
    try rest.isEmpty
      ? ValueCondition(test: .exists(isWanted: true), text: "exists") : ValueCondition(rest, isJSON: false)
  }

  private func latency() throws(LanguageError) -> Claim {
    var bound = rest
    guard let comparison = Comparison.parse(from: &bound), comparison.isAboutOrder,
      let duration = Duration(written: bound.stripped)
    else {
      throw LanguageError("latency requires a bound", hint: "such as latency < 1.5s, or latency < 250ms")
    }
    return .latency(comparison, duration, text: "\(comparison.rawValue) \(bound.stripped)")
  }

  private mutating func valueClaim() throws(LanguageError) -> ValueClaim {
    guard startsWithPath else {
      throw LanguageError(
        "expected a path, which starts with a full stop",
        hint: "such as .user.name; a single full stop is the message")
    }
    let text = rest[..<rest.endOfFieldPath]
    rest = rest[text.endIndex...].stripped
    let path: FieldPath
    do throws(FieldPathError) {
      path = try FieldPath(afterFullStop: String(text))
    } catch {
      throw LanguageError("\(text) is not a path: \(error)", hint: "such as .user.items[0].name")
    }
    guard !rest.isEmpty else {
      throw LanguageError("missing condition after \(text)", hint: "\(text) exists, or \(text) == JSON")
    }
    return ValueClaim(path: path, condition: try ValueCondition(rest, isJSON: true))
  }
}

extension Substring {
  /// Whether it is a token (RFC 9110, section 5.6.2), as the name of a header is.
  fileprivate var isHeaderName: Bool {
    let symbols = "!#$%&'*+-.^_`|~"
    return !isEmpty
      && unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
          || symbols.unicodeScalars.contains($0)
      }
  }

  /// The text without white space at both ends, line feeds included.
  var stripped: Substring {
    let start = drop { $0.isWhitespace }
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return start[start.endIndex...] }
    return start[...last]
  }
}

extension Substring {
  /// The end of a field path at the start: the first white space or operator outside of brackets.
  package var endOfFieldPath: Index {
    var isInBrackets = false
    var isInQuotes = false
    var isEscaped = false
    for index in utf8.indices {
      let character = Unicode.Scalar(utf8[index])
      if isEscaped {
        isEscaped = false
      } else if isInQuotes {
        if character == "\\" { isEscaped = true }
        if character == "\"" { isInQuotes = false }
      } else if isInBrackets {
        if character == "\"" { isInQuotes = true }
        if character == "]" { isInBrackets = false }
      } else if character == "[" {
        isInBrackets = true
      } else if " \t\r\n=!<>".unicodeScalars.contains(character) {
        return index
      }
    }
    return endIndex
  }
}
