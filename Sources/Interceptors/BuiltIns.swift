import RPCurlBase
import RPCurlChain
import RPCurlScripts

/// The built-in interceptors.
package enum BuiltIns {
  /// A key of an interceptor's configuration.
  package struct Key: Sendable, Equatable {
    /// The key with the form of its value, such as `set=NAME:VALUE`.
    package let form: String
    /// What it does, in one line, with the default.
    package let summary: String
    /// The value that applies if the key is not given; nil without a default.
    package let defaultValue: String?
    /// The keys of which one must be given for this one to matter; empty if it always does.
    private let uses: [String]
    /// The keys that replace the default.
    private let replacements: [String]
    /// Whether it may be given more than once.
    package let mayRepeat: Bool
    /// Whether its value is secret.
    package let isSecret: Bool
    /// Whether the interceptor reads a value that is elsewhere, for each call, and not the parser.
    package let isReadLater: Bool
    /// Whether its value is a file of the whole run that the interceptor writes.
    package let isOutput: Bool

    /// The key alone.
    package var name: String { form.prefix { $0 != "=" }.description }

    /// Whether the value is the path of a file that is read or written.
    package var namesFile: Bool { form.hasSuffix("FILE") }

    /// Whether the value is a command that is run.
    package var isCommand: Bool { form.hasSuffix("=COMMAND") }

    /// Whether the value is a condition.
    package var isCondition: Bool { form.hasSuffix("=CONDITION") }

    /// Whether the value is `NAME:VALUE`, whose second part may be elsewhere.
    package var hasNamedValue: Bool { form.hasSuffix("=NAME:VALUE") }

    /// Whether the key matters besides the settings with the given keys.
    fileprivate func matters(besides given: Set<String>) -> Bool {
      uses.isEmpty || !given.isDisjoint(with: uses)
    }

    /// The default as `KEY=VALUE`, if it applies besides the settings with the given keys.
    fileprivate func defaultSetting(besides given: Set<String>) -> String? {
      guard let defaultValue, !given.contains(name), given.isDisjoint(with: replacements),
        matters(besides: given)
      else { return nil }
      return "\(name)=\(defaultValue)"
    }

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - form: The key with the form of its value.
    ///   - summary: What it does, in one line.
    ///   - value: The value that applies if the key is not given.
    ///   - uses: The keys of which one must be given for this one to matter; empty if it always does.
    ///   - replacements: The keys that replace the default.
    ///   - mayRepeat: Whether it may be given more than once.
    ///   - isSecret: Whether its value is secret.
    ///   - isReadLater: Whether the interceptor reads a value that is elsewhere, for each call.
    ///   - isOutput: Whether its value is a file of the whole run that the interceptor writes.
    package init(
      _ form: String, _ summary: String, default value: String? = nil, for uses: [String] = [],
      unless replacements: [String] = [], mayRepeat: Bool = false, isSecret: Bool = false,
      isReadLater: Bool = false, isOutput: Bool = false
    ) {
      self.form = form
      self.summary = value.map { "\(summary) (\($0))" } ?? summary
      defaultValue = value
      self.uses = uses
      self.replacements = replacements
      self.mayRepeat = mayRepeat
      self.isSecret = isSecret
      self.isReadLater = isReadLater
      self.isOutput = isOutput
    }
  }

  /// The documentation of an interceptor.
  package struct Description: Sendable {
    /// Its name.
    package let name: String
    /// What it does, in one line.
    package let summary: String
    /// Its keys.
    package let keys: [Key]
    /// Earlier keys, with what to write instead of one with a value.
    var replaced: [String: @Sendable (_ value: String) -> String] = [:]
    /// Whether it holds no credentials, and sends nothing of the environment or of files.
    package var isHarmless = false
    /// The defaults that apply besides given settings, as `KEY=VALUE`.
    ///
    /// - Parameter given: The keys of the settings.
    package func defaults(besides given: Set<String>) -> [String] {
      keys.compactMap { $0.defaultSetting(besides: given) }
    }

    let make:
      @Sendable (SettingsReader, any InterceptorServices) throws(ConfigurationError) -> any InterceptorFactory
  }

  /// All built-in interceptors, by name.
  package static let all = [
    AssertFactory.description,
    AuthFactory.description,
    BreakerFactory.description,
    CacheFactory.description,
    DeadlineFactory.description,
    EditFactory.description,
    FaultFactory.description,
    HeaderFactory.description,
    HedgeFactory.description,
    LimitFactory.description,
    LogFactory.description,
    MetricsFactory.description,
    MockFactory.description,
    RecordFactory.description,
    ReplayFactory.description,
    RetryFactory.description,
    .script,
    ShadowFactory.description,
    TraceFactory.description,
    .validate,
  ]

  /// Whether the interceptors of a name hold no credentials.
  package static func areHarmless(_ name: String) -> Bool {
    all.first { $0.name == name }?.isHarmless == true
  }

  /// Makes the factory of an interceptor.
  ///
  /// - Throws: ``ConfigurationError`` if there is none with this name, or it rejects its configuration; the
  ///   error names the key.
  package static func factory(
    named name: String, configuration: InterceptorSpec, services: any InterceptorServices
  ) throws(ConfigurationError) -> any InterceptorFactory {
    guard let found = all.first(where: { $0.name == name }) else {
      throw ConfigurationError(
        interceptor: InterceptorSpec.word(of: name), reason: "no built-in interceptor has this name",
        hint: correction(of: name).map { "did you mean \($0)?" }
          ?? "built-in: \(all.map(\.name).joined(separator: ", ")); load plugins with --plugin, scripts with --script"
      )
    }
    do throws(ConfigurationError) {
      return try found.make(SettingsReader(configuration, found), services)
    } catch {
      AssertReport.add(error, configuration, services)
      throw error
    }
  }

  /// What was probably meant by a name: `retry` by `retries`, `retry,attempts=…` by `retry:attempts=3`, and
  /// `record,file=…` by `record=c.rec`.
  private static func correction(of name: String) -> String? {
    let word = InterceptorSpec.word(of: name)
    let known = all.first { $0.name == word }
    guard word.utf8.count < name.utf8.count else {
      return all.first { name.hasPrefix($0.name.utf8.count > 4 ? $0.name.dropLast() : $0.name[...]) }?.name
        ?? EditDistance.nearest(to: name, among: all.map(\.name), limit: 1).first
    }
    guard let known else { return nil }
    let rest = name.dropFirst(word.count + 1)
    let key = rest.contains("=") ? rest.prefix { $0 != "=" } : (known.keys.first?.name ?? "KEY")[...]
    return "\(known.name),\(key)=…"
  }

  /// Parses the argument of a `--use` option.
  ///
  /// - Parameters:
  ///   - text: `NAME[,KEY=VALUE…]`.
  ///   - sources: Reads the values that are elsewhere.
  /// - Throws: An error that names the interceptor and the key, and never contains a value.
  package static func spec(
    parsing text: String, sources: ValueSources
  ) throws(ConfigurationError) -> InterceptorSpec {
    try InterceptorSpec(
      parsing: text, sources: sources,
      readsLater: { name, key in self.key(key, of: name)?.isReadLater ?? false },
      example: { name in all.first { $0.name == name }?.keys.first?.form })
  }

  /// A key of an interceptor; nil if there is none.
  package static func key(_ key: some StringProtocol, of name: some StringProtocol) -> Key? {
    all.first { $0.name == name }?.keys.first { $0.name == key }
  }

  /// Makes the registration for a `--use` option.
  package static func registration(
    _ spec: InterceptorSpec, services: any InterceptorServices
  ) throws(ConfigurationError) -> InterceptorRegistration {
    var spec = spec
    let given = Set(spec.settings.map(\.key))
    let found = all.first { $0.name == spec.name }
    let keys = (found?.keys ?? []).filter { $0.matters(besides: given) }.map(\.name)
    try spec.takeCommonSettings(ownKeys: Set(keys).union(found?.replaced.keys.map(\.self) ?? []))
    let files = ObservedServices(services)
    let factory = try factory(named: spec.name, configuration: spec, services: files)
    let script = factory as? ScriptFactory
    var registration = InterceptorRegistration(script?.name ?? spec.name, factory, spec.common)
    if let script, registration.scope.methods.selectsAll { registration.scope.methods = script.methods }
    let digests = files.takeDigests()
    registration.fingerprint = InterceptorFingerprint(spec.name, spec.settings) { digests }
    return registration
  }
}
