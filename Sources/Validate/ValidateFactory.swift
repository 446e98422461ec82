import RPCurlChain

/// Makes interceptors that validate messages.
package struct ValidateFactory: InterceptorFactory {
  private let requests: Validate.Effect
  private let responses: Validate.Effect
  private let time: @Sendable () -> Int64
  private let book = RuleBook()

  /// Makes a factory.
  ///
  /// - Parameters:
  ///   - requests: What an invalid request causes.
  ///   - responses: What an invalid response causes.
  ///   - time: The time, in nanoseconds since 1970.
  package init(requests: Validate.Effect, responses: Validate.Effect, time: @escaping @Sendable () -> Int64) {
    self.requests = requests
    self.responses = responses
    self.time = time
  }

  package var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: Validate.stages(requests: requests, responses: responses),
      messages: MessageAccesses(.readTyped),
      effects: requests == .off ? [] : .readsMessages
    ).keepingResponses()
  }

  package func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    // Without a schema there are no rules.
    guard call.requestType != nil, !call.isSubrequest else { return nil }
    return Validate(requests: requests, responses: responses, call.kind, book, time: time, context)
  }
}
