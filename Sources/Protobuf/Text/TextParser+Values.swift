extension TextParser {
  /// Reads a value of a field, or an element of a list.
  mutating func value(of field: FieldNode, depth: Int) throws(ReadFailure) -> Value {
    if let type = field.messageType { return .message(try message(type, depth: depth + 1)) }
    _ = scanner.peek()
    let start = scanner.position
    switch field.kind {
    case .string, .bytes: return try string(field, at: start)
    case .bool: return .bool(try bool(field, at: start))
    case .double, .float: return try float(field, at: start)
    case .enumeration: return .enum(try enumNumber(field, at: start))
    default: return try integer(field, at: start)
    }
  }

  // MARK: Strings

  private mutating func string(_ field: FieldNode, at start: Int) throws(ReadFailure) -> Value {
    guard scanner.seesString() else { throw scanner.wrongType("a string", at: start) }
    var content: [UInt8] = []
    try scanner.strings(into: &content)
    if field.kind == .bytes { return .bytes(content) }
    if content.withUnsafeBytes({ UTF8Validation.isValid($0) }) {
      return .string(String(decoding: content, as: UTF8.self))
    }
    guard !field.validatesUTF8 else { throw scanner.failure(.invalidUTF8, at: start) }
    return .bytes(content)
  }

  // MARK: Numbers

  private mutating func integer(_ field: FieldNode, at start: Int) throws(ReadFailure) -> Value {
    let (negative, magnitude) = try wholeNumber("a whole number (\(field.kind.protoName))", field, at: start)
    let value: Value?
    switch field.kind {
    case .int32, .sint32, .sfixed32:
      value = signed(negative, magnitude).flatMap { Int32(exactly: $0) }.map { .int32($0) }
    case .int64, .sint64, .sfixed64: value = signed(negative, magnitude).map { .int64($0) }
    case .uint32, .fixed32:
      value = negative && magnitude > 0 ? nil : UInt32(exactly: magnitude).map { .uint32($0) }
    default: value = negative && magnitude > 0 ? nil : .uint64(magnitude)
    }
    guard let value else { throw scanner.failure(.outOfRange(type: field.kind.protoName), at: start) }
    return value
  }

  private func signed(_ negative: Bool, _ magnitude: UInt64) -> Int64? {
    guard negative else { return Int64(exactly: magnitude) }
    return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
  }

  private mutating func wholeNumber(
    _ expected: @autoclosure () -> String, _ field: FieldNode, at start: Int
  ) throws(ReadFailure) -> (negative: Bool, magnitude: UInt64) {
    let negative = scanner.accept(UInt8(ascii: "-"))
    guard scanner.seesNumber() else { throw scanner.wrongType(expected(), at: start) }
    let magnitude: UInt64?
    switch try scanner.number() {
    case .decimal(let digits): magnitude = number(digits, base: 10)
    case .octal(let digits): magnitude = number(digits, base: 8)
    case .hexadecimal(let digits): magnitude = number(digits, base: 16)
    case .float: throw scanner.wrongType(expected(), at: start)
    }
    guard let magnitude else { throw scanner.failure(.outOfRange(type: field.kind.protoName), at: start) }
    return (negative, magnitude)
  }

  private func number(_ digits: UnsafeRawBufferPointer, base: UInt64) -> UInt64? {
    var value: UInt64 = 0
    for byte in digits {
      guard let digit = TextEscapes.hexDigit(byte) else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: base)
      let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
      if overflow || carry { return nil }
      value = sum
    }
    return value
  }

  private mutating func float(_ field: FieldNode, at start: Int) throws(ReadFailure) -> Value {
    var expected: String { "a number (\(field.kind.protoName))" }
    let negative = scanner.accept(UInt8(ascii: "-"))
    let text: String
    if scanner.seesIdentifier() {
      let word = String(decoding: try scanner.identifier(), as: UTF8.self).lowercased()
      switch word {
      case "inf", "infinity": text = "inf"
      case "nan": text = "nan"
      default: throw scanner.wrongType(expected, at: start)
      }
    } else {
      guard scanner.seesNumber() else { throw scanner.wrongType(expected, at: start) }
      switch try scanner.number() {
      case .decimal(let token), .float(let token):
        if field.kind == .double, let value = DecimalReader.double(token) {
          return .double(negative ? -value : value)
        }
        text = TextParser.completed(token)
      case .octal, .hexadecimal: throw scanner.wrongType(expected + " in decimal", at: start)
      }
    }
    let signed = negative ? "-" + text : text
    // A number out of range becomes infinite, as in other implementations.
    return field.kind == .float ? .float(Float(signed) ?? .nan) : .double(Double(signed) ?? .nan)
  }

  /// A number with digits on both sides of its point: `.5`, `1.` and `1.e3` are valid in text format.
  private static func completed(_ token: UnsafeRawBufferPointer) -> String {
    var text = String(decoding: token, as: UTF8.self)
    guard let point = text.firstIndex(of: ".") else { return text }
    if text[text.index(after: point)...].first?.isNumber != true {
      text.insert("0", at: text.index(after: point))
    }
    if point == text.startIndex { text.insert("0", at: text.startIndex) }
    return text
  }

  // MARK: Words

  private mutating func bool(_ field: FieldNode, at start: Int) throws(ReadFailure) -> Bool {
    let expected = "true or false"
    if scanner.seesNumber() {
      let (_, magnitude) = try wholeNumber(expected, field, at: start)
      guard magnitude <= 1 else { throw scanner.wrongType(expected, at: start) }
      return magnitude == 1
    }
    guard scanner.seesIdentifier() else { throw scanner.wrongType(expected, at: start) }
    switch String(decoding: try scanner.identifier(), as: UTF8.self) {
    case "true", "True", "t": return true
    case "false", "False", "f": return false
    default: throw scanner.wrongType(expected, at: start)
    }
  }

  private mutating func enumNumber(_ field: FieldNode, at start: Int) throws(ReadFailure) -> Int32 {
    guard let type = field.enumType else { return 0 }
    if scanner.seesIdentifier() {
      let name = try scanner.identifier()
      if let number = type.number(ofBytes: name) { return number }
      throw unknownValue(String(decoding: name, as: UTF8.self), type, at: start)
    }
    let (negative, magnitude) = try wholeNumber("a name or a number (\(type.name))", field, at: start)
    guard let number = signed(negative, magnitude).flatMap({ Int32(exactly: $0) }) else {
      throw scanner.failure(.outOfRange(type: type.name), at: start)
    }
    guard type.accepts(number) else { throw unknownValue("\(number)", type, at: start) }
    return number
  }

  private func unknownValue(_ value: String, _ type: EnumNode, at start: Int) -> ReadFailure {
    scanner.failure(type.unknown(value, name: value), at: start)
  }

  // MARK: Skipping

  /// Reads the number of an unknown field.
  mutating func fieldNumber() throws(ReadFailure) {
    let start = scanner.position
    guard options.allowUnknownFields, case .decimal = try scanner.number() else {
      throw scanner.failure(.numberedField, at: start)
    }
  }

  /// Skips the rest of an unknown field after its name.
  mutating func skipField(depth: Int) throws(ReadFailure) {
    let hasColon = scanner.accept(UInt8(ascii: ":"))
    let next = scanner.peek()
    guard
      hasColon || next == UInt8(ascii: "{") || next == UInt8(ascii: "<") || next == UInt8(ascii: "[")
    else { throw scanner.expected("\":\" or \"{\"") }
    guard scanner.accept(UInt8(ascii: "[")) else { return try skipValue(depth: depth) }
    var count = 0
    while try scanner.nextElement(after: count) {
      try skipValue(depth: depth)
      count += 1
    }
  }

  private mutating func skipValue(depth: Int) throws(ReadFailure) {
    if let end = scanner.openMessage() { return try skipFields(until: end, depth: depth + 1) }
    if scanner.seesString() {
      var content: [UInt8] = []
      return try scanner.strings(into: &content)
    }
    _ = scanner.accept(UInt8(ascii: "-"))
    if scanner.seesIdentifier() {
      _ = try scanner.identifier()
    } else {
      guard scanner.seesNumber() else { throw scanner.expected("a value") }
      _ = try scanner.number()
    }
  }

  private mutating func skipFields(until end: UInt8, depth: Int) throws(ReadFailure) {
    guard depth <= nestingLimit else { throw scanner.failure(.tooDeep) }
    while !scanner.accept(end) {
      if scanner.accept(UInt8(ascii: "[")) {
        _ = try scanner.bracketedName()
      } else if scanner.seesNumber() {
        try fieldNumber()
      } else {
        _ = try scanner.identifier()
      }
      try skipField(depth: depth)
      scanner.skipSeparator()
    }
  }
}
