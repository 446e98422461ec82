import Interception

extension SettingsReader {
  /// The redaction that the keys `redact` and `redact-field` ask for, beside what is always redacted.
  func redaction() throws(ConfigurationError) -> Redaction {
    var fields: [RedactedField] = []
    for text in texts("redact-field") {
      do {
        fields.append(try RedactedField(text))
      } catch {
        throw self.error("redact-field", error.reason)
      }
    }
    for name in texts("redact") where name.isEmpty {
      throw error("redact", "must be the name of a header, with * at its ends for any text")
    }
    return Redaction(names: texts("redact"), fields: fields)
  }

  /// The two keys of what is redacted.
  static let redactionKeys = [
    BuiltIns.Key(
      "redact=HEADER", "hide the value of a further header; * at its ends is any text", mayRepeat: true),
    BuiltIns.Key("redact-field=PATH", "hide a field of messages", mayRepeat: true),
  ]
}
