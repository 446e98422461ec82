import RPCurlProtobuf

/// The functions whose result depends on their arguments alone.
extension TemplateFunctions {
  /// The number of elements of a list or of members of an object.
  static func count(_ call: Call, _ value: JSONValue) throws(LanguageError) -> Int {
    switch value {
    case .array(let elements): return elements.count
    case .object(let members): return members.count
    case .null, .bool, .number, .string:
      throw call.error(
        "\(shown(value)) is not a list or an object", hint: "the condition size is also for text")
    }
  }

  /// The text that a regular expression finds: its first group, or all of it if it has no group.
  static func found(_ call: Call, _ text: JSONValue) throws(LanguageError) -> String {
    guard case .string(let text) = text else { throw call.error("\(shown(text)) is not text") }
    let pattern: TextPattern
    let first: TextPattern.Match?
    do throws(LanguageError) {
      pattern = try TextPattern(call[1])
      first = try pattern.firstMatch(in: text)
    } catch {
      throw call.error(error.reason, hint: error.hint)
    }
    guard let match = first else {
      throw call.error("\(shown(.string(text))) has no match of \(pattern.source)")
    }
    guard pattern.hasGroup else { return match.text }
    guard let group = match.group else {
      throw call.error("the match of \(pattern.source) is without its first group")
    }
    return group
  }

  /// The text that is written in base64.
  static func decoded(_ call: Call) throws(LanguageError) -> String {
    guard let bytes = Base64.decode(call[0]) else {
      throw call.error("\(shown(.string(call[0]))) is not base64")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw call.error(
        "the bytes are not UTF-8", hint: "compare the base64, or write the bytes to a file with --raw")
    }
    return text
  }

  /// The whole number that a text or a number is.
  static func integer(_ call: Call, _ value: JSONValue) throws(LanguageError) -> String {
    switch value {
    case .number, .string:
      if let number = whole(call[0]), number >= Int128(Int64.min), number <= Int128(UInt64.max) {
        return String(number)
      }
    case .null, .bool, .array, .object: break
    }
    throw call.error("\(shown(value)) is not a whole number of 64 bits")
  }

  /// The whole number that a decimal is, without rounding; nil for other text. With a fraction of zero or an exponent, it is
  /// whole too.
  private static func whole(_ text: String) -> Int128? {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
    let mantissa = rest.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
    var exponent = 0
    if mantissa.count < rest.count {
      let written = String(decoding: rest.dropFirst(mantissa.count + 1), as: UTF8.self)
      guard let number = Int(written), (-1_000_000...1_000_000).contains(number) else { return nil }
      exponent = number
    }
    let zero = UInt8(ascii: "0")
    let parts = mantissa.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let areDigits = parts.allSatisfy { part in
      !part.isEmpty && part.allSatisfy { (zero...UInt8(ascii: "9")).contains($0) }
    }
    guard areDigits else { return nil }
    var digits = Array(parts.joined())
    guard digits.contains(where: { $0 != zero }) else { return 0 }
    // The number of digits after the point; a negative one is a number of further zeros.
    var places = (parts.count == 2 ? parts[1].count : 0) - exponent
    while places > 0, digits.last == zero {
      digits.removeLast()
      places -= 1
    }
    // More zeros than Int128 has digits are too many.
    guard (-40...0).contains(places) else { return nil }
    digits += Array(repeating: zero, count: -places)
    return Int128((isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self))
  }

  /// The number that a text is, as one with an order; nil for other text. NaN is text, since it has no order, and so are
  /// hexadecimal digits, which JSON does not have.
  private static func ordered(_ text: String) -> ComparableValue? {
    if let number = whole(text) { return .integer(number) }
    guard !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }),
      let value = ComparableValue(number: text)
    else { return nil }
    if case .real(let number) = value, number.isNaN { return nil }
    return value
  }

  /// The elements of a list in ascending order: numbers, or text by its characters. Text that is a number is one if all
  /// elements are numbers, as 64-bit integers are in JSON.
  static func sorted(_ call: Call, _ value: JSONValue) throws(LanguageError) -> JSONValue {
    guard case .array(let elements) = value else { throw call.error("\(shown(value)) is not a list") }
    let numbers = elements.compactMap { element -> ComparableValue? in
      switch element {
      case .number(let text), .string(let text): ordered(text)
      case .null, .bool, .array, .object: nil
      }
    }
    let keys =
      numbers.count == elements.count
      ? numbers
      : elements.compactMap { if case .string(let text) = $0 { ComparableValue.text(text) } else { nil } }
    guard keys.count == elements.count else {
      throw call.error(
        "the elements are not all numbers and not all text",
        hint: "write the path of a field, as in sort(last.items[].name)")
    }
    let order = elements.indices.sorted { one, other in
      switch keys[one].order(to: keys[other]) {
      case .before: true
      case .after: false
      case .same, .none: one < other
      }
    }
    return .array(order.map { elements[$0] })
  }

  /// The start of a value, for errors.
  private static func shown(_ value: JSONValue) -> String { value.text.cut(toBytes: 200) }
}
