import Interceptors
import Protobuf
import RPCProtocols

/// Parses what follows `expect`.
struct CheckParser {
  /// The words that a check can start with, instead of a path.
  private static let words = [
    "status", "error", "detail", "header", "trailer", "count", "latency", "list", "first", "last", "any",
    "every", "message",
  ]

  private var rest: Substring

  init(_ text: String) { rest = text[...].stripped }

  mutating func parse() throws(CheckError) -> Claim {
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
      do throws(ConditionError) {
        return .count(try CountBound(rest))
      } catch {
        throw CheckError("count \(error.reason)")
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
        throw CheckError(
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

  private static func unknown(_ word: String) -> CheckError {
    guard !word.isEmpty else {
      return CheckError("missing check", hint: "such as status ok, or .name == \"Ada\"")
    }
    let nearest = DescriptorPool.nearestNames(to: word, among: words)
    let path = word[...].endOfFieldPath
    return CheckError(
      "unknown check \(word.debugDescription)",
      hint: nearest.isEmpty
        ? "a path starts with a full stop: .\(word[..<path]); other checks: \(words.joined(separator: ", "))"
        : "did you mean \(nearest.joined(separator: ", or "))? A path starts with a full stop: .\(word[..<path])"
    )
  }

  // MARK: Parts

  private func status() throws(CheckError) -> Claim {
    var list = rest
    let comparison = Comparison.parse(from: &list) ?? .equal
    guard comparison == .equal || comparison == .unequal else {
      throw CheckError("status is compared with == or != only")
    }
    var codes: Set<StatusCode> = []
    var names: [String] = []
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      let name = part.stripped
      guard let code = StatusCode(written: name) else {
        let nearest = DescriptorPool.nearestNames(
          to: name.lowercased(), among: StatusCode.allCases.map(\.name))
        throw CheckError(
          name.isEmpty ? "status requires a code" : "\(name) is not a status code",
          hint: nearest.isEmpty || name.utf8.count < 4
            ? "such as ok, not_found or 5" : "did you mean \(nearest.joined(separator: ", or "))?")
      }
      if codes.insert(code).inserted { names.append(code.name) }
    }
    let isWanted = comparison == .equal
    return .status(
      codes, isWanted: isWanted,
      text: (isWanted ? "" : "not ") + names.joined(separator: isWanted ? " or " : " and not "))
  }

  private mutating func detail() throws(CheckError) -> Claim {
    let type = word()
    guard !type.isEmpty, !type.hasPrefix(".") else {
      throw CheckError(
        "detail requires a type", hint: "such as detail google.rpc.BadRequest .fieldViolations exists")
    }
    if startsWithPath { return .detail(type: type, .field(try valueClaim())) }
    switch rest {
    case "", "exists": return .detail(type: type, .exists(isWanted: true))
    case "absent": return .detail(type: type, .exists(isWanted: false))
    default:
      throw CheckError("expected a path after the type of the detail: it starts with a full stop, as .reason")
    }
  }

  private mutating func headerName() throws(CheckError) -> String {
    let name = rest.prefix { !$0.isWhitespace && $0 != "=" && $0 != "!" && $0 != "<" && $0 != ">" }
    guard HeaderSyntax.isName(name) else {
      throw CheckError(name.isEmpty ? "missing name of a header" : "\(name) is not the name of a header")
    }
    rest = rest[name.endIndex...].stripped
    return name.lowercased()
  }

  private func metadataCondition() throws(CheckError) -> ValueCondition {
    try rest.isEmpty
      ? ValueCondition(test: .exists(isWanted: true), text: "exists") : ValueCondition(rest, isJSON: false)
  }

  private func latency() throws(CheckError) -> Claim {
    var bound = rest
    guard let comparison = Comparison.parse(from: &bound), comparison.isAboutOrder,
      let duration = Duration(written: bound.stripped)
    else { throw CheckError("latency requires a bound", hint: "such as latency < 1.5s, or latency < 250ms") }
    return .latency(comparison, duration, text: "\(comparison.rawValue) \(bound.stripped)")
  }

  private mutating func valueClaim() throws(CheckError) -> ValueClaim {
    guard startsWithPath else {
      throw CheckError(
        "expected a path, which starts with a full stop",
        hint: "such as .user.name; a single full stop is the message")
    }
    let path = rest[..<rest.endOfFieldPath].dropFirst()
    rest = rest[path.endIndex...].stripped
    var selector: FieldSelector?
    if !path.isEmpty {
      do throws(FieldPathError) {
        selector = try FieldSelector(String(path))
      } catch {
        throw CheckError(".\(path) is not a path: \(error)", hint: "such as .user.items[0].name")
      }
    }
    guard !rest.isEmpty else {
      throw CheckError("missing condition after .\(path)", hint: ".\(path) exists, or .\(path) == JSON")
    }
    return ValueClaim(selector: selector, condition: try ValueCondition(rest, isJSON: true))
  }
}

extension Substring {
  /// The text without white space at both ends, line feeds included.
  var stripped: Substring {
    let start = drop { $0.isWhitespace }
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return start[start.endIndex...] }
    return start[...last]
  }
}
