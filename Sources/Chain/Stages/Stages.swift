import RPCurlProtobuf

// A stage is an entry of each list in this file; what others say of all stages they derive from these.

/// One stage of a call, at which interceptors receive a value.
public enum Stage: UInt32, Sendable, CaseIterable, CustomStringConvertible {
  /// Outbound, once: method, target, headers, deadline.
  case requestStart = 0
  /// Outbound, for each message.
  case requestMessage = 1
  /// Outbound, once: the half-close.
  case requestEnd = 2
  /// Inbound, at most once: HTTP status and leading metadata.
  case responseStart = 3
  /// Inbound, for each message.
  case responseMessage = 4
  /// Inbound, once: status and trailers.
  case responseEnd = 5
  /// After each attempt that an interceptor further in makes: its result. Observed, without a token.
  case attemptEnd = 6
  /// After the end, once: the metrics of the call.
  case metrics = 7

  /// The set of this stage alone.
  package var set: Stages { Stages(rawValue: 1 << rawValue) }

  /// The stage's name in the plugin header, logs and errors, such as `request_start`.
  public var description: String { "\(name)" }

  /// The stage's name in static memory, which a signal handler may read.
  package var name: StaticString {
    switch self {
    case .requestStart: "request_start"
    case .requestMessage: "request_message"
    case .requestEnd: "request_end"
    case .responseStart: "response_start"
    case .responseMessage: "response_message"
    case .responseEnd: "response_end"
    case .attemptEnd: "attempt_end"
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
  /// See `Stage.requestEnd`.
  public static let requestEnd = Stage.requestEnd.set
  /// See `Stage.responseStart`.
  public static let responseStart = Stage.responseStart.set
  /// See `Stage.responseMessage`.
  public static let responseMessage = Stage.responseMessage.set
  /// See `Stage.responseEnd`.
  public static let responseEnd = Stage.responseEnd.set
  /// See `Stage.attemptEnd`.
  public static let attemptEnd = Stage.attemptEnd.set
  /// See `Stage.metrics`.
  public static let metrics = Stage.metrics.set

  /// The stages of the request.
  public static let request: Stages = [.requestStart, .requestMessage, .requestEnd]
  /// The stages of the response.
  public static let response: Stages = [.responseStart, .responseMessage, .responseEnd]
  /// The stages that are observed, without a value that waits for the interceptor.
  package static let observed: Stages = [.attemptEnd]
  /// The stages after a call, which change no response.
  package static let reports: Stages = [.metrics]
  /// The stages of messages.
  public static let messages: Stages = [.requestMessage, .responseMessage]
  /// Every stage.
  public static let all: Stages = [.request, .response, .observed, .reports]

  /// Whether `stage` is in the set.
  ///
  /// - Parameter stage: A stage.
  public func contains(_ stage: Stage) -> Bool { rawValue & (1 << stage.rawValue) != 0 }
}

/// The methods of the stages that are observed, without a value that waits for the interceptor: a part of
/// ``StagedInterceptor``. `[loop's thread]`
public protocol StageObserver: AnyObject {
  /// An attempt at the call has ended that an interceptor further in has made, which retries or hedges: exactly once for
  /// each, also for one that was cancelled, last to first. Before `responseEnd` if it ended before, otherwise before
  /// `metrics`.
  ///
  /// - Parameter report: The attempt and how it has ended.
  func attemptEnd(_ report: AttemptReport)
}

extension StageObserver {
  /// Ignores attempts.
  public func attemptEnd(_ report: AttemptReport) {}
}

extension AnyStageInterceptor {
  package func attemptEnd(_ report: AttemptReport) { observe(.attemptEnd(report)) }
}

/// What an interceptor observes at a stage of `Stages.observed`.
package enum Observation {
  /// See `Stage.attemptEnd`.
  case attemptEnd(AttemptReport)

  /// The stage.
  package var stage: Stage {
    switch self {
    case .attemptEnd: .attemptEnd
    }
  }

  /// Calls the method of the stage.
  func call(_ observer: any StageObserver) {
    switch self {
    case .attemptEnd(let report): observer.attemptEnd(report)
    }
  }
}

extension JSONObject {
  /// Adds the members of what an interceptor observes.
  package mutating func add(_ observation: Observation) {
    switch observation {
    case .attemptEnd(let report): add(report)
    }
  }
}
