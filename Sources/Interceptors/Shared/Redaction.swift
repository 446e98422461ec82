import Interception
import Language
import Protobuf
import RPCProtocols

/// Removes credentials from output and files.
package struct Redaction: Sendable {
  /// Whether credentials are shown.
  package let showsSecrets: Bool
  /// Which headers are secret.
  private let names: SecretNames
  /// Fields of messages.
  private let fields: [RedactedField]

  /// Makes a redaction of common secrets.
  package init(showsSecrets: Bool = false) {
    self.init(showsSecrets: showsSecrets, names: .standard, fields: [])
  }

  init(showsSecrets: Bool = false, names: SecretNames, fields: [RedactedField]) {
    self.showsSecrets = showsSecrets
    self.names = names
    self.fields = fields
  }

  /// This redaction, extended by the headers that contain the request's credentials.
  package func hiding(credentialsOf start: RequestStart) -> Redaction {
    guard let credentials = start.credentials else { return self }
    return Redaction(showsSecrets: showsSecrets, names: names.adding(credentials.headerNames), fields: fields)
  }

  /// The value of `field`, redacted if necessary.
  package func value(of field: Headers.Field) -> String {
    guard !showsSecrets, names.contains(field.name) else { return field.value }
    let words = field.value.split(separator: " ", maxSplits: 1)
    guard words.count == 2, SecretMask.schemes.contains(words[0].lowercased()) else {
      return SecretMask.placeholder
    }
    return "\(words[0]) \(SecretMask.placeholder)"
  }

  /// The value of an attribute, redacted if a header of that name would be.
  package func value(ofAttribute key: String, _ value: String) -> String {
    self.value(of: Headers.Field(name: key, value: value))
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
}
