/// How much a log record matters.
public enum LogLevel: Int, Sendable, Comparable {
  /// Details for debugging.
  case debug = 0
  /// What is worth knowing.
  case info = 1
  /// Something is not as it should be, and the call goes on.
  case warning = 2
  /// Something failed.
  case error = 3

  /// Whether one matters less than the other.
  public static func < (one: LogLevel, other: LogLevel) -> Bool { one.rawValue < other.rawValue }
}

/// One thing that an interceptor has to say to people.
public struct LogRecord: Sendable, Equatable {
  /// How much it matters.
  public var level: LogLevel
  /// Who says it: an interceptor's or a plugin's name.
  public var source: String
  /// What is said, one line.
  public var text: String

  /// Makes a record.
  public init(level: LogLevel, source: String, text: String) {
    self.level = level
    self.source = source
    self.text = text
  }
}

/// Where log records go. Called on any thread.
public typealias LogSink = @Sendable (LogRecord) -> Void
