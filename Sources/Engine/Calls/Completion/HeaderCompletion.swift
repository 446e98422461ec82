import RPCurlLanguage

/// Completes common request headers.
package enum HeaderCompletion {
  package static let common = [
    LanguageCompletion.Candidate("accept-language", "preferred languages"),
    LanguageCompletion.Candidate("authorization", "credentials; see also --bearer and --user"),
    LanguageCompletion.Candidate("baggage", "W3C baggage"),
    LanguageCompletion.Candidate("cookie", "cookies"),
    LanguageCompletion.Candidate("grpc-previous-rpc-attempts", "number of earlier attempts"),
    LanguageCompletion.Candidate("traceparent", "W3C trace context"),
    LanguageCompletion.Candidate("tracestate", "W3C trace context, vendor data"),
    LanguageCompletion.Candidate("user-agent", "client name; see also --user-agent"),
    LanguageCompletion.Candidate("x-api-key", "API key"),
    LanguageCompletion.Candidate("x-forwarded-for", "client address, set by proxies"),
    LanguageCompletion.Candidate("x-goog-api-key", "Google API key"),
    LanguageCompletion.Candidate("x-request-id", "request id for logs"),
  ]

  /// The header names that start with `typed`.
  package static func names(_ typed: String, end: String) -> LanguageCompletion {
    LanguageCompletion(
      typed.lowercased(), common.map { LanguageCompletion.Candidate("\($0.text)\(end)", $0.note) })
  }
}
