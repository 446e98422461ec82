import RPCurlProtobuf
import RPCurlProtocols

extension ConnectionOptions {
  /// The passwords that libcurl adds to a request: that for the proxy, and those of the netrc file.
  package func passwords(for url: String) -> [String] {
    var passwords = netrcFile.map { NetrcFile($0).logins.map(\.password) } ?? []
    // A password may contain any character, so the host follows the last "@".
    let login = ProxyAddress.setting(for: url, self).flatMap { proxy -> String? in
      let rest = proxy.firstRange(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...]
      return rest.lastIndex(of: "@").map { String(rest[..<$0]) }
    }
    for login in [proxyCredentials, login] {
      guard let login, let colon = login.firstRange(of: ":") else { continue }
      let password = String(login[colon.upperBound...])
      passwords += [password, PercentEncoding.decode(password)]
    }
    return passwords
  }
}
