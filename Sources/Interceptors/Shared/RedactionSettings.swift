import RPCurlChain
import RPCurlLanguage

extension SettingsReader {
  /// The redaction of the keys `redact` and `redact-field`, in addition to the default one.
  func redaction() throws(ConfigurationError) -> Redaction {
    var fields: [RedactedField] = []
    for text in texts("redact-field") {
      do {
        fields.append(try RedactedField(text))
      } catch {
        throw self.error("redact-field", error.reason)
      }
    }
    for name in texts("redact") where !SecretNames.isPattern(name) {
      throw error("redact", "must be a header name, with * at its ends for any text")
    }
    return Redaction(names: SecretNames(adding: texts("redact")), fields: fields)
  }

  /// The two keys for redaction.
  static let redactionKeys = [
    BuiltIns.Key(
      "redact=HEADER", "redact another header, as --redact does for all output", mayRepeat: true),
    BuiltIns.Key("redact-field=PATH", "redact a message field", mayRepeat: true),
  ]
}
