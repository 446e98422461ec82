import RPCurlBase
import RPCurlLanguage
import RPCurlProtobuf

/// The parts of timestamps and durations.
enum CELTime {
  /// A part of a timestamp in a time zone, or of a duration.
  static func part(_ name: String, of value: CELValue, zone: String) throws(LanguageError) -> CELValue {
    switch value {
    case .duration(let time):
      let unit: Int128? =
        switch name {
        case "getHours": 3_600_000_000_000
        case "getMinutes": 60_000_000_000
        case "getSeconds": 1_000_000_000
        default: nil
        }
      if let unit { return .int(Int64(truncatingIfNeeded: time / unit)) }
      if name == "getMilliseconds" { return .int(Int64(truncatingIfNeeded: time / 1_000_000 % 1000)) }
    case .timestamp(let time):
      guard let offset = offset(zone) else {
        throw LanguageError(
          "the time zone \(zone.debugDescription) is not supported: use an offset such as +02:00")
      }
      if let part = part(name, of: time + Int128(offset) * 1_000_000_000) { return .int(part) }
    default: break
    }
    throw CELFunctions.mismatch(name, [value])
  }

  private static func part(_ name: String, of time: Int128) -> Int64? {
    let day: Int128 = 86_400_000_000_000
    let rest = (time % day + day) % day
    let days = Int64(truncatingIfNeeded: (time - rest) / day)
    let milliseconds = Int64(rest) / 1_000_000
    let date = CivilTime.civil(day: days)
    switch name {
    case "getFullYear": return date.year
    case "getMonth": return date.month - 1
    case "getDate": return date.day
    case "getDayOfMonth": return date.day - 1
    case "getDayOfWeek": return ((days + 4) % 7 + 7) % 7
    case "getDayOfYear":
      let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
      let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
      return Int64(before[Int(date.month - 1)]) + (isLeap && date.month > 2 ? 1 : 0) + date.day - 1
    case "getHours": return milliseconds / 3_600_000
    case "getMinutes": return milliseconds / 60_000 % 60
    case "getSeconds": return milliseconds / 1000 % 60
    case "getMilliseconds": return milliseconds % 1000
    default: return nil
    }
  }

  /// The seconds of an offset such as `+02:00`; nil for names of zones except `UTC`.
  private static func offset(_ zone: String) -> Int64? {
    if zone == "UTC" || zone == "Z" { return 0 }
    let bytes = Array(zone.utf8)
    let sign = bytes.first == UInt8(ascii: "-") || bytes.first == UInt8(ascii: "+") ? 1 : 0
    let parts = bytes.dropFirst(sign).split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isDigit) }) else {
      return nil
    }
    let numbers = parts.map { $0.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) } }
    return (numbers[0] * 3600 + numbers[1] * 60) * (bytes.first == UInt8(ascii: "-") ? -1 : 1)
  }
}

extension Message {
  /// A timestamp since 1970, or a duration, in nanoseconds; nil for other messages.
  package var nanoseconds: Int128? {
    guard let fields = try? type.fields(), fields.count == 2 else { return nil }
    let parts = fields.compactMap { field -> Int128? in
      guard case .value(let part) = contents(of: field) else { return 0 }
      return CELValue(part).integer
    }
    return parts.count == 2 ? parts[0] * 1_000_000_000 + parts[1] : nil
  }
}
