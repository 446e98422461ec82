import RPCurlLanguage
import RPCurlProtobuf

/// The operators and functions of the Common Expression Language and of protovalidate.
enum CELFunctions {
  /// The names of methods, with the numbers of arguments after the receiver.
  private static let methods = """
    size 0,contains 1,startsWith 1,endsWith 1,matches 1,isNan 0,isInf 0,isInf 1,isEmail 0,isHostname 0,isIp 0,\
    isIp 1,isIpPrefix 0,isIpPrefix 1,isIpPrefix 2,isUri 0,isUriRef 0,isHostAndPort 1,unique 0,format 1,join 0,join 1,\
    lowerAscii 0,upperAscii 0,trim 0,getFullYear 0,getMonth 0,getDate 0,getDayOfMonth 0,getDayOfWeek 0,\
    getDayOfYear 0,getHours 0,getMinutes 0,getSeconds 0,getMilliseconds 0,getFullYear 1,getMonth 1,getDate 1,\
    getDayOfMonth 1,getDayOfWeek 1,getDayOfYear 1,getHours 1,getMinutes 1,getSeconds 1,getMilliseconds 1
    """.split(separator: ",")

  private static let functions = """
    size 1,matches 2,getField 2,int 1,uint 1,double 1,string 1,bytes 1,bool 1,duration 1,timestamp 1,dyn 1,type 1
    """.split(separator: ",")

  /// Whether there is a method with a number of arguments after its receiver.
  static func isMethod(_ name: String, _ count: Int) -> Bool { methods.contains("\(name) \(count)") }

  /// Whether there is a function with a number of arguments.
  static func isFunction(_ name: String, _ count: Int) -> Bool { functions.contains("\(name) \(count)") }

  /// Calls an operator, a function or a method.
  static func call(
    _ name: String, _ arguments: [CELValue], _ run: inout RuleRun
  ) throws(LanguageError) -> CELValue {
    let one = arguments[0]
    guard arguments.count > 1 else { return try unary(name, one) }
    let other = arguments[1]
    switch name {
    case "==": return .bool(try CELValue.areEqual(one, other, &run))
    case "!=": return .bool(try !CELValue.areEqual(one, other, &run))
    case "<", "<=", ">", ">=": return .bool(try compare(name, one, other))
    case "+", "-", "*", "/", "%": return try CELArithmetic.apply(name, one, other)
    case "in":
      switch other {
      case .list(let list):
        for element in list { if try CELValue.areEqual(element, one, &run) { return .bool(true) } }
        return .bool(false)
      case .map(let entries): return .bool(try CELValue.find(one, in: entries, &run) != nil)
      default: throw mismatch(name, arguments)
      }
    case "[]": return try element(one, other, &run)
    case "matches": return .bool(try matches(one, other, &run))
    case "getField":
      guard case .message(let message) = one, case .string(let field) = other else {
        throw mismatch(name, arguments)
      }
      let found = try CELEvaluator.field(field, of: message)
      return CELValue(found.message.contents(of: found.field), found.field)
    case "format":
      guard case .string(let form) = one, case .list(let values) = other else {
        throw mismatch(name, arguments)
      }
      return .string(try CELFormat.format(form, values))
    case "join":
      guard case .list(let list) = one, case .string(let separator) = other else {
        throw mismatch(name, arguments)
      }
      try run.spend(list.count * (separator.utf8.count >> 3))
      return .string(try joined(list, separator))
    case "isInf":
      guard case .double(let number) = one, case .int(let sign) = other else {
        throw mismatch(name, arguments)
      }
      return .bool(number.isInfinite && (sign == 0 || (sign > 0) == (number > 0)))
    case "contains", "startsWith", "endsWith": return .bool(try hasPart(name, one, other))
    case "isIp", "isIpPrefix", "isHostAndPort": return .bool(try isAddress(name, arguments))
    default:
      guard case .string(let zone) = other else { throw mismatch(name, arguments) }
      return try CELTime.part(name, of: one, zone: zone)
    }
  }

  private static func matches(
    _ text: CELValue, _ source: CELValue, _ run: inout RuleRun
  ) throws(LanguageError) -> Bool {
    guard case .string(let text) = text, case .string(let source) = source else {
      throw mismatch("matches", [text, source])
    }
    // Compiling takes longer than reading.
    run.budget -= source.utf8.count * 10
    let pattern: TextPattern
    do throws(LanguageError) {
      pattern = try TextPattern(source)
    } catch {
      // It may have been found to be too large only at the limit.
      run.budget -= TextPattern.stepLimit
      throw error
    }
    return try pattern.matches(text, &run)
  }

  private static func hasPart(
    _ name: String, _ one: CELValue, _ other: CELValue
  ) throws(LanguageError) -> Bool {
    guard let whole = octets(one), let part = octets(other), one.typeName == other.typeName else {
      throw mismatch(name, [one, other])
    }
    switch name {
    case "contains": return whole.contains(part)
    case "startsWith": return whole.starts(with: part)
    default: return whole.reversed().starts(with: part.reversed())
    }
  }

  private static func unary(_ name: String, _ value: CELValue) throws(LanguageError) -> CELValue {
    switch (name, value) {
    case ("!", .bool(let truth)): return .bool(!truth)
    case ("negate", .double(let number)): return .double(-number)
    case ("negate", .int(let number)):
      guard number != .min else { throw LanguageError("integer overflow") }
      return .int(-number)
    case ("negate", .duration(let time)): return .duration(-time)
    case ("size", .string(let text)): return .int(Int64(text.unicodeScalars.count))
    case ("size", .bytes(let bytes)): return .int(Int64(bytes.count))
    case ("size", .list(let list)): return .int(Int64(list.count))
    case ("size", .map(let entries)): return .int(Int64(entries.count))
    case ("isNan", .double(let number)): return .bool(number.isNaN)
    case ("isInf", .double(let number)): return .bool(number.isInfinite)
    case ("isEmail", .string(let text)): return .bool(InternetFormat.isEmail(Array(text.utf8)[...]))
    case ("isHostname", .string(let text)): return .bool(InternetFormat.isHostname(Array(text.utf8)[...]))
    case ("isUri", .string(let text)): return .bool(URIFormat.isURI(Array(text.utf8)[...]))
    case ("isUriRef", .string(let text)): return .bool(URIFormat.isReference(Array(text.utf8)[...]))
    case ("isIp", _), ("isIpPrefix", _): return .bool(try isAddress(name, [value]))
    case ("join", .list(let list)): return .string(try joined(list, ""))
    case ("lowerAscii", .string(let text)): return .string(ascii(text) { (65...90).contains($0) })
    case ("upperAscii", .string(let text)): return .string(ascii(text) { (97...122).contains($0) })
    case ("trim", .string(let text)):
      let isBlank = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
      var scalars = text.unicodeScalars[...]
      while scalars.last.map(isBlank) == true { scalars.removeLast() }
      return .string(String(scalars.drop(while: isBlank)))
    case ("unique", .list(let list)):
      var seen: Set<String> = []
      for value in list {
        switch value {
        case .bool, .int, .uint, .double, .string, .bytes: break
        default: throw LanguageError("unique applies to lists of scalars")
        }
        if case .double(let number) = value, number.isNaN { continue }
        if !seen.insert(try identity(value)).inserted { return .bool(false) }
      }
      return .bool(true)
    case ("dyn", _): return value
    case ("type", _): return .type(value.typeName)
    default: break
    }
    if name.hasPrefix("get") { return try CELTime.part(name, of: value, zone: "UTC") }
    return try CELConversion.convert(value, to: name)
  }

  /// A text that is the same for equal scalars of one type.
  private static func identity(_ value: CELValue) throws(LanguageError) -> String {
    switch value {
    case .bytes(let bytes): bytes.hex
    // The text of a string may be canonically equivalent to another.
    case .string(let text): Array(text.utf8).hex
    case .double(let number): "\((number + 0).bitPattern)"
    default: try CELFormat.text(value)
    }
  }

  private static func ascii(_ text: String, _ changes: (UInt8) -> Bool) -> String {
    String(decoding: text.utf8.map { changes($0) ? $0 ^ 0x20 : $0 }, as: UTF8.self)
  }

  private static func joined(_ list: [CELValue], _ separator: String) throws(LanguageError) -> String {
    var texts: [String] = []
    for value in list {
      guard case .string(let text) = value else { throw LanguageError("join applies to lists of strings") }
      texts.append(text)
    }
    return texts.joined(separator: separator)
  }

  private static func compare(
    _ name: String, _ one: CELValue, _ other: CELValue
  ) throws(LanguageError) -> Bool {
    switch CELValue.order(one, other) {
    case .before: return name == "<" || name == "<="
    case .after: return name == ">" || name == ">="
    case .same: return name == "<=" || name == ">="
    case .none:
      // NaN has no order; other values without one are a mistake.
      if case .double = one { return false }
      if case .double = other { return false }
      throw mismatch(name, [one, other])
    }
  }

  private static func element(
    _ value: CELValue, _ key: CELValue, _ run: inout RuleRun
  ) throws(LanguageError) -> CELValue {
    switch value {
    case .list(let list):
      let index: Int? =
        switch key {
        case .int(let index): Int(exactly: index)
        case .uint(let index): Int(exactly: index)
        case .double(let index): Int(exactly: index)
        default: nil
        }
      guard let index else { throw mismatch("[]", [value, key]) }
      guard list.indices.contains(index) else { throw LanguageError("the index \(index) is out of range") }
      return list[index]
    case .map(let entries):
      guard let found = try CELValue.find(key, in: entries, &run) else {
        throw LanguageError("the map has no such key")
      }
      return found
    default: throw mismatch("[]", [value, key])
    }
  }

  private static func isAddress(_ name: String, _ arguments: [CELValue]) throws(LanguageError) -> Bool {
    guard case .string(let string) = arguments[0] else { throw mismatch(name, arguments) }
    let text = Array(string.utf8)[...]
    var version: Int?
    var flag: Bool?
    for argument in arguments.dropFirst() {
      switch argument {
      case .int(let number) where flag == nil && version == nil: version = Int(number)
      case .bool(let value) where flag == nil: flag = value
      default: throw mismatch(name, arguments)
      }
    }
    if name == "isHostAndPort" {
      guard let flag, version == nil else { throw mismatch(name, arguments) }
      return InternetFormat.isHostAndPort(text, requiresPort: flag)
    }
    guard name != "isIp" || flag == nil else { throw mismatch(name, arguments) }
    if version == 0 { version = nil }
    guard version == nil || version == 4 || version == 6 else { return false }
    return name == "isIp"
      ? InternetFormat.isAddress(text, version: version)
      : InternetFormat.isPrefix(text, version: version, isStrict: flag ?? false)
  }

  /// The bytes of a string or of bytes.
  private static func octets(_ value: CELValue) -> [UInt8]? {
    switch value {
    case .string(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    default: nil
    }
  }

  /// The error for arguments of types that a function does not accept.
  static func mismatch(_ name: String, _ arguments: [CELValue]) -> LanguageError {
    LanguageError("\(name) does not apply to \(arguments.map(\.typeName).joined(separator: " and "))")
  }
}
