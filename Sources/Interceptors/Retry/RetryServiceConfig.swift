import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// The retry settings of a gRPC service config (gRFC A6, "Integration with Service Config").
struct RetryServiceConfig: Sendable {
  /// The policies by scope: `service/method`, `service/`, or empty for all methods. An entry without a policy
  /// disables retries for its methods.
  private var policies: [String: RetryPolicy?] = [:]
  /// The parameters of throttling.
  private(set) var throttle: RetryThrottle.Parameters?

  /// Parses a config.
  init(json: [UInt8]) throws(LanguageError) {
    let root: JSONValue
    do throws(MessageParseError) {
      root = try JSONValue(parsing: json)
    } catch {
      throw LanguageError("line \(error.position.line), column \(error.position.column): \(error.message)")
    }
    guard case .object = root else { throw LanguageError("the file: is not a JSON object") }
    for (index, entry) in try Self.list(root, "methodConfig").enumerated() {
      try add(entry, at: "methodConfig[\(index)]")
    }
    if let value = root["retryThrottling"] { throttle = try Self.throttle(value) }
  }

  /// The policy of a method: its own, else its service's, else the default.
  func policy(for method: MethodName) -> RetryPolicy? {
    (policies["\(method.service)/\(method.method)"] ?? policies["\(method.service)/"] ?? policies[""]) ?? nil
  }

  private mutating func add(_ entry: JSONValue, at place: String) throws(LanguageError) {
    if entry["hedgingPolicy"] != nil {
      throw LanguageError(
        "\(place).hedgingPolicy: hedging is not supported in a file; give a retryPolicy, or use the interceptor hedge"
      )
    }
    var policy: RetryPolicy?
    if let value = entry["retryPolicy"] { policy = try RetryPolicy(value, at: "\(place).retryPolicy") }
    for (index, name) in try Self.list(entry, "name", at: place).enumerated() {
      let key = try Self.key(name, at: "\(place).name[\(index)]")
      guard policies.updateValue(policy, forKey: key) == nil else {
        throw LanguageError("\(place).name[\(index)]: appears in two entries")
      }
    }
  }

  private static func key(_ name: JSONValue, at place: String) throws(LanguageError) -> String {
    let service = try text(name, "service", at: place)
    let method = try text(name, "method", at: place)
    guard !service.isEmpty || method.isEmpty else {
      throw LanguageError("\(place): has a method and no service")
    }
    return service.isEmpty ? "" : "\(service)/\(method)"
  }

  private static func text(_ object: JSONValue, _ name: String, at place: String) throws(LanguageError)
    -> String
  {
    switch object[name] {
    case nil, .null: return ""
    case .string(let text): return text
    default: throw LanguageError("\(place).\(name): is not a string")
    }
  }

  private static func list(
    _ object: JSONValue, _ name: String, at place: String? = nil
  ) throws(LanguageError) -> [JSONValue] {
    switch object[name] {
    case nil, .null: return []
    case .array(let elements): return elements
    default: throw LanguageError("\(place.map { "\($0)." } ?? "")\(name): is not a list")
    }
  }

  private static func throttle(_ value: JSONValue) throws(LanguageError) -> RetryThrottle.Parameters {
    guard let maxTokens = number(value["maxTokens"]), let ratio = number(value["tokenRatio"]),
      let parameters = RetryThrottle.Parameters(maxTokens: maxTokens, tokenRatio: ratio)
    else {
      throw LanguageError(
        "retryThrottling: needs maxTokens above 0 up to 1000, and tokenRatio of at least 0.001")
    }
    return parameters
  }

  fileprivate static func number(_ value: JSONValue?) -> Double? {
    guard case .number(let digits)? = value else { return nil }
    return Double(digits)
  }
}

extension RetryPolicy {
  fileprivate init(_ value: JSONValue, at place: String) throws(LanguageError) {
    guard let attempts = RetryServiceConfig.number(value["maxAttempts"]), attempts >= 2,
      let whole = Int(exactly: attempts)
    else { throw LanguageError("\(place).maxAttempts: must be a whole number of at least 2") }
    guard let multiplier = RetryServiceConfig.number(value["backoffMultiplier"]), multiplier > 0 else {
      throw LanguageError("\(place).backoffMultiplier: must be a number above 0")
    }
    guard case .array(let names)? = value["retryableStatusCodes"], !names.isEmpty else {
      throw LanguageError("\(place).retryableStatusCodes: must be a list with at least one code")
    }
    var codes: Set<StatusCode> = []
    for name in names {
      switch name {
      case .string(let text), .number(let text):
        guard let code = StatusCode(written: text), code != .ok else { fallthrough }
        codes.insert(code)
      default:
        throw LanguageError("\(place).retryableStatusCodes: \(name.text) is not a failure code")
      }
    }
    self.init(
      attempts: whole, initialBackoff: try Self.duration(value, "initialBackoff", at: place),
      maxBackoff: try Self.duration(value, "maxBackoff", at: place), multiplier: multiplier, codes: codes)
  }

  private static func duration(
    _ value: JSONValue, _ name: String, at place: String
  ) throws(LanguageError) -> Duration {
    guard case .string(let text)? = value[name], text.hasSuffix("s"),
      let number = text.dropLast().last, number.isNumber,
      let duration = SettingsReader.duration(text), duration > .zero
    else {
      throw LanguageError("\(place).\(name): must be a duration above 0 such as \"0.1s\"")
    }
    return duration
  }
}
