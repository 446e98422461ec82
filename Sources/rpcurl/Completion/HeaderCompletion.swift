/// Names of headers that requests often have.
enum HeaderCompletion {
  private static let common: [(name: String, use: String)] = [
    ("accept-language", "languages for texts"),
    ("authorization", "credentials; see also --bearer and --user"),
    ("baggage", "W3C baggage"),
    ("cookie", "cookies"),
    ("grpc-previous-rpc-attempts", "how often the call was tried before"),
    ("traceparent", "W3C trace context"),
    ("tracestate", "W3C trace context of the vendor"),
    ("user-agent", "who calls; see also --user-agent"),
    ("x-api-key", "a key"),
    ("x-forwarded-for", "for whom a proxy calls"),
    ("x-goog-api-key", "a key of Google"),
    ("x-request-id", "a number for logs"),
  ]

  /// Those that go on from `typed`, with their colon.
  static func names(_ typed: String) -> [Candidate] {
    common.filter { $0.name.hasPrefix(typed.lowercased()) }.map { Candidate("\($0.name):", $0.use) }
  }
}
