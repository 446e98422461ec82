import RPCurlChain
import RPCurlValidate

extension BuiltIns.Description {
  /// The interceptor `validate`, which is a target of its own.
  static let validate = Self(
    name: "validate", summary: "validate messages by the rules of protovalidate and protoc-gen-validate",
    keys: [
      BuiltIns.Key("requests=fail|warn|off", "what an invalid request causes", default: "fail"),
      BuiltIns.Key("responses=fail|warn|off", "what an invalid response causes", default: "off"),
    ],
    isHarmless: true,
    make: { settings, services throws(ConfigurationError) in
      let requests = try settings.choice("requests", Validate.Effect.self) ?? .fail
      let responses = try settings.choice("responses", Validate.Effect.self) ?? .off
      guard requests != .off || responses != .off else {
        throw ConfigurationError(
          interceptor: settings.interceptor, reason: "neither requests nor responses are validated",
          hint: "remove requests=off, or give responses=fail or responses=warn")
      }
      return ValidateFactory(requests: requests, responses: responses) { services.nanosecondsSince1970 }
    })
}
