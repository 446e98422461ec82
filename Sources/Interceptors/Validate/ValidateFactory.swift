import RPCurlChain
import RPCurlProtobuf

/// Makes interceptors that validate messages.
struct ValidateFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "validate", summary: "validate messages by the rules of buf.validate in the schema",
    keys: [
      BuiltIns.Key("requests=fail|warn|off", "what an invalid request causes", default: "fail"),
      BuiltIns.Key("responses=fail|warn|off", "what an invalid response causes", default: "off"),
    ],
    make: { settings, services throws(ConfigurationError) in try ValidateFactory(settings, services) })

  private let requests: Validate.Effect
  private let responses: Validate.Effect
  private let services: any InterceptorServices
  private let book = RuleBook()

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    requests = try settings.choice("requests", Validate.Effect.self) ?? .fail
    responses = try settings.choice("responses", Validate.Effect.self) ?? .off
    self.services = services
    guard requests != .off || responses != .off else {
      throw ConfigurationError(
        interceptor: settings.interceptor, reason: "neither requests nor responses are validated",
        hint: "remove requests=off, or give responses=fail or responses=warn")
    }
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: Validate.stages(requests: requests, responses: responses),
      messages: MessageAccesses(.readTyped),
      effects: requests == .off ? [] : .readsMessages
    ).keepingResponses()
  }

  func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
    // Without a schema there are no rules.
    guard call.requestType != nil, !call.isSubrequest else { return nil }
    return Validate(
      requests: requests, responses: responses, call.kind, book, services, context)
  }
}
