import RPCurlProtocols
import Synchronization

/// Identifies a registration in the process.
package struct RegistrationID: Hashable, Sendable {
  /// The number of the last registration. Global, because all registrations of the process have different numbers.
  private static let last = Atomic(0)
  private let number = last.add(1, ordering: .relaxed).newValue

  /// Makes an identity that no other registration has.
  package init() {}
}

/// An interceptor's place on the chains of a client.
public struct InterceptorRegistration: Sendable {
  /// Identifies this registration among others, also of the same interceptor.
  package let id = RegistrationID()
  /// The name in logs and errors.
  public var name: String
  /// Makes the interceptor for each call.
  public var factory: any InterceptorFactory
  /// Higher comes first on the request path, nearer to the caller.
  public var priority: Int
  /// The names of interceptors that this one precedes on the request path. A name with `?` before it may be absent.
  public var before: [String]
  /// The names of interceptors that this one follows on the request path. A name with `?` before it may be absent.
  public var after: [String]
  /// The calls that pass through it.
  public var scope: CallScope { didSet { share = CallShare(scope) } }
  /// Identifies what the interceptor does; nil if this is not known.
  package var fingerprint: InterceptorFingerprint?
  /// Selects the share of calls that the scope names; nil if it names none.
  private(set) var share: CallShare?

  /// Makes a registration.
  public init(
    name: String, factory: any InterceptorFactory, priority: Int = 0, before: [String] = [],
    after: [String] = [],
    scope: CallScope = .all
  ) {
    self.name = name
    self.factory = factory
    self.priority = priority
    self.before = before
    self.after = after
    self.scope = scope
    share = CallShare(scope)
  }

  /// Why it has its place on the chain: `priority 5`, `after=auth`, or `as given`.
  package var placement: String {
    let reasons =
      (priority == 0 ? [] : ["priority=\(priority)"]) + before.map { "before=\($0)" }
      + after.map { "after=\($0)" }
    return reasons.isEmpty ? "as given" : reasons.joined(separator: ", ")
  }
}
