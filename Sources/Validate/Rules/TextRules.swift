import RPCurlCEL
import RPCurlLanguage
import RPCurlProtobuf

/// The rules of strings and bytes. Both are compared as bytes.
struct TextRules {
  /// The numbers of the fields of `buf.validate.StringRules` or `BytesRules` for rules that both have.
  private enum Part: Int {
    case constant, pattern, prefix, suffix, contains, list, excluded
  }

  private let options: WireFields
  private let isText: Bool
  private var rules: [Rule] = []
  /// Why rules are skipped.
  private(set) var problems: [String] = []

  /// Compiles the rules.
  ///
  /// - Parameters:
  ///   - options: `buf.validate.StringRules` or `BytesRules`.
  ///   - isText: Whether they are rules of strings.
  ///   - problems: Receives why a rule is skipped.
  static func compile(_ options: WireFields, isText: Bool, problems: inout [String]) -> [Rule] {
    var compiler = TextRules(options: options, isText: isText)
    compiler.compile()
    problems += compiler.problems
    return compiler.rules
  }

  private init(options: WireFields, isText: Bool) {
    self.options = options
    self.isText = isText
  }

  private mutating func add(
    _ id: String, _ message: String, demanding demand: Demand? = nil,
    holds: @escaping @Sendable ([UInt8]) -> Bool
  ) {
    rules.append(
      Rule((isText ? "string." : "bytes.") + id, message, demanding: demand) { $0.octets.map(holds) ?? true })
  }

  private func json(_ octets: [UInt8]) -> JSONValue {
    .string(isText ? String(decoding: octets, as: UTF8.self) : Base64.encode(octets))
  }

  private mutating func compile() {
    // Numbers of the fields: constant, pattern, prefix, suffix, contains, list, excluded.
    let numbers: [UInt32] = isText ? [1, 6, 7, 8, 9, 10, 11] : [1, 4, 5, 6, 7, 8, 9]
    let lists = numbers.map { options.bytes($0) }
    let last = { (part: Part) in lists[part.rawValue].last }
    if let constant = last(.constant) {
      add("const", "must \(isText ? "equal" : "be") \(shown(constant))", demanding: .anyOf([json(constant)]))
      {
        $0 == constant
      }
    }
    addLengths()
    if let pattern = last(.pattern) { addPattern(String(decoding: pattern, as: UTF8.self)) }
    if let part = last(.prefix) {
      add("prefix", "does not have prefix \(shown(part))", demanding: .prefix(part)) { $0.starts(with: part) }
    }
    if let part = last(.suffix) {
      add("suffix", "does not have suffix \(shown(part))", demanding: .suffix(part)) {
        $0.suffix(part.count).elementsEqual(part)
      }
    }
    if let part = last(.contains) {
      add(
        "contains", "does not contain \(isText ? "substring " : "")\(shown(part))", demanding: .contains(part)
      ) { $0.contains(part) }
    }
    if isText, let part = options.bytes(23).last {
      add("not_contains", "contains substring \(shown(part))") { !$0.contains(part) }
    }
    for (part, id) in [(Part.list, "in"), (.excluded, "not_in")] {
      let list = lists[part.rawValue]
      guard !list.isEmpty else { continue }
      let text = list.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
      let demand = id == "in" ? Demand.anyOf(list.map(json)) : nil
      add(id, "must \(id == "in" ? "" : "not ")be in list [\(text)]", demanding: demand) {
        list.contains($0) == (id == "in")
      }
    }
    if let format = isText ? TextFormat.required(by: options) : TextFormat.ofBytes(options) { add(format) }
  }

  private mutating func add(_ format: TextFormat) {
    // An empty value breaks a rule of its own.
    add(format.id, "must be a valid \(format.name)", demanding: .format(format.id)) {
      format.isEmptyInvalid && $0.isEmpty || format.holds($0[...])
    }
    guard format.isEmptyInvalid else { return }
    add("\(format.id)_empty", "value is empty, which is not a valid \(format.nameIfEmpty)") { !$0.isEmpty }
  }

  /// Lengths in characters or bytes: at least (1), at most (-1) or exactly (0) a bound.
  private mutating func addLengths() {
    let bounds: [(number: UInt32, id: String, isCharacters: Bool, order: Int)] =
      isText
      ? [
        (19, "len", true, 0), (2, "min_len", true, 1), (3, "max_len", true, -1), (20, "len_bytes", false, 0),
        (4, "min_bytes", false, 1), (5, "max_bytes", false, -1),
      ] : [(13, "len", false, 0), (2, "min_len", false, 1), (3, "max_len", false, -1)]
    for (number, id, isCharacters, order) in bounds {
      guard let bound = options.bits(number) else { continue }
      let words = order == 0 ? "" : order > 0 ? "at least " : "at most "
      let lengths = (order < 0 ? 0 : bound)...(order > 0 ? UInt64.max : bound)
      add(
        id, "must be \(words)\(bound) \(isCharacters ? "characters" : "bytes")",
        demanding: .length(lengths, isCharacters: isCharacters)
      ) { bytes in
        // The bytes that continue a character are not counted.
        let length = UInt64(isCharacters ? bytes.count { $0 & 0xc0 != 0x80 } : bytes.count)
        return order == 0 ? length == bound : order > 0 ? length >= bound : length <= bound
      }
    }
  }

  private mutating func addPattern(_ source: String) {
    let id = isText ? "string.pattern" : "bytes.pattern"
    let pattern: TextPattern
    do throws(LanguageError) {
      pattern = try TextPattern(source)
    } catch {
      return problems.append("\(id): \(error.reason)")
    }
    let message = "\(isText ? "does not" : "must") match regex pattern `\(source)`"
    rules.append(
      Rule(id, demanding: .pattern(pattern)) { (contents, run) throws(LanguageError) in
        guard case .value(let value) = contents, let octets = value.octets else { return nil }
        guard let text = String(validating: octets, as: UTF8.self) else {
          throw LanguageError("the value must be UTF-8 to match a regular expression")
        }
        return try pattern.matches(text, &run) ? nil : message
      })
  }

  /// A value in a message.
  private func shown(_ bytes: [UInt8]) -> String {
    isText ? "`\(String(decoding: bytes, as: UTF8.self))`" : bytes.hex
  }
}

extension Value {
  /// The bytes of a string or of bytes; nil for other values.
  fileprivate var octets: [UInt8]? {
    switch self {
    case .string(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    default: nil
    }
  }
}
