import RPCurlBase
import RPCurlPlatform
import RPCurlProtocols

/// The proxy of a transfer.
package enum ProxyAddress {
  /// The proxy for `url` as it is set: by `options`, else by the environment; nil if none is set, for a host that `no_proxy`
  /// exempts from both, and for a Unix socket.
  ///
  /// - Parameters:
  ///   - exemptsNetworks: Whether the networks of `no_proxy` count.
  ///   - environment: Returns the value of a variable.
  package static func setting(
    for url: String, _ options: ConnectionOptions, exemptsNetworks: Bool = true,
    environment: (String) -> String? = EnvironmentVariables.value
  ) -> String? {
    guard options.unixSocket == nil, options.abstractUnixSocket == nil,
      let proxy = options.proxy ?? variable(url, environment), !proxy.isEmpty
    else { return nil }
    let isExempt = Origin(url: url).map {
      ProxyExemption.exempts($0.host, includesNetworks: exemptsNetworks, environment: environment)
    }
    return isExempt == true ? nil : proxy
  }

  /// The URL of the proxy for `url`, without credentials, for error messages; nil without a proxy.
  ///
  /// - Parameter environment: Returns the value of a variable.
  static func name(
    for url: String, _ options: ConnectionOptions,
    environment: (String) -> String? = EnvironmentVariables.value
  ) -> String? {
    guard let proxy = setting(for: url, options, environment: environment) else { return nil }
    let scheme = proxy.firstRange(of: "://").map { proxy[..<$0.upperBound] } ?? "http://"
    let rest = proxy.firstRange(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...]
    // A password may contain any character, so the host follows the last "@".
    let authority = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
    return "\(scheme)\(authority.prefix { $0 != "/" })"
  }

  /// Looks up the variable like libcurl: one that is not empty, lower case first, and never `HTTP_PROXY`, which a CGI
  /// request could set.
  private static func variable(_ url: String, _ environment: (String) -> String?) -> String? {
    let names = url.hasPrefix("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    return (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap(environment).first { !$0.isEmpty }
  }
}
