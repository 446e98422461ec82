import RPCurlLanguage

/// What a user writes to add an interceptor to the chain: `NAME[,key=value…]`.
///
/// A value that begins with `'`, `"`, `[` or `{` ends at its match; in other values `,,` is a comma. Values may be elsewhere
/// (``WholeValue``), but not in single quotes. The chain interprets the keys of ``CommonSettings``; the interceptor
/// interprets the others.
package struct InterceptorSpec: Sendable, Equatable {
  /// One key with its value.
  package struct Setting: Sendable, Equatable {
    /// The key.
    package var key: String
    /// The value.
    package var value: String
    /// Whether the value is as written, so that parts of it may be elsewhere; false if it is literal.
    package var isWritten: Bool

    /// Makes a setting.
    package init(key: String, value: String, isWritten: Bool = false) {
      self.key = key
      self.value = value
      self.isWritten = isWritten
    }
  }

  /// A built-in interceptor's name, or a plugin's name or path.
  package var name: String
  /// The interceptor's settings, in the order written. A key may repeat.
  package var settings: [Setting]
  /// What the chain interprets.
  package var common = CommonSettings()

  /// Makes a specification.
  package init(name: String, settings: [Setting] = []) {
    self.name = name
    self.settings = settings
  }

  /// Parses `NAME[,key=value…]`.
  ///
  /// - Parameters:
  ///   - sources: Reads the values that are elsewhere.
  ///   - readsLater: Whether the interceptor itself reads the value of a key, which then stays as written.
  ///   - example: Returns a setting of an interceptor, such as `set=NAME:VALUE`, for the hints of errors; nil if the
  ///     settings are not known.
  /// - Throws: An error that names the interceptor and the key, and never contains a value.
  package init(
    parsing text: String, sources: ValueSources,
    readsLater: (_ name: String, _ key: String) -> Bool = { _, _ in false },
    example: (_ name: String) -> String? = { _ in nil }
  ) throws(ConfigurationError) {
    var parts = SettingScanner.split(text)
    self.init(name: parts.removeFirst().replacing(",,", with: ","))
    // The rest of the text may contain a secret.
    guard !name.isEmpty else { throw ConfigurationError(interceptor: "''", reason: "missing name") }
    let shown = Self.word(of: name)
    for (index, part) in parts.enumerated() {
      // A blank after the comma is not part of the key.
      let part = String(part.drop { $0 == " " })
      var setting = try Self.setting(part, number: index + 1, of: shown, example: example)
      if setting.isWritten, !readsLater(name, setting.key) { try Self.read(&setting, of: shown, sources) }
      settings.append(setting)
    }
    try common.take(from: &settings, of: shown, ownKeys: nil)
  }

  /// The part of a name that errors show. The rest of a mistyped one, such as `auth:bearer=…`, may be a secret.
  package static func word(of name: String) -> String {
    String(name.prefix { $0 != "=" && $0 != ":" && $0 != "," })
  }

  /// Takes the settings that the chain interprets out of `settings`, as soon as the interceptor's own keys are known.
  ///
  /// - Parameter ownKeys: The keys of the interceptor, which are not the chain's, except with the prefix `chain-`.
  /// - Throws: An error that names the interceptor and the key, and never contains a value.
  package mutating func takeCommonSettings(ownKeys: Set<String>) throws(ConfigurationError) {
    try common.take(from: &settings, of: Self.word(of: name), ownKeys: ownKeys)
  }

  /// Reads a value that is elsewhere as a whole.
  private static func read(
    _ setting: inout Setting, of name: String, _ sources: ValueSources
  ) throws(ConfigurationError) {
    do throws(LanguageError) {
      let text = try sources.read(written: setting.value)
      setting.isWritten = text == setting.value && !WholeValue.isElsewhere(setting.value)
      setting.value = text
    } catch {
      throw ConfigurationError(interceptor: name, key: setting.key, error)
    }
  }

  private static func setting(
    _ part: String, number: Int, of name: String, example: (String) -> String?
  ) throws(ConfigurationError) -> Setting {
    guard let equals = part.unicodeScalars.firstIndex(of: "="), equals > part.startIndex else {
      // The error contains no value: it may be a secret, and this may be the rest of one that has a comma.
      let setting = example(name).map { "write \(name),\($0); " } ?? ""
      throw ConfigurationError(
        interceptor: name, reason: "setting \(number) is not of the form KEY=VALUE",
        hint: "\(setting)write a value with a comma in single quotes: KEY='a,b'")
    }
    let key = String(part[..<equals])
    let value = part[part.unicodeScalars.index(after: equals)...]
    do throws(LanguageError) {
      // A value in quotes is no notation of one from elsewhere.
      return Setting(
        key: key, value: try SettingScanner.value(value), isWritten: value.unicodeScalars.first != "'")
    } catch {
      throw ConfigurationError(interceptor: name, key: key, error)
    }
  }
}
