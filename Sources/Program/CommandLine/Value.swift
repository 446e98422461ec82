import RPCurlBase

/// The value of an option.
package enum Value: Equatable, Sendable {
  case flag(Bool)
  case text(String)
  case list([String])
  case duration(Duration)
  case bytes(Int)
  case number(Int)

  /// Reads the value of an option.
  init(_ text: String, of option: Option, name: String, _ origin: Origin) throws(ParseError) {
    func invalid(_ why: String, hint: String? = nil) -> ParseError {
      ParseError(.invalidValue(option: name, value: text, why: why, hint: hint), origin)
    }
    switch option.kind {
    case .flag, .count:
      guard text == "true" || text == "false" else { throw ParseError(.invalidFlag(name), origin) }
      self = .flag(text == "true")
    case .level(let values):
      guard let level = Self.level(text, values, option) else {
        throw invalid("not one of \(Self.commas(values))", hint: "write \(name)\(option.placeholder)")
      }
      self = level
    case .text, .word: self = .text(text)
    case .data: self = .text(text == "@" ? "@-" : text)
    case .duration:
      guard let time = Self.nanoseconds(text) else {
        throw invalid("not a valid duration", hint: "write seconds, or a unit: 1.5, 500ms, 2m")
      }
      guard let duration = Self.duration(text) else {
        throw invalid(
          time > 0 ? "too long: a duration is below 2500000h" : "a duration is above 0",
          hint: "omit \(name)\(Self.effect(ofOmitting: option))")
      }
      self = .duration(duration)
    case .bytes:
      guard let count = Self.bytes(text) else {
        throw text.first == "0" && Self.bytes("1\(text)") != nil
          ? invalid("a number of bytes is above 0", hint: "omit \(name) for its default")
          : invalid("not a valid number of bytes", hint: "write a number, or a unit: 65536, 512k, 64m")
      }
      self = .bytes(count)
    case .number:
      guard let number = Int(text) else { throw invalid("not a valid number") }
      self = .number(number)
    case .choice(let values, let spellings):
      guard let value = Self.choice(text, values, spellings) else {
        throw invalid(
          "not one of \(Self.commas(values))",
          hint: EditDistance.nearest(to: text, among: option.values, limit: 1).first.map {
            "did you mean \($0)?"
          })
      }
      self = .text(value)
    case .choices(let values):
      let parts = text.split(separator: ",", omittingEmptySubsequences: false)
      guard parts.allSatisfy({ Option.has(values, $0) }) else {
        throw invalid("not a list of \(Self.commas(values)), with commas between")
      }
      self = .list(parts.map(String.init))
    }
  }

  /// A level: the first one if none is named, and none for `false`; nil for other text.
  private static func level(_ text: String, _ values: String, _ option: Option) -> Value? {
    switch text {
    case "false": .flag(false)
    case "true": option.values.first.map { .text($0) }
    default: choice(text, values, "").map { .text($0) }
    }
  }

  /// What a command does without an option whose value is a duration.
  private static func effect(ofOmitting option: Option) -> String {
    switch option.id {
    case .maxTime: " for no limit"
    case .keepaliveTime, .keepaliveTimeout, .ramp, .wait, .warmUp: ""
    default: " for its default"
    }
  }

  private static func commas(_ list: String) -> String {
    list.split(separator: " ").joined(separator: ", ")
  }

  private static func choice(_ text: String, _ values: String, _ spellings: String) -> String? {
    if Option.has(values, text[...]) { return text }
    for spelling in spellings.split(separator: " ") {
      let parts = spelling.split(separator: "=")
      if parts.first == text[...], let value = parts.last { return String(value) }
    }
    return nil
  }

  /// A duration: `1.5` or `1.5s`, `1500ms`, `2m`, `1h`; nil for any other text, zero and what is too long.
  package static func duration(_ text: String) -> Duration? {
    guard let time = nanoseconds(text), time > 0, time < 9e18 else { return nil }
    return .nanoseconds(Int64(time.rounded(.up)))
  }

  /// The number of nanoseconds that a text of the form of a duration is; nil for any other text.
  private static func nanoseconds(_ text: String) -> Double? {
    let number = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    let nanosecondsPerUnit: Double
    switch text[number.endIndex...] {
    case "", "s": nanosecondsPerUnit = 1e9
    case "ns": nanosecondsPerUnit = 1
    case "us": nanosecondsPerUnit = 1e3
    case "ms": nanosecondsPerUnit = 1e6
    case "m": nanosecondsPerUnit = 60e9
    case "h": nanosecondsPerUnit = 3600e9
    default: return nil
    }
    return Double(number).map { $0 * nanosecondsPerUnit }
  }

  /// A number of bytes, with `k`, `m` or `g` for KiB, MiB and GiB; nil for any other text and zero.
  package static func bytes(_ text: String) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let shift: Int
    switch text[digits.endIndex...] {
    case "": shift = 0
    case "k", "K": shift = 10
    case "m", "M": shift = 20
    case "g", "G": shift = 30
    default: return nil
    }
    guard let number = Int(digits),
      case let (bytes, overflow) = number.multipliedReportingOverflow(by: 1 << shift), !overflow, bytes > 0
    else { return nil }
    return bytes
  }
}
