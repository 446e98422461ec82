import RPCurlChain
import RPCurlLanguage

/// Makes a script an interceptor.
package struct ScriptFactory: InterceptorFactory {
  private let host: ScriptHost
  /// The name in logs and errors.
  package let name: String

  /// Starts the script, and waits for its first line.
  ///
  /// - Throws: ``ConfigurationError`` if it does not start, or its first line is invalid.
  package init(_ settings: ScriptSettings) throws(ConfigurationError) {
    name = settings.name
    do throws(LanguageError) {
      host = try ScriptHost(settings)
    } catch {
      throw ConfigurationError(interceptor: settings.name, reason: error.reason, hint: error.hint)
    }
  }

  /// Makes the script of a host an interceptor.
  init(_ host: ScriptHost, name: String) {
    (self.host, self.name) = (host, name)
  }

  package var declaration: InterceptorDeclaration { host.declaration }

  /// The methods that the script wants.
  package var methods: Selection<MethodPattern> { host.hello.methods }

  /// Why the script has failed; nil if it runs or has ended.
  package var failure: LanguageError? { host.failure }

  /// What the script says about itself in its first line.
  package var hello: ScriptHello { host.hello }

  package func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    try host.make(call, context)
  }

  package func attach(_ network: FactoryNetwork) { host.attach(network) }

  package func conclude(_ network: FactoryNetwork, _ completion: @escaping @Sendable () -> Void) {
    host.conclude(completion)
  }
}
