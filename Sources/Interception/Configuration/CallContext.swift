import RPCProtocols

/// What an interceptor may ask of the call that it was made for, beside its tokens. `[any thread]`
public struct CallContext: Sendable {
  /// The interceptor's name, as logs and errors give it.
  public let name: String
  private let mailbox: Mailbox
  private let sink: LogSink

  init(name: String, mailbox: Mailbox, sink: @escaping LogSink) {
    self.name = name
    self.mailbox = mailbox
    self.sink = sink
  }

  /// Ends the call at once: every interceptor that saw it start, and the caller, hears `canceled` with this
  /// reason. Does nothing when the call has ended.
  public func cancel(_ reason: String) {
    mailbox.post(.cancel(RPCError(.canceled, reason, origin: .interceptor(name))))
  }

  /// Writes to the log in this interceptor's name.
  public func log(_ level: LogLevel, _ text: String) {
    sink(LogRecord(level: level, source: name, text: text))
  }
}

/// How much a log record matters.
public enum LogLevel: Int, Sendable, Comparable {
  case debug = 0
  case info = 1
  case warning = 2
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
