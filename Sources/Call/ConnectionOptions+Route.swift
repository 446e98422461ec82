import RPCurlBase
import RPCurlTransport

extension ConnectionOptions {
  /// The options that select the server or the identity of the client, as text; empty if none is set.
  var route: String {
    // The proxy may select the server as well: a name may resolve differently there.
    let options: [(name: String, value: String?)] = [
      ("unix", unixSocket), ("abstract", abstractUnixSocket), ("sni", serverName),
      ("certificate", certificate?.file), ("key", certificate?.keyFile), ("netrc", netrcFile),
      ("certificate-pem", certificate?.pem.map { SHA256.digest(of: $0) }),
      ("key-pem", certificate?.keyPEM.map { SHA256.digest(of: $0) }),
      ("authorities-pem", authoritiesPEM.map { SHA256.digest(of: $0) }), ("authorities", authoritiesFile),
      ("directory", authoritiesDirectory), ("proxy", proxy),
      ("insecure", isInsecure ? "" : nil),
      ("connect-to", connectTo.isEmpty ? nil : connectTo.joined(separator: " ")),
      ("resolve", resolve.isEmpty ? nil : resolve.joined(separator: " ")),
    ]
    return options.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: "\n")
  }
}
