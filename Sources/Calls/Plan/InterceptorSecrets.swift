import CommandLine
import Interception
import Interceptors
import Language
import Protobuf

/// Replaces credentials in the text `NAME[,KEY=VALUE…]` of an interceptor.
package enum InterceptorSecrets {
  /// Settings that are credentials, in addition to those recognized by name.
  private static let secretSettings: Set<String> = ["bearer", "basic"]
  /// Settings whose names resemble credentials but that are not secret.
  private static let harmlessSettings: Set<String> = [
    "bearer-file", "token-url", "client-auth", "auth-scheme", "hosts", "scheme", "redact",
    "redact-field",
    "remove", "rename", "response-remove", "response-rename",
  ]

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
    let parts = split(text)
    let interceptor = parts[0].split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
    let changed = parts.dropFirst().map { part in
      guard case (let name, let value?) = part.parted(at: "=") else { return part }
      let key = String(name)
      return isCredential(key, value, of: interceptor)
        ? "\(key)=\(replacement(interceptor, key, value))" : part
    }
    return (parts.prefix(1) + changed).joined(separator: ",")
  }

  private static func isCredential(_ key: String, _ value: Substring, of interceptor: Substring) -> Bool {
    // `@@` is a value that begins with `@`, not a file.
    let isFile = value.begins(with: "@") && !value.begins(with: "@@")
    if harmlessSettings.contains(key) || isFile || value.begins(with: "env:") { return false }
    if value.contains("${") { return false }
    let inner = value.prefixOfScalars { $0 != ":" && $0 != "=" }
    return secretSettings.contains(key) || isSecret(setting: key.lowercased())
      || isMistyped(key, of: interceptor)
      || inner.endIndex < value.endIndex && SecretNames.standard.contains(inner)
  }

  /// Whether `auth` has no such setting: most of its settings are credentials.
  private static func isMistyped(_ key: String, of interceptor: Substring) -> Bool {
    guard interceptor == "auth", let auth = BuiltIns.all.first(where: { $0.name == "auth" }) else {
      return false
    }
    let prefix = CommonSettings.prefix
    let common = key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : key
    return !auth.keys.contains { $0.name == key } && !CommonSettings.keys.contains { $0.name == common }
  }

  /// Whether the name of a setting suggests a secret. Names of plugin settings are shorter than header names.
  private static func isSecret(setting key: String) -> Bool {
    SecretNames.standard.contains(key) || ["key", "pass", "pwd", "pin"].contains(where: key.hasSuffix)
      || key.contains("passphrase")
  }

  /// Splits at single commas. A double comma stays in its part.
  static func split(_ text: String) -> [String] {
    var parts = [String.UnicodeScalarView()]
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      if scalar == ",", rest.first == "," {
        parts[parts.count - 1] += ",,".unicodeScalars
        rest = rest.dropFirst()
      } else if scalar == "," {
        parts.append(String.UnicodeScalarView())
      } else {
        parts[parts.count - 1].append(scalar)
      }
    }
    return parts.map { String($0) }
  }
}
