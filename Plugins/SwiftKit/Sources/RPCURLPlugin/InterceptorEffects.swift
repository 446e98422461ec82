/// What a plugin does. `--explain` prints the effects, and rpcurl warns of an order of interceptors that is doubtful because
/// of them; they have no other effect.
public struct InterceptorEffects: OptionSet, Sendable {
  /// The flags of the C interface.
  public let rawValue: UInt64

  /// Makes a set of its bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  private init(bit: UInt64) { self.init(rawValue: 1 << bit) }

  /// Its result depends on request headers: a signature, or the key of a cache.
  public static let readsHeaders = InterceptorEffects(bit: 32)
  /// It changes request headers.
  public static let changesHeaders = InterceptorEffects(bit: 33)
  /// Its result depends on request messages.
  public static let readsMessages = InterceptorEffects(bit: 34)
  /// It changes request messages.
  public static let changesMessages = InterceptorEffects(bit: 35)
  /// It removes secrets from messages, of the directions whose message stage is in ``Plugin/possibleStages``.
  public static let redacts = InterceptorEffects(bit: 36)
  /// It writes messages to a file or to another system.
  public static let exports = InterceptorEffects(bit: 37)
  /// It adds credentials to requests.
  public static let authenticates = InterceptorEffects(bit: 38)
  /// It may respond to calls itself.
  public static let responds = InterceptorEffects(bit: 39)
  /// It responds with the response to an earlier call.
  public static let reusesResponses = InterceptorEffects(bit: 40)
  /// It may attempt a call repeatedly.
  public static let repeatsAttempts = InterceptorEffects(bit: 41)
  /// It fails calls that would have succeeded, for tests.
  public static let injectsFailures = InterceptorEffects(bit: 42)
  /// It checks the result of calls.
  public static let checksResults = InterceptorEffects(bit: 43)
}
