import Interception
import Protobuf

/// Replaces value functions such as `${uuid()}` in text. It is opt-in wherever it applies.
///
/// The grammar is `${NAME(ARGUMENT)}`; the argument ends at the first `)}`. `$${` stands for `${`. Other text is not
/// changed, and results are not expanded again. Clock, environment, files and seed come from the caller.
package final class ValueFunctions: Sendable {
  /// Why a function has no value.
  package struct Problem: Error, Equatable {
    package let reason: String
    package var hint: String?
  }

  /// A value: text, or a number, which JSON does not quote.
  enum Value: Equatable {
    case text(String)
    case number(Int64)

    var text: String {
      switch self {
      case .text(let text): text
      case .number(let number): String(number)
      }
    }
  }

  /// The functions with their arguments, for messages.
  package static let signatures =
    "uuid(), now(), now(+1h), random(1,9), base64(TEXT), env(NAME), file(PATH), offset()"
  /// The longest expanded text, in bytes.
  static let limitBytes = 64 << 20

  private let services: any ValueSourceServices
  private let random: Locked<SeededGenerator>

  /// Makes functions.
  ///
  /// - Parameters:
  ///   - services: The clock, the environment and the files.
  ///   - seed: The seed of random values; nil for a random one.
  package init(_ services: any ValueSourceServices, seed: UInt64?) {
    self.services = services
    random = Locked(SeededGenerator(seed: seed))
  }

  /// Makes the functions of an interceptor with the settings `expand` and `seed`; nil without `expand`.
  convenience init?(_ settings: SettingsReader, _ services: any InterceptorServices)
    throws(ConfigurationError)
  {
    let seed = try settings.seed()
    guard try settings.flag("expand") == true else {
      guard seed == nil else { throw settings.error("seed", "requires expand=true") }
      return nil
    }
    self.init(services, seed: seed)
  }

  /// Replaces the functions in a text by their values.
  ///
  /// - Parameter offset: The value of `offset()`, in bytes; nil where the text does not belong to a piece of a file.
  package func expand(_ text: String, offset: Int64? = nil) throws(Problem) -> String {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
    let bytes = try expand(Array(text.utf8), offset) { (value, _) in Array(value.text.utf8) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Replaces the functions in JSON: within a string by the escaped text, elsewhere by a JSON value.
  package func expand(json: [UInt8]) throws(Problem) -> [UInt8] {
    guard json.contains(UInt8(ascii: "$")) else { return json }
    return try expand(json, nil, isJSON: true) { (value, isInString) in
      Self.json(value, isInString: isInString)
    }
  }

  /// The value of the function that is written at a dollar sign of JSON, and the end of that; nil if none is.
  ///
  /// - Parameters:
  ///   - start: The index of the dollar sign.
  ///   - json: The JSON.
  ///   - isInString: Whether the dollar sign is within a string.
  ///   - all: Whether all functions are available, or only those that read nothing but their argument.
  package func value(
    at start: Int, of json: [UInt8], isInString: Bool, all: Bool
  ) throws(Problem) -> (json: [UInt8], end: Int)? {
    guard all || json[start...].starts(with: "${base64(".utf8),
      let call = try Self.call(in: json[...], at: start)
    else { return nil }
    let argument = isInString ? Self.unescaped(call.argument) : call.argument
    return (Self.json(try value(of: call.name, argument, nil), isInString: isInString), call.end)
  }

  private static func json(_ value: Value, isInString: Bool) -> [UInt8] {
    switch value {
    case .number(let number): Array(String(number).utf8)
    case .text(let text):
      isInString
        ? Array(JSONValue.quoted(text).utf8.dropFirst().dropLast()) : Array(JSONValue.quoted(text).utf8)
    }
  }

  /// The text that is written within a string of JSON.
  private static func unescaped(_ text: String) -> String {
    guard case .string(let content) = try? JSONValue(parsing: Array("\"\(text)\"".utf8)) else { return text }
    return content
  }

  private func expand(
    _ bytes: [UInt8], _ offset: Int64?, isJSON: Bool = false, _ insert: (Value, _ isInString: Bool) -> [UInt8]
  ) throws(Problem) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var index = 0
    var isInString = false
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "$") {
        if bytes[index...].starts(with: "$${".utf8) {
          out += "${".utf8
          index += 3
          continue
        }
        if let call = try Self.call(in: bytes[...], at: index) {
          let argument = isJSON && isInString ? Self.unescaped(call.argument) : call.argument
          out += insert(try value(of: call.name, argument, offset), isInString)
          guard out.count <= Self.limitBytes else {
            throw Problem(reason: "the expanded text is longer than \(Self.limitBytes >> 20) MiB")
          }
          index = call.end
          continue
        }
      } else if byte == UInt8(ascii: "\"") {
        isInString.toggle()
      } else if byte == UInt8(ascii: "\\"), isInString, index + 1 < bytes.count {
        out.append(byte)
        index += 1
      }
      out.append(bytes[index])
      index += 1
    }
    return out
  }

  /// The first call of an existing function in a text, such as `${uuid()}`; nil if absent.
  ///
  /// - Parameter isValue: Whether the text begins with a value of JSON: only this value is searched.
  package static func reference(in text: ArraySlice<UInt8>, isValue: Bool = false) -> String? {
    let isString = text.first == UInt8(ascii: "\"")
    var previous: UInt8 = 0
    for (index, byte) in zip(text.indices, text) {
      if byte == UInt8(ascii: "$"), previous != byte {
        // A call without an end: there is no further one.
        guard let call = try? .some(call(in: text, at: index)) else { return nil }
        if let call, " \(signatures)".contains(" \(call.name)(") {
          return "${\(call.name)(\(call.argument))}"
        }
      }
      let isEnd = byte == UInt8(ascii: "\"") && previous != UInt8(ascii: "\\") && index > text.startIndex
      if isValue, isEnd || !isString { return nil }
      previous = byte
    }
    return nil
  }

  /// The hint for a call of a function in text that is not expanded.
  package static func hint(_ reference: String) -> String { "add --expand-data to replace \(reference)" }

  /// The call that starts at a dollar sign; nil if none does.
  private static func call(
    in bytes: ArraySlice<UInt8>, at start: Int
  ) throws(Problem) -> (name: String, argument: String, end: Int)? {
    guard bytes[start...].starts(with: "${".utf8) else { return nil }
    var index = start + 2
    while index < bytes.endIndex,
      (97...122).contains(bytes[index]) || bytes[index] == UInt8(ascii: "_")
        || index > start + 2 && (48...57).contains(bytes[index])
    {
      index += 1
    }
    guard index > start + 2, index < bytes.endIndex, bytes[index] == UInt8(ascii: "(") else { return nil }
    let name = String(decoding: bytes[(start + 2)..<index], as: UTF8.self)
    let first = index + 1
    index = first
    while index + 1 < bytes.endIndex {
      if bytes[index] == UInt8(ascii: ")"), bytes[index + 1] == UInt8(ascii: "}") {
        return (name, String(decoding: bytes[first..<index], as: UTF8.self), index + 2)
      }
      index += 1
    }
    throw Problem(reason: "${\(name)( has no end: missing )}", hint: "$${ stands for ${")
  }

  // MARK: Functions

  private func value(of name: String, _ argument: String, _ offset: Int64?) throws(Problem) -> Value {
    switch name {
    case "uuid":
      guard argument.isEmpty else { throw invalid(name, argument, "it has no argument") }
      return .text(uuid())
    case "now": return .text(try now(argument))
    case "random": return .number(try number(argument))
    case "base64": return .text(Base64.encode(Array(argument.utf8)))
    case "env":
      guard let text = services.environment(argument) else {
        throw Problem(reason: "${env(\(argument))}: the environment variable is not set")
      }
      return .text(text)
    case "file": return .text(try file(argument))
    case "offset":
      guard argument.isEmpty else { throw invalid(name, argument, "it has no argument") }
      guard let offset else {
        throw Problem(reason: "${offset()}: only values of --set with --chunk have an offset")
      }
      return .number(offset)
    default: throw Problem(reason: "${\(name)()} is not a value function", hint: "use \(Self.signatures)")
    }
  }

  private func invalid(_ name: String, _ argument: String, _ reason: String) -> Problem {
    Problem(reason: "${\(name)(\(argument))}: \(reason)", hint: "use \(Self.signatures)")
  }

  /// A random UUID (RFC 9562, version 4).
  private func uuid() -> String {
    let (high, low) = random.withLock { ($0.next(), $0.next()) }
    let digits = [high & ~0xf000 | 0x4000, low & ~(0b11 << 62) | 1 << 63].map { half in
      let text = String(half, radix: 16)
      return String(repeating: "0", count: 16 - text.utf8.count) + text
    }.joined()
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text += "-" }
      text.append(digit)
    }
    return text
  }

  /// The time in UTC (RFC 3339), with an offset such as `+1h` or `-90s`.
  private func now(_ argument: String) throws(Problem) -> String {
    var time = services.nanosecondsSince1970
    if !argument.isEmpty {
      guard let offset = Self.offset(argument) else {
        throw invalid("now", argument, "not an offset such as +1h, -30m, +90s, +500ms or +7d")
      }
      let (sum, overflow) = time.addingReportingOverflow(offset)
      guard !overflow else { throw invalid("now", argument, "the time is out of range") }
      time = sum
    }
    return CivilTime.text(nanosecondsSince1970: time)
  }

  /// Nanoseconds of an offset: a sign, a whole number and a unit.
  private static func offset(_ text: String) -> Int64? {
    guard let sign = text.first, sign == "+" || sign == "-" else { return nil }
    let digits = text.dropFirst().prefix { ("0"..."9").contains($0) }
    let units: [Substring: Int64] = [
      "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
      "d": 86_400_000_000_000,
    ]
    guard let number = Int64(digits), let unit = units[text.dropFirst(digits.count + 1)] else { return nil }
    let (offset, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow ? nil : sign == "-" ? -offset : offset
  }

  /// A random number between two, inclusive.
  private func number(_ argument: String) throws(Problem) -> Int64 {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map { part in
      Int64(String(part.drop { $0 == " " }))
    }
    guard parts.count == 2, let low = parts[0], let high = parts[1], low <= high else {
      throw invalid("random", argument, "not two whole numbers in ascending order")
    }
    return random.withLock { Int64.random(in: low...high, using: &$0) }
  }

  /// The content of a file, without its last line end.
  private func file(_ path: String) throws(Problem) -> String {
    let bytes: [UInt8]
    do throws(ServiceFailure) { bytes = try services.contents(ofFile: path) } catch {
      throw Problem(reason: "${file(\(path))}: \(error.reason)")
    }
    guard var text = String(validating: bytes, as: UTF8.self) else {
      throw Problem(
        reason: "${file(\(path))}: not UTF-8", hint: "--set-file sends any bytes in a bytes field")
    }
    // `\r\n` is one character.
    if text.last == "\n" || text.last == "\r\n" { text.removeLast() }
    return text
  }
}

extension ValueFunctions: Equatable {
  /// Equal only to itself: its random values go on.
  package static func == (a: ValueFunctions, b: ValueFunctions) -> Bool { a === b }
}
