import Interception
import Protobuf
import RPCProtocols

/// Removes credentials from output and files.
package struct Redaction: Sendable {
  /// The replacement of redacted text.
  package static let placeholder = CredentialMask.placeholder

  /// Whether credentials are shown.
  package let showsSecrets: Bool
  /// Additional headers, by name, with `*` at one or both ends for any text.
  private let names: [String]
  /// Fields of messages.
  private let fields: [RedactedField]

  /// Makes a redaction of common secrets.
  package init(showsSecrets: Bool = false) {
    self.init(showsSecrets: showsSecrets, names: [], fields: [])
  }

  init(showsSecrets: Bool = false, names: [String], fields: [RedactedField]) {
    self.showsSecrets = showsSecrets
    self.names = names.map { $0.lowercased() }
    self.fields = fields
  }

  /// This redaction, extended by the headers that contain the request's credentials.
  package func hiding(credentialsOf start: RequestStart) -> Redaction {
    guard let credentials = start.credentials else { return self }
    return Redaction(showsSecrets: showsSecrets, names: names + credentials.headerNames, fields: fields)
  }

  /// The value of `field`, redacted if necessary.
  package func value(of field: Headers.Field) -> String {
    guard !showsSecrets, isHidden(field.name) else { return field.value }
    let words = field.value.split(separator: " ", maxSplits: 1)
    guard words.count == 2, CredentialMask.schemes.contains(words[0].lowercased()) else {
      return Self.placeholder
    }
    return "\(words[0]) \(Self.placeholder)"
  }

  /// The value of an attribute, redacted if a header of that name would be.
  package func value(ofAttribute key: String, _ value: String) -> String {
    self.value(of: Headers.Field(name: key.lowercased(), value: value))
  }

  /// The message with its redacted fields cleared.
  func redacted(_ message: Message) -> Message {
    guard !showsSecrets else { return message }
    return fields.reduce(into: message) { message, field in field.redact(&message) }
  }

  /// Logs a warning for each field that no message of a call has, once: perhaps a misspelled one, which is not redacted.
  func reportMissingFields(_ call: CallFacts, _ context: CallContext) {
    for field in fields { field.reportIfMissing(call, context) }
  }

  private func isHidden(_ name: String) -> Bool {
    names.contains { Self.fits(name, $0) } || Self.isSecret(name)
  }

  /// Whether values of the header `name` may be credentials.
  package static func isSecret(_ name: String) -> Bool {
    CredentialMask.isSecret(name)
  }

  private static func fits(_ name: String, _ pattern: String) -> Bool {
    let isOpenAtStart = pattern.hasPrefix("*")
    let isOpenAtEnd = pattern.hasSuffix("*") && pattern.utf8.count > 1
    let core = pattern.dropFirst(isOpenAtStart ? 1 : 0).dropLast(isOpenAtEnd ? 1 : 0)
    return switch (isOpenAtStart, isOpenAtEnd) {
    case (false, false): name == core
    case (true, false): name.hasSuffix(core)
    case (false, true): name.hasPrefix(core)
    case (true, true): name.contains(String(core))
    }
  }
}
