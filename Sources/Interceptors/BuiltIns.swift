import Interception

/// The built-in interceptors.
package enum BuiltIns {
  /// A key of an interceptor's configuration.
  package struct Key: Sendable, Equatable {
    /// The key with the form of its value, such as `set=NAME:VALUE`.
    package let form: String
    /// What it does, in one line.
    package let summary: String
    /// Whether it may be given more than once.
    package let mayRepeat: Bool

    /// The key alone.
    package var name: String { form.prefix { $0 != "=" }.description }

    /// Makes a key.
    package init(_ form: String, _ summary: String, mayRepeat: Bool = false) {
      self.form = form
      self.summary = summary
      self.mayRepeat = mayRepeat
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
    let make:
      @Sendable (SettingsReader, any InterceptorServices) throws(ConfigurationError) -> any InterceptorFactory
  }

  /// All built-in interceptors, by name.
  package static let all = [
    AssertFactory.description,
    AuthFactory.description,
    FaultFactory.description,
    HeaderFactory.description,
    LogFactory.description,
    MockFactory.description,
    RecordFactory.description,
    ReplayFactory.description,
    RetryFactory.description,
  ]

  /// Makes the factory of an interceptor.
  ///
  /// - Throws: ``ConfigurationError`` if there is none with this name, or it rejects its configuration; the
  ///   error names the key.
  package static func factory(
    named name: String, configuration: InterceptorSpec, services: any InterceptorServices
  ) throws(ConfigurationError) -> any InterceptorFactory {
    guard let found = all.first(where: { $0.name == name }) else {
      throw ConfigurationError(
        interceptor: name, reason: "no built-in interceptor has this name",
        hint:
          "built-in: \(all.map(\.name).joined(separator: ", ")); load plugins with --plugin"
      )
    }
    return try found.make(SettingsReader(configuration, found), services)
  }

  /// Makes the registration for a `--use` option.
  package static func registration(
    _ spec: InterceptorSpec, services: any InterceptorServices
  ) throws(ConfigurationError) -> InterceptorRegistration {
    InterceptorRegistration(
      name: spec.name, factory: try factory(named: spec.name, configuration: spec, services: services),
      priority: spec.priority,
      methods: spec.methods)
  }
}
