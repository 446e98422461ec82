import CRPCURLPlugin

/// A plugin's interceptor in one call.
///
/// ```
/// caller → A → B → C → wire      request stages: first to last
/// caller ← A ← B ← C ← wire      response stages, metrics and finish: last to first
/// ```
///
/// Each interceptor has one place. Start, messages and end of a direction pass it there, in this order. An interceptor can
/// keep `requestStart` until `requestEnd`, to sign a body in a header: messages and the half-close go no further meanwhile.
///
/// Every method is called on the loop's thread, which must not be blocked, and only for the stages in
/// `stages`. Each returns what to do with its value: `.proceed` forwards it with the changes made to it;
/// `.later` keeps it until its `token` is used, from any thread. By default, methods forward the value.
public protocol StagedInterceptor: AnyObject {
  /// The stages to be called at. Read once.
  var stages: Stages { get }
  /// The form in which it receives messages in this call, and whether it changes them; nil for that of
  /// ``Plugin/messages``. Read once.
  var messages: MessageAccesses? { get }
  /// The requirements for the call's chain. Read once.
  var requirements: InterceptorRequirements { get }

  /// Once. Headers, target and timeout can be changed.
  func requestStart(_ start: RequestStart) throws -> Verdict
  /// For each sent message, not yet compressed.
  func requestMessage(_ message: Message) throws -> Verdict
  /// Once: no more messages follow.
  func requestEnd(_ end: RequestEnd) throws -> Verdict
  /// At most once. The headers can be changed.
  func responseStart(_ start: ResponseStart) throws -> Verdict
  /// For each received message, decompressed.
  func responseMessage(_ message: Message) throws -> Verdict
  /// Once, with success or an error. Status, details and trailers can be changed.
  func responseEnd(_ end: ResponseEnd) throws -> Verdict
  /// Once for each attempt that an interceptor further in has made, when it has ended.
  func attemptEnd(_ report: AttemptReport)
  /// Once, after the caller has received the end.
  func metrics(_ metrics: MetricsValue) throws -> Verdict
  /// The call has ended: release its resources. Called exactly once, last.
  func finish(_ outcome: Outcome)
}

extension StagedInterceptor {
  /// What the plugin declares.
  public var messages: MessageAccesses? { nil }
  /// The defaults.
  public var requirements: InterceptorRequirements { InterceptorRequirements() }
  /// Forwards the value.
  public func requestStart(_ start: RequestStart) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func requestMessage(_ message: Message) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func requestEnd(_ end: RequestEnd) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func responseStart(_ start: ResponseStart) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func responseMessage(_ message: Message) throws -> Verdict { .proceed }
  /// Forwards the value.
  public func responseEnd(_ end: ResponseEnd) throws -> Verdict { .proceed }
  /// Does nothing.
  public func attemptEnd(_ report: AttemptReport) {}
  /// Forwards the value.
  public func metrics(_ metrics: MetricsValue) throws -> Verdict { .proceed }
  /// Does nothing.
  public func finish(_ outcome: Outcome) {}
}

/// Adds the callbacks of the stages that are observed, without a value that waits for the interceptor.
func addObservedStages(to plugin: inout rpcurl_plugin) {
  plugin.attempt_end = { _, state, _, attempt in
    guard let opened = Opened.of(state), let attempt else { return }
    opened.interceptor.attemptEnd(AttemptReport(attempt.pointee))
  }
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
  /// Remove the value from the stream. Message stages only.
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
  public static let requestEnd = Stages(rawValue: 1 << 2)
  /// See the method of this name of ``StagedInterceptor``.
  public static let responseStart = Stages(rawValue: 1 << 3)
  /// See the method of this name of ``StagedInterceptor``.
  public static let responseMessage = Stages(rawValue: 1 << 4)
  /// See the method of this name of ``StagedInterceptor``.
  public static let responseEnd = Stages(rawValue: 1 << 5)
  /// See the method of this name of ``StagedInterceptor``.
  public static let attemptEnd = Stages(rawValue: 1 << 6)
  /// See the method of this name of ``StagedInterceptor``.
  public static let metrics = Stages(rawValue: 1 << 7)
  /// Every stage in this kit.
  public static let all = Stages(rawValue: 0xff)
}

/// The requirements of an interceptor for its call's chain.
public struct InterceptorRequirements: Sendable {
  /// The number of bytes of the request that are kept for retries.
  public var replayLimitBytes = 0
  /// The number of bytes that it may hold at once; 0 for the host's window.
  public var windowBytes = 0
  /// Whether later values wait in the chain while it keeps a token.
  public var isSerial = false
  /// Whether it keeps values until later values of their direction, or its end, have come. A full window then ends the call
  /// with `resourceExhausted`. Not with `isSerial`.
  public var collects = false

  /// The defaults.
  public init(
    replayLimitBytes: Int = 0, windowBytes: Int = 0, isSerial: Bool = false, collects: Bool = false
  ) {
    self.replayLimitBytes = replayLimitBytes
    self.windowBytes = windowBytes
    self.isSerial = isSerial
    self.collects = collects
  }
}

/// What an interceptor does with the messages of a direction: the form that it receives, and whether it changes it.
///
/// Functions for another form, and changes that are not declared, throw an error whose code is `RPCURL_ESTAGE`. With each
/// of these, messages can be counted, kept, dropped and injected.
public enum MessageAccess: UInt32, Sendable {
  /// It receives typed messages, and may change them.
  case changeTyped = 0
  /// It receives messages without their content: nothing is converted.
  case none = 1
  /// It reads typed messages.
  case readTyped = 2
  /// It reads the serialized form.
  case readBytes = 3
  /// It receives the serialized form, and may change it.
  case changeBytes = 4
  /// As `changeBytes`, and what it forwards cannot be parsed: it encrypts.
  case opaque = 5
  /// As `changeBytes`, and what it receives cannot be parsed: it decrypts.
  case decode = 6
}

/// What an interceptor does with the messages of both directions.
public struct MessageAccesses: Sendable {
  /// The messages of the request.
  public var request: MessageAccess
  /// The messages of the response.
  public var response: MessageAccess

  /// Makes a declaration; by default typed messages that may be changed.
  public init(request: MessageAccess = .changeTyped, response: MessageAccess = .changeTyped) {
    self.request = request
    self.response = response
  }

  /// The same for both directions.
  public init(_ both: MessageAccess) { self.init(request: both, response: both) }
}
