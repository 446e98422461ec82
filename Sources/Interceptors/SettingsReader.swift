import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtocols

/// Reads the settings of one interceptor; errors name the key.
struct SettingsReader {
  /// The interceptor's name.
  let interceptor: String
  private let keys: [BuiltIns.Key]
  private let settings: [InterceptorSpec.Setting]
  /// Whether the common key `methods` selects the methods.
  let namesMethods: Bool
  /// Whether no common key selects calls.
  let isForAll: Bool

  /// - Throws: ``ConfigurationError`` for an unknown key, or one given twice that must not repeat.
  init(_ spec: InterceptorSpec, _ description: BuiltIns.Description) throws(ConfigurationError) {
    interceptor = spec.name
    keys = description.keys
    settings = spec.settings
    namesMethods = !spec.common.scope.methods.wanted.isEmpty
    isForAll = spec.common.scope == .all
    var seen: Set<String> = []
    for setting in settings {
      if let newForm = description.replaced[setting.key] {
        throw ConfigurationError(
          interceptor: interceptor, key: setting.key, reason: "unknown key", hint: newForm(setting.value))
      }
      guard let key = keys.first(where: { $0.name == setting.key }) else {
        let near = EditDistance.nearest(to: setting.key, among: keys.map(\.name))
        throw ConfigurationError(
          interceptor: interceptor, key: setting.key, reason: "unknown key",
          hint: near.isEmpty
            ? "valid keys: \(keys.map(\.form).joined(separator: ", "))"
            : "did you mean \(near.joined(separator: ", or "))?")
      }
      guard seen.insert(setting.key).inserted || key.mayRepeat else {
        throw error(setting.key, "is set twice")
      }
    }
  }

  /// The settings in the order written.
  var all: [InterceptorSpec.Setting] { settings }

  /// The value of a key.
  func text(_ key: String) -> String? { settings.first { $0.key == key }?.value }

  /// The value of a key that the interceptor reads itself.
  func wholeValue(_ key: String) throws(ConfigurationError) -> WholeValue? {
    guard let setting = settings.first(where: { $0.key == key }) else { return nil }
    return try wholeValue(setting.value, of: setting)
  }

  /// What a part of a setting's value means: a literal value if the setting's text was not written by the user.
  func wholeValue(
    _ text: String, of setting: InterceptorSpec.Setting
  ) throws(ConfigurationError) -> WholeValue {
    guard setting.isWritten else { return .literal(text) }
    do throws(LanguageError) {
      return try WholeValue(parsing: text)
    } catch {
      throw self.error(setting.key, error)
    }
  }

  /// All values of a key that may repeat.
  func texts(_ key: String) -> [String] { settings.filter { $0.key == key }.map(\.value) }

  /// A whole number within a range.
  func integer(_ key: String, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
    guard let text = text(key) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw error(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A number within a range.
  func number(_ key: String, in range: ClosedRange<Double>) throws(ConfigurationError) -> Double? {
    guard let text = text(key) else { return nil }
    guard let number = Double(text), range.contains(number) else {
      throw error(key, "must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// `true` or `false`.
  func flag(_ key: String) throws(ConfigurationError) -> Bool? {
    switch text(key) {
    case nil: nil
    case "true", "yes", "1": true
    case "false", "no", "0": false
    default: throw error(key, "must be true or false")
    }
  }

  /// A duration such as `1.5`, `250ms`, `2m`; never negative.
  func duration(_ key: String) throws(ConfigurationError) -> Duration? {
    guard let text = text(key) else { return nil }
    guard let duration = Self.duration(text) else {
      throw error(key, "must be a duration such as 1.5, 250ms, 2m")
    }
    return duration
  }

  /// A duration above 0.
  func positiveDuration(_ key: String) throws(ConfigurationError) -> Duration? {
    let duration = try duration(key)
    if duration == .zero { throw error(key, "must be more than 0") }
    return duration
  }

  /// One of the values of an enum.
  func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String, _ type: Choice.Type
  ) throws(ConfigurationError) -> Choice? where Choice.RawValue == String {
    guard let text = text(key) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw error(key, "must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }

  /// Servers, such as `api.example.com+*.example.org`.
  func hosts(_ key: String) throws(ConfigurationError) -> Selection<HostPattern>? {
    guard let text = text(key) else { return nil }
    do {
      return try CommonSettings.hosts(text)
    } catch {
      throw self.error(key, error)
    }
  }

  /// Names of headers, such as `x-tenant+accept-language`, in lower case.
  func headerNames(_ key: String) throws(ConfigurationError) -> Set<String> {
    var names: Set<String> = []
    for name in text(key)?.split(whereSeparator: { "+, ".contains($0) }) ?? [] {
      guard HeaderSyntax.isName(name) else { throw error(key, "\(name) is not a valid header name") }
      names.insert(name.lowercased())
    }
    return names
  }

  /// Failure codes, such as `unavailable+aborted`.
  func codes(_ key: String = "codes") throws(ConfigurationError) -> Set<StatusCode>? {
    guard let text = text(key) else { return nil }
    var codes: Set<StatusCode> = []
    for word in text.split(whereSeparator: { "+, ".contains($0) }) {
      guard let code = StatusCode(written: word), code != .ok else {
        throw error(key, "\(word) is not a failure code such as unavailable")
      }
      codes.insert(code)
    }
    guard !codes.isEmpty else { throw error(key, "contains no code") }
    return codes
  }

  /// The error for a key's value.
  func error(_ key: String, _ reason: String, hint: String? = nil) -> ConfigurationError {
    ConfigurationError(interceptor: interceptor, key: key, reason: reason, hint: hint)
  }

  /// Parses a number with a unit: `s` (the default), `ms`, `us`, `m` or `h`.
  static func duration(_ text: some StringProtocol) -> Duration? { Duration(written: text) }
}
