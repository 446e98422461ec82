/// What an interceptor does with the messages of a direction: the form that it receives, and whether it changes them.
///
/// The numbers are those of the plugin ABI.
public enum MessageAccess: UInt32, Sendable, Hashable, CaseIterable {
  /// It receives typed messages, and may change them.
  case changeTyped = 0
  /// It receives messages without their content: it counts, holds or drops them. Nothing is converted for it.
  case none = 1
  /// It reads typed messages.
  case readTyped = 2
  /// It reads the serialized form.
  case readBytes = 3
  /// It receives the serialized form, and may change it.
  case changeBytes = 4
  /// As `changeBytes`, and what it forwards cannot be parsed: it encrypts messages, or damages them. An interceptor after
  /// it that receives typed messages is an error.
  case opaque = 5
  /// As `changeBytes`, and what it receives cannot be parsed: it decrypts messages. An interceptor before it that receives
  /// typed messages is an error.
  case decode = 6

  /// The word for it in the first line of scripts and in `--explain`.
  package var word: String {
    switch self {
    case .changeTyped: "json"
    case .none: "none"
    case .readTyped: "read-json"
    case .readBytes: "read-bytes"
    case .changeBytes: "bytes"
    case .opaque: "opaque"
    case .decode: "decode"
    }
  }

  /// Whether the interceptor receives typed messages.
  public var isTyped: Bool { self == .changeTyped || self == .readTyped }
  /// Whether the interceptor receives serialized messages.
  public var isBytes: Bool { !isTyped && self != .none }
  /// Whether the interceptor may change messages.
  public var mayChange: Bool {
    switch self {
    case .changeTyped, .changeBytes, .opaque, .decode: true
    case .none, .readTyped, .readBytes: false
    }
  }
}

/// What an interceptor does with the messages of both directions.
public struct MessageAccesses: Sendable, Hashable {
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
  ///
  /// - Parameter both: The access in each direction.
  public init(_ both: MessageAccess) { self.init(request: both, response: both) }
}

extension MessageAccesses {
  /// Both directions in words, for people.
  package var words: String { "request \(request.word), response \(response.word)" }
}
