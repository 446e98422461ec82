/// A plugin's interceptor in one call.
///
/// ```
/// caller → A → B → C → wire      request stages: first to last
/// caller ← A ← B ← C ← wire      response stages, metrics and finish: last to first
/// ```
///
/// Every method is called on the loop's thread, which must not be blocked, and only for the stages in
/// `stages`. Each returns what to do with its value: `.proceed` forwards it with the changes made to it;
/// `.later` keeps it until its `token` is used, from any thread. By default, methods forward the value.
public protocol StagedInterceptor: AnyObject {
  /// The stages to be called at. Read once.
  var stages: Stages { get }
  /// The requirements for the call's chain. Read once.
  var requirements: InterceptorRequirements { get }

  /// Once. Headers, target and timeout can be changed.
  func requestStart(_ start: RequestStart) throws -> Verdict
  /// For each sent message, as a typed message; before `requestBytes` of every interceptor.
  func requestMessage(_ message: Message) throws -> Verdict
  /// For each sent message, serialized, before compression.
  func requestBytes(_ bytes: Bytes) throws -> Verdict
  /// Once: no more messages follow.
  func requestEnd(_ end: RequestEnd) throws -> Verdict
  /// At most once. The headers can be changed.
  func responseStart(_ start: ResponseStart) throws -> Verdict
  /// For each received message, decompressed; before `responseMessage` of every interceptor.
  func responseBytes(_ bytes: Bytes) throws -> Verdict
  /// For each received message, as a typed message.
  func responseMessage(_ message: Message) throws -> Verdict
  /// Once, with success or an error. Status, details and trailers can be changed.
  func responseEnd(_ end: ResponseEnd) throws -> Verdict
  /// Once, after the caller has received the end.
  func metrics(_ metrics: MetricsValue) throws -> Verdict
  /// The call has ended: release its resources. Called exactly once, last.
  func finish(_ outcome: Outcome)
}

extension StagedInterceptor {
  /// The defaults.
  public var requirements: InterceptorRequirements { InterceptorRequirements() }
  /// Forwards the value.
  public func requestStart(_ start: RequestStart) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func requestMessage(_ message: Message) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func requestBytes(_ bytes: Bytes) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func requestEnd(_ end: RequestEnd) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func responseStart(_ start: ResponseStart) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func responseBytes(_ bytes: Bytes) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func responseMessage(_ message: Message) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func responseEnd(_ end: ResponseEnd) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func metrics(_ metrics: MetricsValue) throws -> Verdict { .proceed }
  /// Does nothing.
  public func finish(_ outcome: Outcome) {}
}

/// The former name of ``StagedInterceptor``.
@available(*, deprecated, renamed: "StagedInterceptor")
public typealias Interceptor = StagedInterceptor

/// What to do with a value, returned from a stage.
public enum Verdict: Sendable {
  /// Forward the value, with the changes made to it.
  case proceed
  /// Keep the value; its token is used later.
  case later
  /// Remove the value from the stream. Message and bytes stages only.
  case drop
  /// Fail the call. Not at the metrics stage.
  case fail(Status, trailers: [Headers.Field] = [])
  /// Respond to the call locally, without the network. Request stages only.
  case respond(LocalResponse)
  /// Send the request again from here. Response stages only; if that is not possible, the value is forwarded. To know
  /// whether it is, use ``Token/retry(after:headers:)``.
  case retry(after: Duration, headers: [Headers.Field] = [])
}

/// The stages at which an interceptor is called.
public struct Stages: OptionSet, Sendable {
  /// One bit for each stage.
  public let rawValue: UInt64
  /// Makes a set from its bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// See the method of this name of ``StagedInterceptor``.
  public static let requestStart = Stages(rawValue: 1 << 0)
  /// See the method of this name of ``StagedInterceptor``.
  public static let requestMessage = Stages(rawValue: 1 << 1)
  /// See the method of this name of ``StagedInterceptor``.
  public static let requestBytes = Stages(rawValue: 1 << 2)
  /// See the method of this name of ``StagedInterceptor``.
  public static let requestEnd = Stages(rawValue: 1 << 3)
  /// See the method of this name of ``StagedInterceptor``.
  public static let responseStart = Stages(rawValue: 1 << 4)
  /// See the method of this name of ``StagedInterceptor``.
  public static let responseBytes = Stages(rawValue: 1 << 5)
  /// See the method of this name of ``StagedInterceptor``.
  public static let responseMessage = Stages(rawValue: 1 << 6)
  /// See the method of this name of ``StagedInterceptor``.
  public static let responseEnd = Stages(rawValue: 1 << 7)
  /// See the method of this name of ``StagedInterceptor``.
  public static let metrics = Stages(rawValue: 1 << 8)
  /// Every stage in this kit.
  public static let all = Stages(rawValue: 0x1ff)
}

/// The requirements of an interceptor for its call's chain.
public struct InterceptorRequirements: Sendable {
  /// The number of bytes of the request that are kept for retries.
  public var replayLimitBytes = 0
  /// The number of bytes that it may hold at once; 0 for the host's window.
  public var windowBytes = 0
  /// Whether later values wait in the chain while it keeps a token.
  public var isSerial = false

  /// The defaults.
  public init(replayLimitBytes: Int = 0, windowBytes: Int = 0, isSerial: Bool = false) {
    self.replayLimitBytes = replayLimitBytes
    self.windowBytes = windowBytes
    self.isSerial = isSerial
  }
}
