import RPCurlLanguage
import RPCurlProtobuf

/// The conversions between types.
enum CELConversion {
  /// Converts a value to the type with a name.
  static func convert(_ value: CELValue, to type: String) throws(LanguageError) -> CELValue {
    if let result = result(value, type) { return result }
    if case .string(let text) = value,
      ["int", "uint", "double", "bool", "duration", "timestamp"].contains(type)
    {
      throw LanguageError("\(text.debugDescription) is not a value of the type \(type)")
    }
    throw LanguageError("\(type) does not convert the value of the type \(value.typeName)")
  }

  /// The `double` of a number; nil for other values.
  static func number(_ value: CELValue) -> CELValue? {
    if case .string = value { return nil }
    return result(value, "double")
  }

  private static func result(_ value: CELValue, _ type: String) -> CELValue? {
    switch (type, value) {
    case ("int", .int), ("uint", .uint), ("double", .double), ("string", .string), ("bytes", .bytes),
      ("bool", .bool), ("duration", .duration), ("timestamp", .timestamp):
      return value
    case ("int", .uint(let number)): return Int64(exactly: number).map { .int($0) }
    case ("int", .double(let number)): return Int64(exactly: number.rounded(.towardZero)).map { .int($0) }
    case ("int", .string(let text)): return Int64(text).map { .int($0) }
    case ("int", .timestamp(let time)):
      let billion: Int128 = 1_000_000_000
      return Int64(exactly: (time - (time % billion + billion) % billion) / billion).map { .int($0) }
    case ("uint", .int(let number)): return UInt64(exactly: number).map { .uint($0) }
    case ("uint", .double(let number)): return UInt64(exactly: number.rounded(.towardZero)).map { .uint($0) }
    case ("uint", .string(let text)): return UInt64(text).map { .uint($0) }
    case ("double", .int(let number)): return .double(Double(number))
    case ("double", .uint(let number)): return .double(Double(number))
    case ("double", .string(let text)): return Double(text).map { .double($0) }
    case ("bool", .string(let text)):
      if ["1", "t", "T", "true", "TRUE", "True"].contains(text) { return .bool(true) }
      return ["0", "f", "F", "false", "FALSE", "False"].contains(text) ? .bool(false) : nil
    case ("bytes", .string(let text)): return .bytes(Array(text.utf8))
    case ("string", .bytes(let bytes)): return String(validating: bytes, as: UTF8.self).map { .string($0) }
    case ("string", .bool), ("string", .int), ("string", .uint), ("string", .double), ("string", .timestamp),
      ("string", .duration):
      return (try? CELFormat.text(value)).map { .string($0) }
    case ("duration", .string(let text)): return duration(text).flatMap { .duration(inRange: $0) }
    case ("timestamp", .int(let seconds)): return .timestamp(inRange: Int128(seconds) * 1_000_000_000)
    case ("timestamp", .string(let text)):
      guard let type = WellKnownMessages.type("google.protobuf.Timestamp"),
        let message = try? Message(type, json: Array(JSONValue.quoted(text).utf8)),
        let time = message.nanoseconds
      else { return nil }
      return .timestamp(time)
    default: return nil
    }
  }

  /// Reads a duration such as `1h30m` or `-1.5s`, in nanoseconds.
  private static func duration(_ text: String) -> Int128? {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    if rest.elementsEqual("0".utf8) { return 0 }
    let units: [String: Int128] = [
      "h": 3_600_000_000_000, "m": 60_000_000_000, "s": 1_000_000_000, "ms": 1_000_000, "us": 1000,
      "µs": 1000,
      "μs": 1000, "ns": 1,
    ]
    var total: Int128 = 0
    guard !rest.isEmpty, rest.count <= 100 else { return nil }
    while !rest.isEmpty {
      let whole = rest.prefix(while: \.isDigit)
      rest = rest[whole.endIndex...]
      var fraction: ArraySlice<UInt8> = []
      if rest.first == UInt8(ascii: ".") {
        fraction = rest.dropFirst().prefix(while: \.isDigit)
        rest = rest[(rest.startIndex + 1 + fraction.count)...]
      }
      let name = rest.prefix { !$0.isDigit && $0 != UInt8(ascii: ".") }
      rest = rest[name.endIndex...]
      guard whole.count + fraction.count > 0, whole.count <= 15,
        let unit = units[String(decoding: name, as: UTF8.self)]
      else { return nil }
      total += whole.reduce(Int128(0)) { $0 * 10 + Int128($1 - 0x30) } * unit
      var scale = unit
      for digit in fraction {
        scale /= 10
        total += Int128(digit - 0x30) * scale
      }
    }
    return isNegative ? -total : total
  }
}
