import RPCurlChain

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
  /// How long it may take to end after its last call; nil if nothing waits for that.
  let endLimit: Duration?

  /// A script.
  ///
  /// - Parameters:
  ///   - registration: Its registration for chains.
  ///   - misuse: Returns why it has failed, with what to do; nil if it has not.
  package init(
    script registration: InterceptorRegistration, misuse: @escaping () -> (reason: String, hint: String?)?
  ) {
    self.registration = registration
    kind = "script"
    duty = "reply to the value"
    rule = "each value that a script receives gets one reply"
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
    endLimit = nil
  }
}
