import Interceptors
import Protobuf

/// Replaces secrets in texts of reports.
final class SecretMask {
  /// Shorter values are part of many words.
  private static let leastBytes = 4
  /// What is in the place of removed text.
  private static let cut = "…"
  /// Values that many messages contain.
  private static let commonValues: Set = ["true", "false", "null"]

  /// The secrets so far, the longest first.
  var secrets: [String] = []

  init(_ secrets: [String] = []) { add(secrets) }

  /// Adds secrets that become known during the run, also as JSON and settings of interceptors have them.
  func add(_ values: [String]) {
    let new = values.flatMap { [$0, String(JSONValue.quoted($0).dropFirst().dropLast())] }
      .flatMap { [$0, $0.replacing(",", with: ",,")] }
      .filter {
        $0.utf8.count >= Self.leastBytes && !Self.commonValues.contains($0) && !secrets.contains($0)
      }
    guard !new.isEmpty else { return }
    // The longest first: one may be a part of another.
    secrets = Set(secrets + new).sorted { $0.utf8.count > $1.utf8.count }
  }

  /// The text without secrets, and without the parts of secrets that are left where a text was cut.
  func apply(_ text: String) -> String {
    let masked = secrets.reduce(text) { text, secret in
      text.contains(secret) ? text.replacing(secret, with: Redaction.placeholder) : text
    }
    guard !secrets.isEmpty, masked.contains(Self.cut) else { return masked }
    var pieces = masked.split(separator: Self.cut, omittingEmptySubsequences: false).map { Array($0.utf8) }
    for index in pieces.indices {
      // The end of a secret, behind the place of a cut.
      let end = index == 0 ? 0 : countOfPart(in: pieces[index]) { $0.prefix($2).elementsEqual($1.suffix($2)) }
      if end > 0 { pieces[index].replaceSubrange(..<end, with: Redaction.placeholder.utf8) }
      guard index < pieces.count - 1 else { continue }
      // The start of a secret, before the place of a cut.
      let start = countOfPart(in: pieces[index]) { $0.suffix($2).elementsEqual($1.prefix($2)) }
      if start > 0 {
        pieces[index].replaceSubrange((pieces[index].count - start)..., with: Redaction.placeholder.utf8)
      }
    }
    return pieces.map { String(decoding: $0, as: UTF8.self) }.joined(separator: Self.cut)
  }

  /// The number of bytes of the longest part of a secret that a piece has at its start or its end; 0 if it has none.
  ///
  /// - Parameter hasPart: Whether a piece has a part of a secret of this number of bytes.
  private func countOfPart(
    in piece: [UInt8], _ hasPart: (_ piece: [UInt8], _ secret: String.UTF8View, _ count: Int) -> Bool
  ) -> Int {
    var longest = 0
    for secret in secrets.map(\.utf8) {
      let counts = stride(from: min(secret.count - 1, piece.count), through: Self.leastBytes, by: -1)
      longest = max(longest, counts.first { hasPart(piece, secret, $0) } ?? 0)
    }
    return longest
  }
}
