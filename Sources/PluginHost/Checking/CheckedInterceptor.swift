import RPCurlChain
import RPCurlProtocols

/// What a check makes calls through: a plugin or a script, which has started.
package struct CheckedInterceptor {
  /// Its registration for chains.
  let registration: InterceptorRegistration
  /// The word for it.
  let kind: String
  /// What it must do with each value, without its stage: "use the token".
  let duty: String
  /// The rule that it breaks if it does not.
  let rule: String
  /// Its first violation of the interface, with what to do; nil if there is none.
  let misuse: () -> (reason: String, hint: String?)?
  /// The methods that it wants.
  let methods: Selection<MethodPattern>
  /// How long it may take to end after its last call; nil if nothing waits for that.
  let endLimit: Duration?

  /// A script.
  ///
  /// - Parameters:
  ///   - registration: Its registration for chains.
  ///   - methods: The methods that it wants.
  ///   - misuse: Returns why it has failed, with what to do; nil if it has not.
  package init(
    script registration: InterceptorRegistration, methods: Selection<MethodPattern>,
    misuse: @escaping () -> (reason: String, hint: String?)?
  ) {
    self.registration = registration
    kind = "script"
    duty = "reply to the value"
    rule = "each value that a script receives gets one reply"
    self.methods = methods
    self.misuse = misuse
    endLimit = .milliseconds(1900)
  }

  /// A plugin.
  init(_ plugin: LoadedPlugin) {
    registration = plugin.registration
    kind = "plugin"
    duty = "use the token"
    rule = "each token that a callback keeps with RPCURL_LATER is used once"
    misuse = { plugin.misuses.first.map { ($0, nil) } }
    methods = Selection()
    endLimit = nil
  }

  /// The name of a call without a schema, such that it wants the call.
  func name(like name: MethodName) -> MethodName {
    guard !methods.contains(where: { $0.matches(name) }) else { return name }
    let names = methods.wanted.map { Self.name(of: $0, like: name) }
    return names.first { name in methods.contains { $0.matches(name) } } ?? name
  }

  /// A method that a pattern matches, with the parts of another name where it leaves them open.
  private static func name(of pattern: MethodPattern, like other: MethodName) -> MethodName {
    let parts = pattern.description.split(separator: "/")
    guard parts.count == 2 else { return other }
    let service =
      parts[0] == "*"
      ? other.service
      : parts[0].hasSuffix(".*") ? "\(parts[0].dropLast(2)).\(other.service)" : String(parts[0])
    return MethodName(service: service, method: parts[1] == "*" ? other.method : String(parts[1]))
  }
}
