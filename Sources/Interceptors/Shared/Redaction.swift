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
  /// Replaces secrets of the request in other values.
  private let mask: SecretMask

  /// Makes a redaction of common secrets.
  package init(showsSecrets: Bool = false) {
    self.init(showsSecrets: showsSecrets, names: .standard, fields: [])
  }

  init(
    showsSecrets: Bool = false, names: SecretNames, fields: [RedactedField], mask: SecretMask = SecretMask()
  ) {
    self.showsSecrets = showsSecrets
    self.names = names
    self.fields = fields
    self.mask = mask
  }

  /// This redaction, extended by the request's credentials: the headers that contain them, and what repeats them, such as a
  /// header of the response.
  package func hiding(credentialsOf start: RequestStart) -> Redaction {
    guard !showsSecrets else { return self }
    let names = self.names.adding(headersOf: start.credentials)
    return Redaction(names: names, fields: fields, mask: SecretMask(start.headers, names: names))
  }

  /// The value of `field`, redacted if necessary.
  package func value(of field: Headers.Field) -> String {
    guard !showsSecrets else { return field.value }
    guard names.contains(field.name) else { return mask.apply(field.value) }
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
