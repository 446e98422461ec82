/// The syntax tree of a regular expression.
indirect enum PatternNode {
  case scalar(ScalarSet)
  case anchor(PatternProgram.Anchor)
  case sequence([PatternNode])
  case either([PatternNode])
  /// A repetition with a minimum, and a maximum or none. A lazy one matches as little as it can.
  case repeated(PatternNode, least: Int, most: Int?, isLazy: Bool)
  /// The first group that captures.
  case group(PatternNode)

  /// Whether a group in it captures.
  var hasGroup: Bool {
    switch self {
    case .scalar, .anchor: false
    case .sequence(let parts), .either(let parts): parts.contains(where: \.hasGroup)
    case .repeated(let part, _, _, _): part.hasGroup
    case .group: true
    }
  }

  /// Whether nested counts of repetitions multiply to at most a limit, as RE2 requires.
  fileprivate func repeats(atMost limit: Int) -> Bool {
    switch self {
    case .scalar, .anchor: return limit > 0
    case .sequence(let parts), .either(let parts): return parts.allSatisfy { $0.repeats(atMost: limit) }
    case .group(let part): return part.repeats(atMost: limit)
    case .repeated(let part, let least, let most, _):
      let limit = limit / max(most ?? least, 1)
      return limit > 0 && part.repeats(atMost: limit)
    }
  }
}

/// Parses a regular expression in RE2's syntax: Perl's without the parts that need more than linear time
/// (backreferences, lookaround, atomic groups).
struct PatternParser {
  private struct Flags {
    var ignoresCase = false
    var hasLines = false
    var dotTakesLineFeed = false
    var isLazy = false
  }

  private static let depthLimit = 200
  /// The maximum count of a repetition, and the product of nested ones, as in RE2.
  private static let countLimit = 1000

  private let text: [Unicode.Scalar]
  private var index = 0
  private var flags = Flags()
  private var depth = 0
  private var hasGroup = false

  private init(_ text: String) { self.text = Array(text.unicodeScalars) }

  /// Parses all of `text`.
  static func parse(_ text: String) throws(LanguageError) -> PatternNode {
    var parser = PatternParser(text)
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
    /// Where the last repetition ended: another one must not follow it directly.
    var end: Int?
    while let scalar = next, scalar != "|", scalar != ")" {
      let start = index
      if accept(all: "\\Q") {
        while let scalar = next, !accept(all: "\\E") {
          index += 1
          parts.append(literal(scalar))
        }
      } else if let (least, most) = try bounds() {
        guard let part = parts.popLast() else { throw LanguageError("nothing to repeat before \(scalar)") }
        guard start != end else {
          throw LanguageError("possessive and nested repetitions are not supported")
        }
        let isLazy = accept("?") != flags.isLazy
        end = index
        parts.append(try repeated(part, least: least, most: most, isLazy: isLazy))
      } else if let part = try part() {
        parts.append(part)
      }
    }
    return parts.count == 1 ? parts[0] : .sequence(parts)
  }

  private func repeated(
    _ part: PatternNode, least: Int, most: Int?, isLazy: Bool
  ) throws(LanguageError) -> PatternNode {
    let node = PatternNode.repeated(part, least: least, most: most, isLazy: isLazy)
    guard max(least, most ?? 0) < 2 || node.repeats(atMost: Self.countLimit) else {
      throw LanguageError("nested repetitions are too large")
    }
    return node
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
    default: return literal(scalar)
    }
  }

  private func literal(_ scalar: Unicode.Scalar) -> PatternNode {
    .scalar(ScalarSet(ranges: [scalar.value...scalar.value], ignoresCase: flags.ignoresCase))
  }

  private mutating func group() throws(LanguageError) -> PatternNode? {
    let outer = flags
    var captures = true
    if accept("?") {
      if accept(all: "P<") || next == "<" && !["=", "!"].contains(text.dropFirst(index + 1).first) {
        _ = accept("<")
        guard let end = text[index...].firstIndex(of: ">") else {
          throw LanguageError("missing > after a group name")
        }
        guard end > index, text[index..<end].allSatisfy({ $0 == "_" || $0.properties.isXIDContinue }) else {
          throw LanguageError("invalid name of a group")
        }
        index = end + 1
      } else {
        guard try readFlags() else { return nil }
        captures = false
      }
    }
    let isFirst = captures && !hasGroup
    if captures { hasGroup = true }
    let content = try alternatives()
    flags = outer
    guard accept(")") else { throw LanguageError("missing )") }
    return isFirst ? .group(content) : content
  }

  /// Parses flags and the colon after them. Returns false for `)`: the flags then apply to the rest of the
  /// group.
  private mutating func readFlags() throws(LanguageError) -> Bool {
    var isOn = true
    var isComplete = true
    while let flag = next {
      index += 1
      switch flag {
      case "i": flags.ignoresCase = isOn
      case "m": flags.hasLines = isOn
      case "s": flags.dotTakesLineFeed = isOn
      case "U": flags.isLazy = isOn
      case "-" where isOn:
        (isOn, isComplete) = (false, false)
        continue
      case ":" where isComplete: return true
      case ")" where isComplete: return false
      default: throw LanguageError("(?\(flag) is not supported: no lookaround, no atomic groups")
      }
      isComplete = true
    }
    throw LanguageError("missing )")
  }

  // MARK: Repetitions

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
    guard least <= Self.countLimit, most ?? least <= Self.countLimit, most ?? least >= least else {
      throw LanguageError("repetition count out of range: at most \(Self.countLimit)")
    }
    return (least, most)
  }

  private mutating func number() -> Int? {
    let digits = text[index...].prefix { ("0"..."9").contains($0) }
    guard digits.count < 2 || digits.first != "0" else { return nil }
    index += digits.count
    // Too many digits exceed the limit in any case.
    return digits.isEmpty ? nil : Int(String(String.UnicodeScalarView(digits))) ?? .max
  }

  // MARK: Escapes and sets

  private mutating func escape() throws(LanguageError) -> PatternNode {
    switch next {
    case "A": return anchor(.start)
    case "z": return anchor(.end)
    case "b": return anchor(.boundary)
    case "B": return anchor(.noBoundary)
    default: break
    }
    var set = ScalarSet(ignoresCase: flags.ignoresCase)
    if let single = try escaped(into: &set) { set.ranges.append(single...single) }
    return .scalar(set)
  }

  private mutating func anchor(_ anchor: PatternProgram.Anchor) -> PatternNode {
    index += 1
    return .anchor(anchor)
  }

  /// Parses the rest of an escape: a class, which is added to `set`, or a character.
  private mutating func escaped(into set: inout ScalarSet) throws(LanguageError) -> UInt32? {
    guard let scalar = next else { throw LanguageError("trailing backslash") }
    index += 1
    switch scalar {
    case "d", "D": set.kinds.append((.digit, scalar == "D"))
    case "w", "W": set.kinds.append((.word, scalar == "W"))
    case "s", "S": set.kinds.append((.space, scalar == "S"))
    case "p", "P":
      let (kind, isNegated) = try category()
      set.kinds.append((kind, isNegated != (scalar == "P")))
    case "n": return 10
    case "r": return 13
    case "t": return 9
    case "f": return 12
    case "v": return 11
    case "a": return 7
    case "x": return try code()
    case "0"..."7": return try octal(scalar)
    case _ where !scalar.isASCII || scalar.properties.isAlphabetic || scalar == "8" || scalar == "9":
      throw LanguageError("the escape \\\(scalar) is not supported")
    default: return scalar.value
    }
    return nil
  }

  /// Parses the rest of a code in at most three octal digits.
  private mutating func octal(_ first: Unicode.Scalar) throws(LanguageError) -> UInt32 {
    let rest = text[index...].prefix(2).prefix { ("0"..."7").contains($0) }
    guard first == "0" || !rest.isEmpty else {
      throw LanguageError("backreferences such as \\\(first) are not supported")
    }
    index += rest.count
    return rest.reduce(first.value - 48) { $0 * 8 + $1.value - 48 }
  }

  /// Parses the name of a category, such as `N`, `{Lu}` or `{^L}`.
  private mutating func category() throws(LanguageError) -> (ScalarSet.Kind, isNegated: Bool) {
    let isBraced = accept("{")
    let isNegated = isBraced && accept("^")
    let end = isBraced ? text[index...].firstIndex(of: "}") ?? text.count : min(index + 1, text.count)
    let name = String(String.UnicodeScalarView(text[index..<end]))
    guard end < text.count || !isBraced, name == "Any" || Self.categories.contains(name[...]) else {
      throw LanguageError("\\p supports general categories such as \\p{Lu} only")
    }
    index = end + (isBraced ? 1 : 0)
    return (.category(name == "Any" ? "" : name), isNegated)
  }

  private static var categories: [Substring] {
    """
    L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Cs Co
    """.split(separator: " ")
  }

  /// Parses two hexadecimal digits, or any number of them in braces.
  private mutating func code() throws(LanguageError) -> UInt32 {
    let isBraced = accept("{")
    let end = isBraced ? text[index...].firstIndex(of: "}") ?? text.count : min(index + 2, text.count)
    let digits = text[index..<end]
    guard digits.allSatisfy({ $0.properties.isASCIIHexDigit }),
      let code = UInt32(String(String.UnicodeScalarView(digits)), radix: 16), code <= 0x10_ffff,
      isBraced ? end < text.count : digits.count == 2
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

  /// Parses a class such as `[:alpha:]`; nil if there is none.
  private mutating func namedClass() throws(LanguageError) -> (ScalarSet.Kind, isNegated: Bool)? {
    let rest = text[index...]
    guard rest.starts(with: "[:".unicodeScalars),
      zip(rest.dropFirst(2), rest.dropFirst(3)).contains(where: { $0 == ":" && $1 == "]" })
    else { return nil }
    index += 2
    let isNegated = accept("^")
    for entry in Self.classes.split(separator: ",") {
      let words = entry.split(separator: " ")
      guard accept(all: "\(words[0]):]") else { continue }
      let codes = words.dropFirst().compactMap { UInt32($0) }
      return (
        .ranges(stride(from: 0, to: codes.count - 1, by: 2).map { codes[$0]...codes[$0 + 1] }), isNegated
      )
    }
    throw LanguageError("unknown class in [: :]")
  }

  /// Parses a character of a set; nil for a class, which is added.
  private mutating func member(of set: inout ScalarSet) throws(LanguageError) -> UInt32? {
    guard let scalar = next else { throw LanguageError("missing ]") }
    if let kind = try namedClass() {
      set.kinds.append(kind)
      return nil
    }
    index += 1
    return scalar == "\\" ? try escaped(into: &set) : scalar.value
  }
}
