import Protobuf

/// Replaces secrets in texts of reports.
struct SecretMask {
  /// Shorter values are part of many words.
  private static let leastBytes = 4

  private let secrets: [String]

  init(_ secrets: [String]) {
    // The longest first: one may be a part of another.
    self.secrets = secrets.filter { $0.utf8.count >= Self.leastBytes }.sorted {
      $0.utf8.count > $1.utf8.count
    }
  }

  /// The text without secrets.
  func apply(_ text: String) -> String {
    secrets.reduce(text) { text, secret in
      text.contains(secret) ? text.replacing(secret, with: "[redacted]") : text
    }
  }
}
