/// What an interceptor does, as it declares for `--explain` and for warnings about the order of a chain.
public struct InterceptorDeclaration: Sendable, Hashable {
  /// The stages at which it may be called; nil if they are not known before a call.
  public var stages: Stages?
  /// What it does with messages there.
  public var messages: MessageAccesses
  /// What it does there.
  public var effects: InterceptorEffects
  /// Whether a successful response that passes the interceptor is that of the server to the request before it: it
  /// observes calls, delays, repeats or fails them, or adds headers on which no response depends.
  package var keepsResponses = false
  /// Whether it needs the certificates of servers, which the transport then reports.
  package var readsCertificates = false

  /// Makes a declaration.
  public init(
    stages: Stages? = nil, messages: MessageAccesses = MessageAccesses(), effects: InterceptorEffects = []
  ) {
    self.stages = stages
    self.messages = messages
    self.effects = effects
  }

  /// The same, with the promise that successful responses stay those of the server.
  package func keepingResponses(_ keepsResponses: Bool = true) -> InterceptorDeclaration {
    var declaration = self
    declaration.keepsResponses = keepsResponses
    return declaration
  }

  /// The same, for an interceptor that needs the certificates of servers.
  package func readingCertificates(_ readsCertificates: Bool) -> InterceptorDeclaration {
    var declaration = self
    declaration.readsCertificates = readsCertificates
    return declaration
  }

  /// Whether a successful response may differ because of the interceptor: it may respond, or change the response, or change
  /// the request.
  package var mayAlterResponses: Bool {
    guard !keepsResponses else { return false }
    return stages.map { !$0.subtracting([.observed, .reports]).isEmpty } ?? true
  }

  /// Whether it may receive typed messages of requests.
  var mayReceiveTypedRequests: Bool {
    messages.request.isTyped && (stages?.contains(.requestMessage) ?? true)
  }
}

/// Effects of an interceptor on calls. Their order on the chain matters.
///
/// The bits are those of the plugin ABI, where they are the flags from bit 32 on.
public struct InterceptorEffects: OptionSet, Sendable, Hashable {
  /// One bit for each effect.
  public let rawValue: UInt32

  /// Makes a set of its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Its result depends on the request's headers: a signature, for example, or the key of a cache.
  public static let readsHeaders = InterceptorEffects(rawValue: 1 << 0)
  /// It changes the request's headers.
  public static let changesHeaders = InterceptorEffects(rawValue: 1 << 1)
  /// Its result depends on the request's messages.
  public static let readsMessages = InterceptorEffects(rawValue: 1 << 2)
  /// It changes the request's messages.
  public static let changesMessages = InterceptorEffects(rawValue: 1 << 3)
  /// It removes secrets from the messages of the directions whose stages it has.
  public static let redacts = InterceptorEffects(rawValue: 1 << 4)
  /// It writes calls with their messages to a file or to another system.
  public static let exports = InterceptorEffects(rawValue: 1 << 5)
  /// It adds credentials to requests.
  public static let authenticates = InterceptorEffects(rawValue: 1 << 6)
  /// It may respond to a call itself.
  public static let responds = InterceptorEffects(rawValue: 1 << 7)
  /// It responds to a call with the response to an earlier one.
  public static let reusesResponses = InterceptorEffects(rawValue: 1 << 8)
  /// It may attempt a call repeatedly, or several times at once.
  public static let repeatsAttempts = InterceptorEffects(rawValue: 1 << 9)
  /// It fails calls that would have succeeded, for tests.
  public static let injectsFailures = InterceptorEffects(rawValue: 1 << 10)
  /// It checks the result of calls, and reports what is wrong.
  public static let checksResults = InterceptorEffects(rawValue: 1 << 11)

  private static let names: [(InterceptorEffects, String)] = [
    (.readsHeaders, "reads headers"), (.changesHeaders, "changes headers"),
    (.readsMessages, "reads messages"),
    (.changesMessages, "changes messages"), (.redacts, "redacts"), (.exports, "exports calls"),
    (.authenticates, "adds credentials"), (.responds, "responds itself"),
    (.reusesResponses, "reuses responses"),
    (.repeatsAttempts, "repeats attempts"), (.injectsFailures, "injects failures"),
    (.checksResults, "checks results"),
  ]

  /// Makes the effect with these words; nil if there is none.
  package init?(word: String) {
    guard let effect = Self.names.first(where: { $0.1 == word })?.0 else { return nil }
    self = effect
  }

  /// All effects.
  package static let all = names.reduce(into: InterceptorEffects()) { $0.formUnion($1.0) }

  /// The effects in words, such as `changes headers`.
  package var words: [String] { Self.names.filter { contains($0.0) }.map(\.1) }
}
