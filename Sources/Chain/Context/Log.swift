/// How much a log record matters.
public enum LogLevel: Int, Sendable, Comparable {
  /// Details for debugging.
  case debug = 0
  /// Information about normal operation.
  case info = 1
  /// A problem that does not stop the call.
  case warning = 2
  /// A failure.
  case error = 3

  /// Makes the level with this name; nil if there is none.
  package init?(name: String) {
    guard let index = ["debug", "info", "warning", "error"].firstIndex(of: name) else { return nil }
    self.init(rawValue: index)
  }

  /// Whether one matters less than the other.
  public static func < (one: LogLevel, other: LogLevel) -> Bool { one.rawValue < other.rawValue }
}

/// A line of the log of an interceptor, or of a client.
public struct LogRecord: Sendable, Equatable {
  /// The severity.
  public var level: LogLevel
  /// The name of the interceptor or the plugin; `client` for the client itself.
  public var source: String
  /// The text, one line.
  public var text: String

  /// Makes a record.
  package init(level: LogLevel, source: String, text: String) {
    self.level = level
    self.source = source
    self.text = text
  }
}

/// Receives log records. Called on any thread.
public typealias LogSink = @Sendable (LogRecord) -> Void
