/// Completes common request headers.
enum HeaderCompletion {
  private static let common: [(name: String, use: String)] = [
    ("accept-language", "preferred languages"),
    ("authorization", "credentials; see also --bearer and --user"),
    ("baggage", "W3C baggage"),
    ("cookie", "cookies"),
    ("grpc-previous-rpc-attempts", "number of earlier attempts"),
    ("traceparent", "W3C trace context"),
    ("tracestate", "W3C trace context, vendor data"),
    ("user-agent", "client name; see also --user-agent"),
    ("x-api-key", "API key"),
    ("x-forwarded-for", "client address, set by proxies"),
    ("x-goog-api-key", "Google API key"),
    ("x-request-id", "request id for logs"),
  ]

  /// The header names that start with `typed`, with a colon.
  static func names(_ typed: String) -> [Candidate] {
    common.filter { $0.name.hasPrefix(typed.lowercased()) }.map { Candidate("\($0.name):", $0.use) }
  }
}
