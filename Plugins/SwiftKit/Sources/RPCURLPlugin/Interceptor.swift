/// A plugin's part in one call.
///
/// ```
/// caller → A → B → C → wire      request stages: first to last
/// caller ← A ← B ← C ← wire      response stages, metrics and close: last to first
/// ```
///
/// Every method is called on the loop's thread, which must not be blocked, and only for the stages that `stages`
/// names. Each says what becomes of its value: `.proceed` lets it go on with the changes made to it; `.later` keeps it,
/// and its `token` is used when it is time, from any thread. Each method's default lets the value go on.
public protocol Interceptor: AnyObject {
  /// The stages to be called at. Asked once.
  var stages: Stages { get }
  /// What the call's chain must offer. Asked once.
  var needs: Needs { get }

  /// Once. Headers, target and timeout can be changed.
  func requestStart(_ start: RequestStart) throws -> Verdict
  /// For each message to be sent, as a typed message; before `requestBytes` of every interceptor.
  func requestMessage(_ message: Message) throws -> Verdict
  /// For each message to be sent, serialized and not yet compressed.
  func requestBytes(_ bytes: Bytes) throws -> Verdict
  /// Once: no more messages are sent.
  func requestEnd(_ end: RequestEnd) throws -> Verdict
  /// At most once. The headers can be changed.
  func responseStart(_ start: ResponseStart) throws -> Verdict
  /// For each message received, decompressed; before `responseMessage` of every interceptor.
  func responseBytes(_ bytes: Bytes) throws -> Verdict
  /// For each message received, as a typed message.
  func responseMessage(_ message: Message) throws -> Verdict
  /// Once, with success or an error. Status, details and trailers can be changed.
  func responseEnd(_ end: ResponseEnd) throws -> Verdict
  /// Once, after the caller has been given the end.
  func metrics(_ metrics: MetricsValue) throws -> Verdict
  /// The call is over: release what you hold. Exactly once, last.
  func close(_ outcome: Outcome)
}

extension Interceptor {
  /// The defaults.
  public var needs: Needs { Needs() }
  /// Lets it go on.
  public func requestStart(_ start: RequestStart) throws -> Verdict { .proceed }
  /// Lets it go on.
  public func requestMessage(_ message: Message) throws -> Verdict { .proceed }
  /// Lets it go on.
  public func requestBytes(_ bytes: Bytes) throws -> Verdict { .proceed }
  /// Lets it go on.
  public func requestEnd(_ end: RequestEnd) throws -> Verdict { .proceed }
  /// Lets it go on.
  public func responseStart(_ start: ResponseStart) throws -> Verdict { .proceed }
  /// Lets it go on.
  public func responseBytes(_ bytes: Bytes) throws -> Verdict { .proceed }
  /// Lets it go on.
  public func responseMessage(_ message: Message) throws -> Verdict { .proceed }
  /// Lets it go on.
  public func responseEnd(_ end: ResponseEnd) throws -> Verdict { .proceed }
  /// Lets it go on.
  public func metrics(_ metrics: MetricsValue) throws -> Verdict { .proceed }
  /// Releases nothing.
  public func close(_ outcome: Outcome) {}
}

/// What becomes of a value, said when a stage returns.
public enum Verdict: Sendable {
  /// The value goes on, with the changes made to it.
  case proceed
  /// It is kept; its token is used later.
  case later
  /// It is taken out of the stream. Message and bytes stages only.
  case drop
  /// The call fails. Not at the metrics stage.
  case fail(Status)
  /// The call is answered from here, without the network. Request stages only.
  case respond(Response)
  /// The request is sent again from here. Response stages only; where that is not possible any more, it goes on.
  case retry(after: Duration, headers: [Field] = [])
}

/// The stages at which an interceptor is called.
public struct Stages: OptionSet, Sendable {
  /// One bit for each stage.
  public let rawValue: UInt64
  /// Makes a set of its bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// See the method of this name of ``Interceptor``.
  public static let requestStart = Stages(rawValue: 1 << 0)
  /// See the method of this name of ``Interceptor``.
  public static let requestMessage = Stages(rawValue: 1 << 1)
  /// See the method of this name of ``Interceptor``.
  public static let requestBytes = Stages(rawValue: 1 << 2)
  /// See the method of this name of ``Interceptor``.
  public static let requestEnd = Stages(rawValue: 1 << 3)
  /// See the method of this name of ``Interceptor``.
  public static let responseStart = Stages(rawValue: 1 << 4)
  /// See the method of this name of ``Interceptor``.
  public static let responseBytes = Stages(rawValue: 1 << 5)
  /// See the method of this name of ``Interceptor``.
  public static let responseMessage = Stages(rawValue: 1 << 6)
  /// See the method of this name of ``Interceptor``.
  public static let responseEnd = Stages(rawValue: 1 << 7)
  /// See the method of this name of ``Interceptor``.
  public static let metrics = Stages(rawValue: 1 << 8)
  /// Every stage that this kit knows.
  public static let all = Stages(rawValue: 0x1ff)
}

/// What an interceptor needs of its call's chain.
public struct Needs: Sendable {
  /// How many bytes of the request are kept, so that it can be retried.
  public var replayLimitBytes = 0
  /// How many bytes it may have to hold at once; 0 is the host's own window.
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
