import RPCurlLanguage
import RPCurlProtocols

/// The settings of every interceptor, which the chain interprets: the place on the chain, and the calls that pass
/// through it.
package struct CommonSettings: Sendable, Equatable {
  /// A key, with the form of its value and a description.
  package struct Key: Sendable {
    /// The key with the form of its value, such as `priority=N`.
    package let form: String
    /// What it does, in one line.
    package let summary: String
    /// Whether it may be given more than once.
    package var mayRepeat = false
    /// The key alone.
    package var name: String { form.prefix { $0 != "=" }.description }
  }

  /// The keys of every interceptor. Where an interceptor has a key of the same name, the key is the interceptor's, and
  /// with ``prefix`` it is the chain's; `priority`, `methods` and `strict` are always the chain's.
  package static let keys = [
    Key(form: "priority=N", summary: "higher is earlier on the request path (0)"),
    Key(form: "before=NAME", summary: "place it before this interceptor", mayRepeat: true),
    Key(form: "after=NAME", summary: "place it after this interceptor", mayRepeat: true),
    Key(form: "methods=PATTERN+!PATTERN", summary: "skip it for other methods"),
    Key(form: "kinds=KIND+KIND", summary: "skip it for other kinds of methods"),
    Key(form: "hosts=HOST+*.DOMAIN", summary: "skip it for other servers"),
    Key(
      form: "header=NAME [OP VALUE]", summary: "skip it unless the request header meets this condition",
      mayRepeat: true),
    Key(
      form: "attribute=KEY [OP VALUE]",
      summary: "skip it unless the attribute of the call meets this condition",
      mayRepeat: true),
    Key(form: "percent=NUMBER", summary: "apply it to this share of the calls"),
    Key(form: "seed=N", summary: "random seed of percent, for repeatable runs"),
  ]

  /// The keys whose values are conditions.
  package static let conditions = keys.filter { $0.form.hasSuffix(" [OP VALUE]") }.map(\.name)

  /// Makes a key the chain's, where the interceptor has one of the same name.
  package static let prefix = "chain-"
  private static let reserved: Set<String> = ["priority", "methods", "strict"]

  /// Higher comes first on the request path.
  package var priority = 0
  /// The names of interceptors that it precedes.
  package var before: [String] = []
  /// The names of interceptors that it follows.
  package var after: [String] = []
  /// The calls that pass through it.
  package var scope = CallScope.all
  /// Whether a plugin's misuse of its interface fails calls; otherwise it is only logged.
  package var isStrict = false

  /// Makes the settings of an interceptor without any.
  package init() {}

  /// Takes the common settings out of those of an interceptor.
  ///
  /// - Parameters:
  ///   - settings: All settings; those that are left are the interceptor's.
  ///   - name: The interceptor.
  ///   - ownKeys: The keys of the interceptor; nil takes only those that no interceptor can have.
  /// - Throws: An error that names the key.
  mutating func take(
    from settings: inout [InterceptorSpec.Setting], of name: String, ownKeys: Set<String>?
  ) throws(ConfigurationError) {
    var rest: [InterceptorSpec.Setting] = []
    var seen: Set<String> = []
    for setting in settings {
      guard let key = Self.commonKey(setting.key, ownKeys), let entry = Self.entry(key) else {
        rest.append(setting)
        continue
      }
      do throws(LanguageError) {
        guard seen.insert(key).inserted || entry.mayRepeat else { throw LanguageError("is set twice") }
        try set(key, setting.value)
      } catch {
        throw ConfigurationError(interceptor: name, key: setting.key, error)
      }
    }
    if ownKeys != nil { try takeSeed(from: &rest, of: name, ownKeys ?? []) }
    settings = rest
  }

  /// The common key that a key of a setting names; nil if it is the interceptor's.
  private static func commonKey(_ key: String, _ ownKeys: Set<String>?) -> String? {
    if reserved.contains(key) { return key }
    guard let ownKeys, key != "seed", !ownKeys.contains(key) else { return nil }
    let name = key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : key
    return entry(name) == nil ? nil : name
  }

  private static func entry(_ key: String) -> Key? {
    key == "strict" ? Key(form: "strict=true", summary: "") : keys.first { $0.name == key }
  }

  /// A seed is the interceptor's too, if it has this key.
  private mutating func takeSeed(
    from settings: inout [InterceptorSpec.Setting], of name: String, _ ownKeys: Set<String>
  ) throws(ConfigurationError) {
    guard scope.percent != nil else {
      guard scope.seed == nil else {
        throw ConfigurationError(interceptor: name, key: "\(Self.prefix)seed", reason: "requires percent")
      }
      return
    }
    guard scope.seed == nil, let setting = settings.first(where: { $0.key == "seed" }) else { return }
    guard let seed = UInt64(setting.value) else {
      throw ConfigurationError(interceptor: name, key: "seed", reason: "must be a whole number, 0 or more")
    }
    scope.seed = seed
    if !ownKeys.contains("seed") { settings.removeAll { $0.key == "seed" } }
  }

  // MARK: - Values

  private mutating func set(_ key: String, _ value: String) throws(LanguageError) {
    switch key {
    case "priority":
      guard let number = Int(value) else { throw LanguageError("not a whole number") }
      priority = number
    case "strict":
      guard let flag = Bool(value) else { throw LanguageError("neither true nor false") }
      isStrict = flag
    case "before": before += try Self.names(value)
    case "after": after += try Self.names(value)
    case "methods":
      scope.methods = try Selection(
        parsing: value, "none of pkg.Service/Method, pkg.Service/*, pkg.*/*, */Method, *"
      ) { MethodPattern($0) }
    case "kinds":
      let kinds = CallKind.allCases.map(\.rawValue).joined(separator: ", ")
      scope.kinds = try Selection(parsing: value, "must be of \(kinds)") { CallKind(rawValue: String($0)) }
    case "hosts":
      scope.hosts = try Self.hosts(value)
    case "header":
      scope.headers.append(try ScopeCondition(header: value))
    case "attribute":
      scope.attributes.append(try ScopeCondition(attribute: value))
    case "percent":
      guard let number = Double(value), (0...100).contains(number) else {
        throw LanguageError("must be a number from 0 to 100")
      }
      scope.percent = number
    default:
      guard let seed = UInt64(value) else { throw LanguageError("must be a whole number, 0 or more") }
      scope.seed = seed
    }
  }

  /// Parses the value of `hosts`, also for an interceptor with a key of its own.
  package static func hosts(_ text: String) throws(LanguageError) -> Selection<HostPattern> {
    try Selection(parsing: text, "must be HOST, HOST:PORT or *.DOMAIN") { HostPattern($0) }
  }

  private static func names(_ text: String) throws(LanguageError) -> [String] {
    let names = text.split(separator: "+").map { String($0) }
    guard !names.isEmpty, !names.contains("?") else {
      throw LanguageError("must be the name of an interceptor")
    }
    return names
  }
}

extension InterceptorRegistration {
  /// Makes the registration of an interceptor with these settings.
  package init(_ name: String, _ factory: any InterceptorFactory, _ settings: CommonSettings) {
    self.init(
      name: name, factory: factory, priority: settings.priority, before: settings.before,
      after: settings.after,
      scope: settings.scope)
  }
}
