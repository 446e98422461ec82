/// What messages pass a chain as: plain, or as bytes that cannot be parsed, between an interceptor that encrypts or
/// damages them and one that decrypts them.
enum MessageFlow {
  /// The error of an interceptor that receives typed messages where they cannot be parsed; nil if there is none.
  ///
  /// - Parameter registrations: The interceptors of a call, first to last on the request path.
  static func conflict(among registrations: [InterceptorRegistration]) -> ConfigurationError? {
    guard registrations.count > 1 else { return nil }
    let members = registrations.map { (name: $0.name, declaration: $0.factory.declaration) }
    return conflict("requests", members, .requestMessage, \.request)
      ?? conflict("responses", members.reversed(), .responseMessage, \.response)
  }

  /// - Parameter members: The interceptors in the order in which the messages pass them.
  private static func conflict(
    _ direction: String, _ members: [(name: String, declaration: InterceptorDeclaration)], _ stage: Stages,
    _ access: KeyPath<MessageAccesses, MessageAccess>
  ) -> ConfigurationError? {
    /// The interceptor whose messages cannot be parsed, until one decodes them.
    var source: String?
    var typed: [String] = []
    for (name, declaration) in members where declaration.stages?.isSuperset(of: stage) ?? true {
      switch declaration.messages[keyPath: access] {
      case .opaque: source = name
      case .decode:
        if source == nil, let first = typed.first {
          return error(first, "receives typed \(direction) before \(name) decodes them", other: name)
        }
        source = nil
        typed = []
      case .changeTyped, .readTyped:
        if let source {
          return error(
            name, "receives typed \(direction) that \(source) has made impossible to parse", other: source)
        }
        typed.append(name)
      case .none, .readBytes, .changeBytes: break
      }
    }
    return nil
  }

  private static func error(_ name: String, _ reason: String, other: String) -> ConfigurationError {
    ConfigurationError(
      interceptor: name, key: nil, reason: reason,
      hint: "place \(name) on the other side of \(other), with before= or after=")
  }
}
