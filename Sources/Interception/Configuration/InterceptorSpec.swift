/// What a user writes to add an interceptor to the chain: `NAME[,key=value…]`.
///
/// `,,` is a comma. A value `@FILE` is the file's content without its last line end, `@@…` is a value that begins with
/// `@`, and `env:NAME` is the environment variable. The chain interprets the keys `priority`, `methods` and `strict`;
/// the interceptor interprets the others.
package struct InterceptorSpec: Sendable, Equatable {
  /// One key with its value.
  package struct Setting: Sendable, Equatable {
    /// The key.
    package var key: String
    /// The value.
    package var value: String

    /// Makes a setting.
    package init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// A built-in interceptor's name, or a plugin's name or path.
  package var name: String
  /// The interceptor's settings, in the order written. A key may repeat.
  package var settings: [Setting]
  /// Higher comes first on the request path.
  package var priority: Int
  /// The methods whose calls pass through it.
  package var methods: MethodPattern
  /// Whether a plugin's misuse of its interface fails calls; otherwise it is only logged.
  package var isStrict = false

  /// Makes a specification.
  package init(name: String, settings: [Setting] = [], priority: Int = 0, methods: MethodPattern = .all) {
    self.name = name
    self.settings = settings
    self.priority = priority
    self.methods = methods
  }

  /// Parses `NAME[,key=value…]`.
  ///
  /// - Parameters:
  ///   - sources: Reads the values that are in files or in the environment.
  ///   - example: Returns a setting of an interceptor, such as `set=NAME:VALUE`, for the hints of errors; nil if the
  ///     settings are not known.
  /// - Throws: An error that names the interceptor and the key, and never contains a value.
  package init(
    parsing text: String, sources: ValueSources, example: (_ name: String) -> String? = { _ in nil }
  ) throws(ConfigurationError) {
    var parts = Self.split(text)
    self.init(name: parts.removeFirst())
    guard !name.isEmpty else { throw ConfigurationError(interceptor: "'\(text)'", reason: "missing name") }
    for (index, part) in parts.enumerated() {
      let setting = try Self.setting(part, number: index + 1, of: name, sources, example: example)
      switch setting.key {
      case "priority":
        guard let number = Int(setting.value) else {
          throw ConfigurationError(
            interceptor: name, key: "priority", reason: "not a whole number")
        }
        priority = number
      case "methods":
        guard let pattern = MethodPattern(setting.value) else {
          throw ConfigurationError(
            interceptor: name, key: "methods",
            reason: "none of pkg.Service/Method, pkg.Service/*, */Method, *")
        }
        methods = pattern
      case "strict":
        guard let value = Bool(setting.value) else {
          throw ConfigurationError(interceptor: name, key: "strict", reason: "neither true nor false")
        }
        isStrict = value
      default:
        settings.append(setting)
      }
    }
  }

  private static func setting(
    _ part: String, number: Int, of name: String, _ sources: ValueSources, example: (String) -> String?
  ) throws(ConfigurationError) -> Setting {
    guard let equals = part.unicodeScalars.firstIndex(of: "="), equals > part.startIndex else {
      // The error contains no value: it may be a secret, and this may be the rest of one that has a comma.
      let setting = example(name).map { "write \(name),\($0); " } ?? ""
      throw ConfigurationError(
        interceptor: name, reason: "setting \(number) is not of the form KEY=VALUE",
        hint: "\(setting)a comma within a value is written twice: ,,")
    }
    let key = String(part[..<equals])
    let value = part[part.unicodeScalars.index(after: equals)...]
    do {
      return Setting(key: key, value: try sources.resolve(value))
    } catch {
      throw ConfigurationError(interceptor: name, key: key, reason: error.reason)
    }
  }

  /// Splits at single commas; two are one that does not split.
  ///
  /// By Unicode scalars: a `Character` would join a comma with the combining scalar after it.
  private static func split(_ text: String) -> [String] {
    var parts = [""]
    var rest = text.unicodeScalars[...]
    while let comma = rest.firstIndex(of: ",") {
      parts[parts.count - 1] += String(rest[..<comma])
      rest = rest[rest.index(after: comma)...]
      if rest.first == "," {
        parts[parts.count - 1] += ","
        rest = rest.dropFirst()
      } else {
        parts.append("")
      }
    }
    parts[parts.count - 1] += String(rest)
    return parts
  }
}
