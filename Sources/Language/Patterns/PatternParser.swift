/// The syntax tree of a regular expression.
indirect enum PatternNode {
  case scalar(ScalarSet)
  case anchor(PatternProgram.Anchor)
  case sequence([PatternNode])
  case either([PatternNode])
  /// A repetition with a minimum, and a maximum or none.
  case repeated(PatternNode, least: Int, most: Int?)

  /// Whether it is compiled to no steps. It then matches the empty text.
  fileprivate var isEmpty: Bool { if case .sequence(let parts) = self { parts.isEmpty } else { false } }
}

/// Parses a regular expression in RE2's syntax: Perl's without the parts that need more than linear time
/// (backreferences, lookaround, atomic groups).
struct PatternParser {
  private struct Flags {
    var ignoresCase = false
    var hasLines = false
    var dotTakesLineFeed = false
  }

  private static let depthLimit = 200

  private let text: [Unicode.Scalar]
  private let hasASCIIClasses: Bool
  private var index = 0
  private var flags = Flags()
  private var depth = 0

  private init(_ text: String, hasASCIIClasses: Bool) {
    self.text = Self.unquoted(Array(text.unicodeScalars))
    self.hasASCIIClasses = hasASCIIClasses
  }

  /// The expression with a backslash before each special character between `\Q` and `\E`.
  private static func unquoted(_ text: [Unicode.Scalar]) -> [Unicode.Scalar] {
    var result: [Unicode.Scalar] = []
    var isQuoted = false
    var rest = text[...]
    while let scalar = rest.popFirst() {
      if scalar == "\\", let next = rest.first, !isQuoted || next == "E" {
        rest.removeFirst()
        if next == "Q" || next == "E" {
          isQuoted = next == "Q"
        } else {
          result += [scalar, next]
        }
      } else {
        if isQuoted, scalar.isASCII, !scalar.properties.isAlphabetic, !("0"..."9").contains(scalar) {
          result.append("\\")
        }
        result.append(scalar)
      }
    }
    return result
  }

  /// Parses all of `text`.
  ///
  /// - Parameters:
  ///   - text: The expression.
  ///   - hasASCIIClasses: Whether `\d`, `\w`, `\s` and `\b` mean characters of ASCII only, as in RE2.
  static func parse(_ text: String, hasASCIIClasses: Bool = false) throws(LanguageError) -> PatternNode {
    var parser = PatternParser(text, hasASCIIClasses: hasASCIIClasses)
    let node = try parser.alternatives()
    guard parser.index == parser.text.count else { throw LanguageError("unmatched )") }
    return node
  }

  private var next: Unicode.Scalar? { index < text.count ? text[index] : nil }

  private mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    index += 1
    return true
  }

  private mutating func accept(all word: String) -> Bool {
    guard text[index...].starts(with: word.unicodeScalars) else { return false }
    index += word.unicodeScalars.count
    return true
  }

  // MARK: Structure

  private mutating func alternatives() throws(LanguageError) -> PatternNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else { throw LanguageError("groups are nested too deeply") }
    let outer = flags
    defer { flags = outer }
    var alternatives = [try sequence()]
    while accept("|") { alternatives.append(try sequence()) }
    return alternatives.count == 1 ? alternatives[0] : .either(alternatives)
  }

  private mutating func sequence() throws(LanguageError) -> PatternNode {
    var parts: [PatternNode] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      guard let part = try part() else { continue }
      let repeated = try repetition(of: part)
      // The compiler's limit counts steps, and so each part must have some.
      if !repeated.isEmpty { parts.append(repeated) }
    }
    return parts.count == 1 ? parts[0] : .sequence(parts)
  }

  /// Parses a part that a repetition may follow; nil for flags.
  private mutating func part() throws(LanguageError) -> PatternNode? {
    guard let scalar = next else { return nil }
    index += 1
    switch scalar {
    case "(": return try group()
    case "[": return .scalar(try set())
    case "\\": return try escape()
    case "^": return .anchor(flags.hasLines ? .lineStart : .start)
    case "$": return .anchor(flags.hasLines ? .lineEnd : .end)
    case ".":
      var set = ScalarSet(ranges: flags.dotTakesLineFeed ? [] : [10...10])
      set.isNegated = true
      return .scalar(set)
    case "*", "+", "?": throw LanguageError("nothing to repeat before \(scalar)")
    default: return literal(scalar)
    }
  }

  private func literal(_ scalar: Unicode.Scalar) -> PatternNode {
    .scalar(ScalarSet(ranges: [scalar.value...scalar.value], ignoresCase: flags.ignoresCase))
  }

  private mutating func group() throws(LanguageError) -> PatternNode? {
    let outer = flags
    if accept("?") {
      if accept(all: "P<") || next == "<" && !["=", "!"].contains(text.dropFirst(index + 1).first) {
        _ = accept("<")
        guard let end = text[index...].firstIndex(of: ">") else {
          throw LanguageError("missing > after a group name")
        }
        index = end + 1
      } else if !accept(":") {
        guard try readFlags() else { return nil }
      }
    }
    let content = try alternatives()
    flags = outer
    guard accept(")") else { throw LanguageError("missing )") }
    return content
  }

  /// Parses flags and the colon after them. Returns false for `)`: the flags then apply to the rest of the
  /// group.
  private mutating func readFlags() throws(LanguageError) -> Bool {
    var isOn = true
    while let flag = next {
      index += 1
      switch flag {
      case "i": flags.ignoresCase = isOn
      case "m": flags.hasLines = isOn
      case "s": flags.dotTakesLineFeed = isOn
      // Greediness does not change whether there is a match.
      case "U": break
      case "-": isOn = false
      case ":": return true
      case ")": return false
      default: throw LanguageError("(?\(flag) is not supported: no lookaround, no atomic groups")
      }
    }
    throw LanguageError("missing )")
  }

  // MARK: Repetitions

  private mutating func repetition(of part: PatternNode) throws(LanguageError) -> PatternNode {
    guard let (least, most) = try bounds() else { return part }
    _ = accept("?")
    guard try bounds() == nil else {
      throw LanguageError("possessive and nested repetitions are not supported")
    }
    return part.isEmpty || most == 0 ? .sequence([]) : .repeated(part, least: least, most: most)
  }

  private mutating func bounds() throws(LanguageError) -> (least: Int, most: Int?)? {
    if accept("*") { return (0, nil) }
    if accept("+") { return (1, nil) }
    if accept("?") { return (0, 1) }
    let start = index
    guard accept("{") else { return nil }
    let least = number()
    var most = least
    if accept(",") { most = number() }
    guard let least, accept("}") else {
      // A brace that is not a repetition is literal.
      index = start
      return nil
    }
    let isOpen = most == nil
    guard least <= PatternProgram.limit, isOpen || (most ?? 0) <= PatternProgram.limit,
      isOpen || (most ?? 0) >= least
    else { throw LanguageError("repetition count out of range") }
    return (least, most)
  }

  private mutating func number() -> Int? {
    let digits = text[index...].prefix { ("0"..."9").contains($0) }
    index += digits.count
    // Too many digits exceed the limit in any case.
    return digits.isEmpty ? nil : Int(String(String.UnicodeScalarView(digits))) ?? .max
  }

  // MARK: Escapes and sets

  private mutating func escape() throws(LanguageError) -> PatternNode {
    guard let scalar = next else { throw LanguageError("trailing backslash") }
    switch scalar {
    case "b", "B", "A", "z":
      index += 1
      let word: ScalarSet.Kind = hasASCIIClasses ? .wordASCII : .word
      return .anchor(
        scalar == "b" ? .boundary(word) : scalar == "B" ? .noBoundary(word) : scalar == "A" ? .start : .end)
    case "1"..."9": throw LanguageError("backreferences such as \\\(scalar) are not supported")
    default: break
    }
    var set = ScalarSet(ignoresCase: flags.ignoresCase)
    if let single = try escaped(into: &set) { set.ranges.append(single...single) }
    return .scalar(set)
  }

  /// Parses the rest of an escape: a class, which is added to `set`, or a character.
  private mutating func escaped(into set: inout ScalarSet) throws(LanguageError) -> UInt32? {
    guard let scalar = next else { throw LanguageError("trailing backslash") }
    index += 1
    switch scalar {
    case "d", "D": set.kinds.append((hasASCIIClasses ? .digitASCII : .digit, scalar == "D"))
    case "w", "W": set.kinds.append((hasASCIIClasses ? .wordASCII : .word, scalar == "W"))
    case "s", "S": set.kinds.append((hasASCIIClasses ? .spaceASCII : .space, scalar == "S"))
    case "p", "P":
      let (kind, isNegated) = try category()
      set.kinds.append((kind, isNegated != (scalar == "P")))
    case "n": return 10
    case "r": return 13
    case "t": return 9
    case "f": return 12
    case "v": return 11
    case "a": return 7
    case "e": return 27
    case "0": return 0
    case "x": return try code(digits: 2)
    case "u": return try code(digits: 4)
    case "a"..."z", "A"..."Z", "0"..."9": throw LanguageError("the escape \\\(scalar) is not supported")
    default: return scalar.value
    }
    return nil
  }

  /// Parses the name of a category, such as `N`, `{Lu}` or `{^L}`.
  private mutating func category() throws(LanguageError) -> (ScalarSet.Kind, isNegated: Bool) {
    let isBraced = accept("{")
    let isNegated = isBraced && accept("^")
    let end = isBraced ? text[index...].firstIndex(of: "}") ?? text.count : min(index + 1, text.count)
    let name = String(String.UnicodeScalarView(text[index..<end]))
    guard (1...2).contains(name.utf8.count), name.utf8.first.map({ "LMNPSZC".utf8.contains($0) }) == true
    else {
      throw LanguageError("\\p supports general categories such as \\p{Lu} only")
    }
    index = min(end + (isBraced ? 1 : 0), text.count)
    return (.category(name), isNegated)
  }

  private mutating func code(digits count: Int) throws(LanguageError) -> UInt32 {
    let isBraced = accept("{")
    let end = isBraced ? text[index...].firstIndex(of: "}") ?? text.count : min(index + count, text.count)
    let digits = String(String.UnicodeScalarView(text[index..<end]))
    guard let code = UInt32(digits, radix: 16), Unicode.Scalar(code) != nil,
      isBraced || digits.utf8.count == count,
      !isBraced || end < text.count
    else { throw LanguageError("escape without a valid character code") }
    index = end + (isBraced ? 1 : 0)
    return code
  }

  private mutating func set() throws(LanguageError) -> ScalarSet {
    var set = ScalarSet(ignoresCase: flags.ignoresCase)
    set.isNegated = accept("^")
    var isFirst = true
    while let scalar = next, isFirst || scalar != "]" {
      isFirst = false
      guard let low = try member(of: &set) else { continue }
      // A hyphen at the end is literal.
      guard next == "-", index + 1 < text.count, text[index + 1] != "]" else {
        set.ranges.append(low...low)
        continue
      }
      index += 1
      guard let high = try member(of: &set), low <= high else {
        throw LanguageError("invalid range in [ ]")
      }
      set.ranges.append(low...high)
    }
    guard accept("]") else { throw LanguageError("missing ]") }
    return set
  }

  /// The classes of ASCII characters in brackets: the codes at the ends of their ranges, in ascending order.
  private static let classes = """
    alnum 48 57 65 90 97 122,alpha 65 90 97 122,ascii 0 127,blank 9 9 32 32,cntrl 0 31 127 127,digit 48 57,\
    graph 33 126,lower 97 122,print 32 126,punct 33 47 58 64 91 96 123 126,space 9 13 32 32,upper 65 90,\
    word 48 57 65 90 95 95 97 122,xdigit 48 57 65 70 97 102
    """

  /// Parses the rest of a class such as `[:alpha:]`.
  private mutating func namedClass() throws(LanguageError) -> [ClosedRange<UInt32>] {
    let isNegated = accept("^")
    for entry in Self.classes.split(separator: ",") {
      let words = entry.split(separator: " ")
      guard accept(all: "\(words[0]):]") else { continue }
      let codes = words.dropFirst().compactMap { UInt32($0) }
      let ranges = stride(from: 0, to: codes.count - 1, by: 2).map { codes[$0]...codes[$0 + 1] }
      guard isNegated else { return ranges }
      var rest: [ClosedRange<UInt32>] = []
      var low: UInt32 = 0
      for range in ranges {
        if range.lowerBound > low { rest.append(low...range.lowerBound - 1) }
        low = range.upperBound + 1
      }
      return rest + [low...0x10_ffff]
    }
    throw LanguageError("unknown class in [: :]")
  }

  /// Parses a character of a set; nil for a class, which is added.
  private mutating func member(of set: inout ScalarSet) throws(LanguageError) -> UInt32? {
    guard let scalar = next else { throw LanguageError("missing ]") }
    if accept(all: "[:") {
      set.ranges += try namedClass()
      return nil
    }
    index += 1
    return scalar == "\\" ? try escaped(into: &set) : scalar.value
  }
}
