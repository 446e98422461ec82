import RPCProtocols

/// Keeps credentials out of what is shown.
struct Redaction {
  /// Whether credentials are shown all the same.
  let showsSecrets: Bool

  /// What the names of headers that carry credentials hold.
  private static let marks = [
    "auth", "token", "secret", "password", "passwd", "credential", "cookie", "session", "apikey", "api-key",
    "access-key", "private-key", "signature",
  ]
  /// The schemes of an authorization, which are no secret.
  private static let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "ntlm", "token"]

  /// Whether values of the header `name` may be credentials.
  static func isSecret(_ name: String) -> Bool {
    let name = String(name.map { $0 == "_" ? "-" : $0 })
    return name != "host" && name != ":authority" && marks.contains(where: name.contains)
  }

  /// The value of `field`, or what stands for it.
  ///
  /// - Parameters:
  ///   - field: A header.
  ///   - secretNames: Headers that are known to carry credentials, whatever their names.
  func value(of field: Headers.Field, secretNames: Set<String> = []) -> String {
    guard !showsSecrets, Self.isSecret(field.name) || secretNames.contains(field.name) else {
      return field.value
    }
    let words = field.value.split(separator: " ", maxSplits: 1)
    guard words.count == 2, Self.schemes.contains(words[0].lowercased()) else { return "[redacted]" }
    return "\(words[0]) [redacted]"
  }
}
