import RPCurlChain
import RPCurlProtocols

/// A collector that receives OTLP over HTTP, in protobuf's binary format.
struct OTLPEndpoint: Sendable {
  /// What is sent, with its path below an endpoint and the word in names of variables.
  enum Signal: String {
    case traces, metrics
  }

  let url: String
  let headers: Headers
  let timeout: Duration
  let authoritiesFile: String?

  /// Reads the keys `endpoint` and `timeout`, and the environment variables of OpenTelemetry.
  ///
  /// - Returns: Nil if there is no endpoint.
  /// - Throws: ``ConfigurationError`` if the endpoint is invalid.
  init?(
    _ signal: Signal, _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) {
    /// A variable, the one for this signal first. Empty is the same as not set.
    func variable(_ name: String) -> (name: String, value: String)? {
      for name in [
        "OTEL_EXPORTER_OTLP_\(signal.rawValue.uppercased())_\(name)", "OTEL_EXPORTER_OTLP_\(name)",
      ] {
        if let value = services.environment(name), !value.isEmpty { return (name, value) }
      }
      return nil
    }
    func error(_ name: String, _ reason: String, hint: String?) -> ConfigurationError {
      ConfigurationError(interceptor: settings.interceptor, key: name, reason: reason, hint: hint)
    }
    let isGiven = settings.text("endpoint") != nil
    guard let (source, base) = settings.text("endpoint").map({ ("endpoint", $0) }) ?? variable("ENDPOINT")
    else {
      return nil
    }
    guard Origin(url: base) != nil else {
      // The value is not shown: it may contain a password.
      throw error(source, "is not an http(s) URL without user information", hint: nil)
    }
    if !isGiven, let (name, value) = variable("PROTOCOL"), value != "http/protobuf" {
      throw error(
        name, "\(value.prefix(40)) is not supported, only http/protobuf is",
        hint: "endpoint=URL names a collector that receives OTLP over HTTP")
    }
    // Only the variable of one signal has the whole URL (OpenTelemetry, "Endpoint URLs for OTLP/HTTP").
    let isWhole = source == "OTEL_EXPORTER_OTLP_\(signal.rawValue.uppercased())_ENDPOINT"
    let path = "/v1/\(signal.rawValue)"
    url =
      isWhole || base.hasSuffix(path) ? base : (base.hasSuffix("/") ? String(base.dropLast()) : base) + path
    var headers = Headers([("content-type", "application/x-protobuf")])
    for pair in OTLPResource.pairs(variable("HEADERS")?.value ?? "") { headers.add(pair.key, pair.value) }
    self.headers = headers
    let milliseconds = variable("TIMEOUT").flatMap { Int($0.value) }.flatMap { $0 > 0 ? $0 : nil }
    timeout = try settings.positiveDuration("timeout") ?? .milliseconds(min(milliseconds ?? 2000, 60_000))
    authoritiesFile = variable("CERTIFICATE")?.value
  }

  /// Sends a request.
  ///
  /// - Parameters:
  ///   - body: The serialized request.
  ///   - network: Sends it.
  ///   - completion: Called once on the loop's thread, with the reason of a failure, or nil.
  func send(_ body: [UInt8], _ network: FactoryNetwork, _ completion: @escaping (String?) -> Void) {
    var fetch = HTTPFetch(method: "POST", url: url, headers: headers, body: body, timeout: timeout)
    fetch.authoritiesFile = authoritiesFile
    let server = Origin(url: url)?.description ?? ""
    network.fetch(fetch) { result in
      switch result {
      case .success(let response) where (200..<300).contains(response.status): completion(nil)
      case .success(let response): completion("\(server) responded with HTTP \(response.status)")
      case .failure(let error): completion("\(server): \(error.message)")
      }
    }
  }
}
