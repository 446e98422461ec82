import CommandLine
import Interception
import Interceptors
import Language
import Protobuf

/// Replaces credentials in the text `NAME[,KEY=VALUE…]` of an interceptor.
package enum InterceptorSecrets {
  /// The settings of an interceptor, without its name.
  ///
  /// - Parameters:
  ///   - entry: The interceptor.
  ///   - showsSecrets: Whether credentials are shown.
  package static func settings(_ entry: ChainArguments.Entry, showsSecrets: Bool) -> String {
    let text =
      showsSecrets ? entry.text : replacing(entry.text) { _, _, _ in SecretMask.placeholder }
    return String(text.droppingScalars { $0 != "," })
  }

  /// Replaces the values that are credentials, except those that name a file or a variable.
  ///
  /// - Parameters:
  ///   - text: `NAME[,KEY=VALUE…]`.
  ///   - replacement: Returns the new value of a key of an interceptor that has a credential as its value.
  package static func replacing(
    _ text: String, _ replacement: (_ interceptor: Substring, _ key: String, _ value: Substring) -> String
  ) -> String {
    let parts = SettingScanner.split(text)
    let interceptor = parts[0].split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
    let builtIn = BuiltIns.all.first { $0.name == parts[0] }
    let changed = parts.dropFirst().map { part in
      guard case (let name, let value?) = part.parted(at: "=") else { return part }
      let key = String(name)
      return isSecret(key, value, of: builtIn)
        ? "\(key)=\(replacement(interceptor, key, value))" : part
    }
    return (parts.prefix(1) + changed).joined(separator: ",")
  }

  /// Whether the value of a key is secret.
  ///
  /// - Parameter builtIn: The interceptor; nil for a plugin.
  private static func isSecret(
    _ key: String, _ value: Substring, of builtIn: BuiltIns.Description?
  ) -> Bool {
    guard !WholeValue.isElsewhere(value), !value.contains("${") else { return false }
    if let known = builtIn?.keys.first(where: { $0.name == key }) {
      return known.isSecret || (known.hasNamedValue || known.isCondition) && hasSecretName(value)
    }
    let prefix = CommonSettings.prefix
    let common = key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : key
    if CommonSettings.keys.contains(where: { $0.name == common }) { return hasSecretName(value) }
    // A mistyped key may be one that is secret.
    return builtIn?.keys.contains(where: \.isSecret) ?? false || SecretNames.standard.contains(key)
      || hasSecretName(value)
  }

  /// Whether a value is `NAME:VALUE` or `NAME=VALUE` with the name of a secret, or a condition of it, and not elsewhere.
  private static func hasSecretName(_ text: Substring) -> Bool {
    var text = text.begins(with: "'") ? Substring(text.unicodeScalars.dropFirst()) : text
    for word in ["header ", "trailer "] where text.begins(with: word) {
      text = Substring(text.unicodeScalars.dropFirst(word.unicodeScalars.count))
    }
    let name = text.prefixOfScalars { !":=!<>~ ".unicodeScalars.contains($0) }
    let value = text[name.endIndex...].droppingScalars { ":=!<>~ ".unicodeScalars.contains($0) }
    return !value.isEmpty && !WholeValue.isElsewhere(value) && SecretNames.standard.contains(name)
  }
}
