import Protobuf

/// Replaces secrets in texts of reports.
final class SecretMask {
  /// Shorter values are part of many words.
  private static let leastBytes = 4
  /// Values that many messages contain.
  private static let commonValues: Set = ["true", "false", "null"]

  /// The secrets so far, the longest first.
  var secrets: [String] = []

  init(_ secrets: [String] = []) { add(secrets) }

  /// Adds secrets that become known during the run, also as JSON has them.
  func add(_ values: [String]) {
    let new = values.flatMap { [$0, String(JSONValue.quoted($0).dropFirst().dropLast())] }
      .filter {
        $0.utf8.count >= Self.leastBytes && !Self.commonValues.contains($0) && !secrets.contains($0)
      }
    guard !new.isEmpty else { return }
    // The longest first: one may be a part of another.
    secrets = Set(secrets + new).sorted { $0.utf8.count > $1.utf8.count }
  }

  /// The text without secrets.
  func apply(_ text: String) -> String {
    secrets.reduce(text) { text, secret in
      text.contains(secret) ? text.replacing(secret, with: "[redacted]") : text
    }
  }
}
