/// Placements of interceptors that are likely to be mistakes, as far as their names tell what they do.
package enum ChainWarnings {
  /// What an interceptor does.
  private enum Role {
    case redact
    case log
    case sign
    case compress
    case cache
    case credentials

    /// The words in a name that tell it.
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

  /// The warnings for interceptors by their names, the one nearest to the caller first.
  package static func of(_ names: [String]) -> [String] {
    let roles = names.map { Role($0) }
    var warnings: [String] = []
    for (outer, outerRole) in roles.enumerated() {
      for (inner, innerRole) in roles.enumerated().dropFirst(outer + 1) {
        guard let outerRole, let innerRole,
          let why = reason(outerRole, innerRole, outer: names[outer], inner: names[inner])
        else { continue }
        warnings.append("\(names[outer]) stands outside of \(names[inner]): \(why)")
      }
    }
    return warnings
  }

  private static func reason(_ outerRole: Role, _ innerRole: Role, outer: String, inner: String) -> String? {
    switch (outerRole, innerRole) {
    case (.redact, .log): "\(inner) sees answers before \(outer) has hidden anything in them"
    case (.compress, .sign): "\(inner) signs what is compressed, not the message that the server checks"
    case (.sign, .redact), (.sign, .compress): "\(inner) changes what \(outer) has signed"
    case (.cache, .credentials):
      "\(outer) answers before \(inner) has said who asks, so one caller may get the answer to another"
    default: nil
    }
  }
}
