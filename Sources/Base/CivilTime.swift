/// A time of day in ISO 8601 format, for reports and logs.
package enum CivilTime {
  /// UTC, to the millisecond: `2026-11-21T11:22:33.456Z`.
  package static func text(nanosecondsSince1970 time: Int64) -> String {
    let milliseconds = floorDivide(time, 1_000_000)
    let seconds = floorDivide(milliseconds, 1000)
    return "\(secondsText(seconds)).\(padded(milliseconds - seconds * 1000, 3))Z"
  }

  /// UTC, to the second and without a zone: `2026-11-21T11:22:33`.
  package static func secondsText(_ seconds: Int64) -> String {
    let day = floorDivide(seconds, 86_400)
    let rest = seconds - day * 86_400
    let (year, month, date) = civil(day: day)
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(date, 2))T\(padded(rest / 3600, 2)):"
      + "\(padded(rest / 60 % 60, 2)):\(padded(rest % 60, 2))"
  }

  /// The date of a day counted from 1970-01-01 (the algorithm `civil_from_days` of Howard Hinnant).
  package static func civil(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = day + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : (number - divisor + 1) / divisor
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
