import RPCurlProtobuf
import RPCurlProtocols

/// The retry settings of a gRPC service config (gRFC A6, "Integration with Service Config").
struct RetryServiceConfig: Sendable {
  /// Why a config is invalid: the place and the reason.
  struct Problem: Error, Equatable {
    var reason: String

    init(_ place: String, _ reason: String) { self.reason = "\(place): \(reason)" }
  }

  /// The policies by scope: `service/method`, `service/`, or empty for all methods. An entry without a policy
  /// disables retries for its methods.
  private var policies: [String: RetryPolicy?] = [:]
  /// The parameters of throttling.
  private(set) var throttle: RetryThrottle.Parameters?

  /// Parses a config.
  init(json: [UInt8]) throws(Problem) {
    let root: JSONValue
    do throws(MessageParseError) {
      root = try JSONValue(parsing: json)
    } catch {
      throw Problem("line \(error.position.line), column \(error.position.column)", error.message)
    }
    guard case .object = root else { throw Problem("the file", "is not a JSON object") }
    for (index, entry) in try Self.list(root, "methodConfig").enumerated() {
      try add(entry, at: "methodConfig[\(index)]")
    }
    if let value = root["retryThrottling"] { throttle = try Self.throttle(value) }
  }

  /// The policy of a method: its own, else its service's, else the default.
  func policy(for method: MethodName) -> RetryPolicy? {
    (policies["\(method.service)/\(method.method)"] ?? policies["\(method.service)/"] ?? policies[""]) ?? nil
  }

  private mutating func add(_ entry: JSONValue, at place: String) throws(Problem) {
    if entry["hedgingPolicy"] != nil {
      throw Problem(
        "\(place).hedgingPolicy",
        "hedging is not supported in a file; give a retryPolicy, or use the interceptor hedge")
    }
    var policy: RetryPolicy?
    if let value = entry["retryPolicy"] { policy = try RetryPolicy(value, at: "\(place).retryPolicy") }
    for (index, name) in try Self.list(entry, "name", at: place).enumerated() {
      let key = try Self.key(name, at: "\(place).name[\(index)]")
      guard policies.updateValue(policy, forKey: key) == nil else {
        throw Problem("\(place).name[\(index)]", "appears in two entries")
      }
    }
  }

  private static func key(_ name: JSONValue, at place: String) throws(Problem) -> String {
    let service = try text(name, "service", at: place)
    let method = try text(name, "method", at: place)
    guard !service.isEmpty || method.isEmpty else { throw Problem(place, "has a method and no service") }
    return service.isEmpty ? "" : "\(service)/\(method)"
  }

  private static func text(_ object: JSONValue, _ name: String, at place: String) throws(Problem) -> String {
    switch object[name] {
    case nil, .null: return ""
    case .string(let text): return text
    default: throw Problem("\(place).\(name)", "is not a string")
    }
  }

  private static func list(
    _ object: JSONValue, _ name: String, at place: String? = nil
  ) throws(Problem) -> [JSONValue] {
    switch object[name] {
    case nil, .null: return []
    case .array(let elements): return elements
    default: throw Problem(place.map { "\($0).\(name)" } ?? name, "is not a list")
    }
  }

  private static func throttle(_ value: JSONValue) throws(Problem) -> RetryThrottle.Parameters {
    guard let maxTokens = number(value["maxTokens"]), let ratio = number(value["tokenRatio"]),
      let parameters = RetryThrottle.Parameters(maxTokens: maxTokens, tokenRatio: ratio)
    else {
      throw Problem(
        "retryThrottling", "needs maxTokens above 0 up to 1000, and tokenRatio of at least 0.001")
    }
    return parameters
  }

  fileprivate static func number(_ value: JSONValue?) -> Double? {
    guard case .number(let digits)? = value else { return nil }
    return Double(digits)
  }
}

extension RetryPolicy {
  fileprivate init(_ value: JSONValue, at place: String) throws(RetryServiceConfig.Problem) {
    typealias Problem = RetryServiceConfig.Problem
    guard let attempts = RetryServiceConfig.number(value["maxAttempts"]), attempts >= 2,
      let whole = Int(exactly: attempts)
    else { throw Problem("\(place).maxAttempts", "must be a whole number of at least 2") }
    guard let multiplier = RetryServiceConfig.number(value["backoffMultiplier"]), multiplier > 0 else {
      throw Problem("\(place).backoffMultiplier", "must be a number above 0")
    }
    guard case .array(let names)? = value["retryableStatusCodes"], !names.isEmpty else {
      throw Problem("\(place).retryableStatusCodes", "must be a list with at least one code")
    }
    var codes: Set<StatusCode> = []
    for name in names {
      switch name {
      case .string(let text), .number(let text):
        guard let code = StatusCode(written: text), code != .ok else { fallthrough }
        codes.insert(code)
      default:
        throw Problem("\(place).retryableStatusCodes", "\(name.text) is not a failure code")
      }
    }
    self.init(
      attempts: whole, initialBackoff: try Self.duration(value, "initialBackoff", at: place),
      maxBackoff: try Self.duration(value, "maxBackoff", at: place), multiplier: multiplier, codes: codes)
  }

  private static func duration(
    _ value: JSONValue, _ name: String, at place: String
  ) throws(RetryServiceConfig.Problem) -> Duration {
    guard case .string(let text)? = value[name], text.hasSuffix("s"),
      let number = text.dropLast().last, number.isNumber,
      let duration = SettingsReader.duration(text), duration > .zero
    else {
      throw RetryServiceConfig.Problem("\(place).\(name)", "must be a duration above 0 such as \"0.1s\"")
    }
    return duration
  }
}
