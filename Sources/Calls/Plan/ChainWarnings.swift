/// Warns of orders of interceptors that are likely mistakes, judged by their names.
package enum ChainWarnings {
  /// What an interceptor does.
  private enum Role {
    case redact
    case log
    case sign
    case compress
    case cache
    case credentials

    /// The words in a name that imply a role.
    private static let words: [(Set<String>, Role)] = [
      (["redact", "redaction", "mask", "scrub"], .redact),
      (["log", "logger", "logging", "har", "record", "dump", "trace"], .log),
      (["sign", "signer", "signature", "hmac", "sigv4"], .sign),
      (["compress", "compression", "gzip", "zstd"], .compress),
      (["cache", "caching"], .cache),
      (["auth", "authorization", "oauth", "oauth2", "bearer", "jwt", "credentials", "token"], .credentials),
    ]

    init?(_ name: String) {
      let parts = name.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
      guard let found = Self.words.first(where: { words, _ in parts.contains(where: words.contains) }) else {
        return nil
      }
      self = found.1
    }
  }

  /// The warnings for interceptors in the order of the request path.
  package static func of(_ names: [String]) -> [String] {
    let roles = names.map { Role($0) }
    var warnings: [String] = []
    for (outer, outerRole) in roles.enumerated() {
      for (inner, innerRole) in roles.enumerated().dropFirst(outer + 1) {
        guard let outerRole, let innerRole,
          let why = reason(outerRole, innerRole, outer: names[outer], inner: names[inner])
        else { continue }
        warnings.append("\(names[outer]) precedes \(names[inner]): \(why)")
      }
    }
    return warnings
  }

  private static func reason(_ outerRole: Role, _ innerRole: Role, outer: String, inner: String) -> String? {
    switch (outerRole, innerRole) {
    case (.redact, .log): "\(inner) receives responses before \(outer) redacts them"
    case (.compress, .sign): "\(inner) signs compressed data, not the message that the server checks"
    case (.sign, .redact), (.sign, .compress): "\(inner) changes the data that \(outer) signed"
    case (.cache, .credentials):
      "\(outer) responds before \(inner) adds credentials, so one caller may get the response to another"
    default: nil
    }
  }
}
