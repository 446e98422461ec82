import RPCurlBase
import RPCurlProtobuf
import RPCurlProtocols

/// The calls that an interceptor is for. A call must satisfy every condition.
///
/// The conditions on kind, server, headers and share apply to the call as its caller makes it, before interceptors change
/// it, and are evaluated once for each call: they hold or fail for all of its attempts. Those on the method and on
/// attributes apply to the request as it reaches the interceptor.
public struct CallScope: Sendable, Hashable {
  /// A condition, by the key of its setting.
  package enum Condition: String {
    case methods, kinds, hosts, header, attribute
  }

  /// The methods.
  public var methods = Selection<MethodPattern>()
  /// The kinds of methods.
  public var kinds = Selection<CallKind>()
  /// The servers.
  public var hosts = Selection<HostPattern>()
  /// Conditions on the headers of the request, which must all hold.
  public var headers: [ScopeCondition] = []
  /// Conditions on the attributes of the call, which must all hold.
  public var attributes: [ScopeCondition] = []
  /// The share of the other calls that the interceptor is for, in percent; nil is all of them.
  public var percent: Double?
  /// The seed of the random numbers that select the share; nil is a random one.
  public var seed: UInt64?

  /// Makes a scope of all calls.
  public init() {}

  /// All calls.
  public static let all = CallScope()

  /// The first condition that a call does not satisfy, except the share; nil if it satisfies all.
  ///
  /// - Parameters:
  ///   - kind: The kind of the method; nil if it is not known, which satisfies each condition.
  ///   - target: The server: `http[s]://host[:port][/prefix]`.
  ///   - headers: The headers that the caller gives.
  ///   - attributes: The attributes that the caller gives.
  package func mismatch(
    method: MethodName, kind: CallKind?, target: String, headers: Headers,
    attributes: CallAttributes = CallAttributes()
  ) -> Condition? {
    mismatch(method: method, attributes) ?? mismatch(kind: kind, target: target, headers: headers)
  }

  /// The first condition that a request does not satisfy as it reaches the interceptor; nil if it satisfies all.
  func mismatch(method: MethodName, _ attributes: CallAttributes) -> Condition? {
    if !methods.contains(where: { $0.matches(method) }) { return .methods }
    return self.attributes.allSatisfy { $0.holds(for: attributes[$0.name].map { [$0] } ?? []) }
      ? nil : .attribute
  }

  /// The first condition that a call does not satisfy as its caller makes it; nil if it satisfies all.
  package func mismatch(kind: CallKind?, target: String, headers: Headers) -> Condition? {
    if let kind, !kinds.contains(where: { $0 == kind }) { return .kinds }
    if !hosts.selectsAll {
      guard let origin = Origin(url: target), hosts.contains(where: { $0.matches(origin) }) else {
        return .hosts
      }
    }
    return self.headers.allSatisfy { $0.holds(for: headers.values($0.name)) } ? nil : .header
  }
}

/// Selects a share of calls by random numbers.
final class CallShare: Sendable {
  private let fraction: Double
  private let random: Locked<SeededGenerator>

  /// Makes the share of a scope; nil if the scope has none.
  init?(_ scope: CallScope) {
    guard let percent = scope.percent else { return nil }
    fraction = percent / 100
    random = Locked(SeededGenerator(seed: scope.seed))
  }

  /// Whether the share contains the next call.
  func takesNext() -> Bool { random.withLock { $0.fraction() } < fraction }
}
