import RPCurlChain
import RPCurlClient
import RPCurlInterceptors

/// A built-in interceptor of rpcurl, such as `retry`, `mock`, `record` or `header`.
///
/// ```swift
/// let retry = try BuiltIn("retry", ["attempts": "3", "methods": "demo.v1.Demo/*"])
/// try await withRPCClient(target, schema: schema, interceptors: [retry, Tenant()]) { client in … }
/// ```
///
/// The manual page of an interceptor describes its settings: rpcurl-retry(7) those of `retry`. The section INTERCEPTORS of
/// rpcurl(1) describes those of every interceptor, such as `methods` and `priority`.
public struct BuiltIn: ChainMember {
  /// The interceptor's place on the chain.
  public let registration: InterceptorRegistration

  /// Makes an interceptor of its name and settings, whose values are used unchanged.
  ///
  /// - Parameters:
  ///   - name: The name: `retry`.
  ///   - settings: The settings, in order. A key may repeat where the manual allows it. Values are literal: ``init(parsing:)`` reads
  ///     those that are elsewhere.
  /// - Throws: `RPCError` with the code `invalidArgument` if no interceptor has the name, a setting is invalid, or a file
  ///   cannot be read.
  public init(_ name: String, _ settings: KeyValuePairs<String, String> = [:]) throws(RPCError) {
    let settings = settings.map { InterceptorSpec.Setting(key: $0.key, value: $0.value) }
    try self.init(InterceptorSpec(name: name, settings: settings))
  }

  /// Makes an interceptor of the argument of `--use`.
  ///
  /// - Parameter text: Name and settings: `retry,attempts=3`. Two commas are one, `@FILE` is the content of a file,
  ///   `env:NAME` is a variable of the environment, and `cmd:COMMAND` is what a command prints.
  /// - Throws: `RPCError` with the code `invalidArgument` if no interceptor has the name, a setting is invalid, or a file
  ///   cannot be read.
  public init(parsing text: String) throws(RPCError) {
    let spec: InterceptorSpec
    do throws(ConfigurationError) {
      spec = try BuiltIns.spec(parsing: text, sources: .system(waitLimit: nil))
    } catch {
      throw RPCError(error)
    }
    try self.init(spec)
  }

  private init(_ spec: InterceptorSpec) throws(RPCError) {
    do throws(ConfigurationError) {
      registration = try BuiltIns.registration(
        spec, services: SystemServices(waitLimit: nil))
    } catch {
      throw RPCError(error)
    }
  }
}

extension RPCError {
  /// An invalid configuration of an interceptor, with what to do instead.
  fileprivate init(_ error: ConfigurationError) {
    let hint = error.hint.map { "; \($0)" } ?? ""
    self.init(.invalidArgument, error.description + hint, origin: .configuration(error.interceptor))
  }
}
