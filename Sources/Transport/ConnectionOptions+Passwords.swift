import RPCurlProtobuf
import RPCurlProtocols

extension ConnectionOptions {
  /// The passwords that libcurl adds to requests: those for the proxies of all URLs, and those of the netrc file.
  package var passwords: [String] {
    var passwords = netrcFile.map { NetrcFile($0).logins.map(\.password) } ?? []
    // A password may contain any character, so the host follows the last "@".
    let logins = ["http:", "https:"].map { url -> String? in
      guard let proxy = ProxyAddress.setting(for: url, self) else { return nil }
      let rest = proxy.firstRange(of: "://").map { proxy[$0.upperBound...] } ?? proxy[...]
      return rest.lastIndex(of: "@").map { String(rest[..<$0]) }
    }
    for login in [proxyCredentials] + logins {
      guard let login, let colon = login.firstRange(of: ":") else { continue }
      let password = String(login[colon.upperBound...])
      passwords += [password, PercentEncoding.decode(password)]
    }
    return passwords
  }
}
