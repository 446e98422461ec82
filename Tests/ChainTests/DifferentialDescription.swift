import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlChain

/// A chain and a call through it, as a value: what every interceptor does with every value, and what both ends give.
///
/// The model (`DifferentialModel`) and the interceptors of the real chain (`ScriptedInterceptor`) both read it. What an
/// interceptor does with a value is a function of the stage and of the text of the message, so that it does not depend on
/// when the value comes.
struct CallDescription: Sendable {
  var seed: UInt64
  var kind: CallKind
  var isJSON: Bool
  var windowBytes: Int
  var interceptors: [InterceptorDescription]
  /// The messages of the caller.
  var request: [MessageModel]
  var endings: [EndingPlan]
  /// Whether the interceptor at an index holds messages until the end of their direction, and what is sent does not wait
  /// for a pause; nil in most calls.
  var limits: Limits?
  /// After how many steps of the schedule the caller cancels the call; nil for never.
  var cancelStep: Int?
  /// Whether a second thread gives verdicts.
  var usesThread: Bool
  /// Whether the caller cancels the call when it has the end, and not yet the metrics.
  var cancelsAfterEnd = false
  /// The interceptor that puts a second message into a unary request; nil in most calls.
  var second: SecondMessage?

  /// A message besides the only one of a unary request.
  struct SecondMessage: Sendable {
    var interceptor: Int
    /// The stage at which it is injected.
    var stage: Stage
    /// Whether the context injects it, and not the token.
    var isOfContext: Bool
  }

  /// An interceptor of the chain.
  struct InterceptorDescription: Sendable {
    /// What the interceptor does besides its actions.
    enum Role: Equatable {
      case plain
      /// Retries attempts that end with an error before a message, up to a number of attempts. `isLate` decides outside
      /// of the callback.
      case retry(attempts: Int, isLate: Bool)
      /// Hedges with a number of attempts; the delay before the next is in milliseconds. The headers decide for an
      /// attempt, or its first message.
      case hedge(attempts: Int, delay: Int, byHeaders: Bool)
    }

    var index: Int
    var role = Role.plain
    /// Whether its factory declines the call.
    var isDeclining = false
    var stages: Stages
    var messages: MessageAccesses
    var isSerial = false
    /// How many percent of its verdicts come later.
    var holdPercent = 0
    /// How many percent of the values it changes, drops or adds a message to.
    var activePercent = 0

    var name: String { "I\(index)" }
    var isPlain: Bool { role == .plain }
  }

  /// An interceptor ends the call, once.
  struct EndingPlan: Sendable {
    enum Kind: CaseIterable {
      case fail, respond, release, throwError, throwAfterVerdict
      /// Starts a response through the context at the request's start, which it holds, and responds later.
      case localStream
      /// Through the context: before the verdict on the value, or after it.
      case contextFail, contextFailAfterVerdict, contextRespond
      case cancel
      /// Forwards another message although it declares that it changes none.
      case illegalChange
      /// Drops the only message of a unary direction.
      case dropOnly
      /// The factory throws.
      case makeThrows
    }
    var interceptor: Int
    var stage: Stage
    /// The number of the value at that stage, from 0.
    var number: Int
    var kind: Kind
    /// Whether the verdict is given outside of the callback.
    var isLate: Bool
    /// Whether only the first attempt is affected.
    var isFirstAttemptOnly: Bool
  }

  /// What an interceptor does with a value.
  struct Action {
    enum Change: Equatable {
      case none
      /// Sets the message that it has received.
      case same
      case typed
      case bytes(MessageModel.Encoding)
      /// Drops the message.
      case drop
      /// Adds a tag to a start or an end.
      case tag
      /// Turns an error into a success, and the reverse.
      case flip
    }

    enum Timing: Equatable {
      case now
      /// From outside, at any time.
      case outside
      /// When this many later values of the direction, or its end, have come.
      case later(Int)
      /// After milliseconds.
      case timer(Int)
      /// On a second thread, at once.
      case thread
    }

    /// A message that the context injects outside of a callback.
    struct DelayedInjection {
      var isRequest: Bool
      var message: MessageModel
      /// After how many milliseconds; nil for a second thread, at once.
      var delay: Int?
    }

    /// How an interceptor half-closes the request by itself.
    enum RequestEnd: Equatable {
      case inCallback
      /// After milliseconds.
      case timer(Int)
    }

    var tokenInjections: [MessageModel] = []
    var contextInjections: [MessageModel] = []
    /// Injected into the other direction by the context.
    var crossInjections: [MessageModel] = []
    var delayedInjections: [DelayedInjection] = []
    var requestEnd: RequestEnd?
    var change = Change.none
    var timing = Timing.now
  }

  /// A call in which one interceptor holds messages of one direction, and no other holds any, so that it is known how
  /// many bytes wait.
  struct Limits: Sendable {
    var holder: Int
    var isRequest: Bool
    /// Whether the interceptor declares that it collects. Otherwise the sender ignores pauses, and the interceptor decides
    /// when everything is sent.
    var collects: Bool
    /// After how many later values a message is decided, if the interceptor collects.
    var later: Int
    /// How many messages are sent.
    var count: Int
  }

  /// What the server does with one attempt.
  struct Server {
    var hasStart: Bool
    var messages: [MessageModel]
    var isError: Bool
    /// Whether it responds only when the request has ended.
    var waitsForRequest: Bool
  }
}

/// A message as the model has it: its text, and which bytes exist.
struct MessageModel: Sendable, Equatable {
  /// How the bytes of a message are written.
  enum Encoding: Sendable, Equatable {
    /// As the codec writes it.
    case canonical
    /// Valid, but not as the codec writes it.
    case unusual
    /// It cannot be parsed.
    case malformed
  }

  var text: String
  /// The bytes, if they exist.
  var encoding: Encoding?
  /// Whether the typed form exists.
  var isTyped: Bool
  /// The interceptor that has set the bytes; nil for the caller or the server.
  var setter: Int?

  init(_ text: String, _ encoding: Encoding?) {
    self.text = text
    self.encoding = encoding
    isTyped = encoding == nil
  }
}

/// A small hash of values, and numbers that follow from it.
struct Dice {
  private var generator: SeededGenerator

  init(_ seed: UInt64, _ values: Int..., text: String = "") {
    var hash = seed ^ 0xcbf2_9ce4_8422_2325
    for value in values { hash = (hash ^ UInt64(truncatingIfNeeded: value)) &* 0x100_0000_01b3 }
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    generator = SeededGenerator(seed: hash)
  }

  mutating func roll(_ sides: Int) -> Int { Int(generator.next() >> 33) % sides }
  mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }
}
