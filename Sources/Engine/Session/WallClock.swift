import RPCurlPlatform

/// The time of day, for messages.
enum WallClock {
  /// The local time now: `14:05:09.250`.
  static func timeOfDay() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return text(seconds: now.tv_sec, milliseconds: now.tv_nsec / 1_000_000)
  }

  /// The local time of day, of seconds since 1970.
  static func text(seconds: Int, milliseconds: Int) -> String {
    var seconds = time_t(seconds)
    var parts = tm()
    localtime_r(&seconds, &parts)
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(width - digits.utf8.count, 0)) + digits
    }
    return [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)].map { padded($0, 2) }
      .joined(separator: ":") + "." + padded(milliseconds, 3)
  }
}
