/// One stage of a call, at which interceptors receive a value.
public enum Stage: UInt32, Sendable, CaseIterable, CustomStringConvertible {
  /// Outbound, once: method, target, headers, deadline.
  case requestStart = 0
  /// Outbound, for each message: the typed message.
  case requestMessage = 1
  /// Outbound, for each message: its serialized form, before compression and envelope.
  case requestBytes = 2
  /// Outbound, once: the half-close.
  case requestEnd = 3
  /// Inbound, at most once: HTTP status and leading metadata.
  case responseStart = 4
  /// Inbound, for each message: its serialized form, after decompression.
  case responseBytes = 5
  /// Inbound, for each message: the typed message.
  case responseMessage = 6
  /// Inbound, once: status and trailers.
  case responseEnd = 7
  /// After the end, once: the metrics of the call.
  case metrics = 8

  /// The set of this stage alone.
  package var set: Stages { Stages(rawValue: 1 << rawValue) }

  /// The stage's name in the plugin header, logs and errors, such as `request_start`.
  public var description: String { "\(name)" }

  /// The stage's name in static memory, which a signal handler may read.
  package var name: StaticString {
    switch self {
    case .requestStart: "request_start"
    case .requestMessage: "request_message"
    case .requestBytes: "request_bytes"
    case .requestEnd: "request_end"
    case .responseStart: "response_start"
    case .responseBytes: "response_bytes"
    case .responseMessage: "response_message"
    case .responseEnd: "response_end"
    case .metrics: "metrics"
    }
  }
}

/// The stages at which an interceptor is called. A stage that no interceptor wants costs nothing.
///
/// The bits are those of the plugin ABI.
public struct Stages: OptionSet, Sendable, Hashable {
  /// One bit for each stage.
  public let rawValue: UInt32

  /// Makes a set of its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// See `Stage.requestStart`.
  public static let requestStart = Stage.requestStart.set
  /// See `Stage.requestMessage`.
  public static let requestMessage = Stage.requestMessage.set
  /// See `Stage.requestBytes`.
  public static let requestBytes = Stage.requestBytes.set
  /// See `Stage.requestEnd`.
  public static let requestEnd = Stage.requestEnd.set
  /// See `Stage.responseStart`.
  public static let responseStart = Stage.responseStart.set
  /// See `Stage.responseBytes`.
  public static let responseBytes = Stage.responseBytes.set
  /// See `Stage.responseMessage`.
  public static let responseMessage = Stage.responseMessage.set
  /// See `Stage.responseEnd`.
  public static let responseEnd = Stage.responseEnd.set
  /// See `Stage.metrics`.
  public static let metrics = Stage.metrics.set

  /// The stages of the request.
  public static let request: Stages = [.requestStart, .requestMessage, .requestBytes, .requestEnd]
  /// The stages of the response.
  public static let response: Stages = [.responseStart, .responseBytes, .responseMessage, .responseEnd]
  /// Every stage.
  public static let all: Stages = [.request, .response, .metrics]

  /// Whether `stage` is in the set.
  public func contains(_ stage: Stage) -> Bool { rawValue & (1 << stage.rawValue) != 0 }
}
