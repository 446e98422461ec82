import RPCurlBase
import RPCurlPlatform
import RPCurlProtocols
import RPCurlTransport

/// Where a request goes: only to this machine, or beyond it.
///
/// The URL's host alone does not decide that. A proxy, an address for the host, or a Unix socket may redirect
/// it.
struct Route {
  private let options: ConnectionOptions
  private let addresses: [String]
  private let environment: (String) -> String?

  /// Makes the route of a request.
  ///
  /// - Parameters:
  ///   - options: The connection options.
  ///   - formerAddresses: The `resolve` entries of earlier requests, which libcurl applies to all later ones.
  ///   - environment: Returns the value of a variable.
  init(
    _ options: ConnectionOptions, formerAddresses: [String] = [],
    environment: @escaping (String) -> String? = EnvironmentVariables.value
  ) {
    self.options = options
    addresses = options.resolve + formerAddresses
    self.environment = environment
  }

  /// Where a request to `origin` could be read by others, in words; nil if TLS protects it or it stays on
  /// this machine.
  func exposure(of origin: Origin) -> String? {
    guard origin.scheme != "https", options.unixSocket == nil, options.abstractUnixSocket == nil else {
      return nil
    }
    // The next hop of a local proxy is unknown.
    if isProxied(origin) { return "to \(origin) through a proxy" }
    if let other = options.connectTo.first(where: { !Self.staysLocal($0) }) {
      return "to \(origin), which may be replaced by \(other),"
    }
    let given = addresses.flatMap { Self.addresses(in: $0, for: origin) }
    if let remote = given.first(where: { !Origin.isLocal(host: $0) }) {
      return "to \(origin), which is given the address \(remote),"
    }
    return given.isEmpty && !origin.isLocal ? "to \(origin)" : nil
  }

  /// Throws if the request carries credentials that would be sent unprotected.
  func check(_ start: RequestStart) throws(RPCError) {
    guard let credentials = start.credentials, !credentials.allowsPlaintext,
      credentials.headerNames.contains(where: { start.headers.first($0) != nil }),
      let origin = Origin(url: start.target), let exposure = exposure(of: origin)
    else { return }
    throw RPCError(.unauthenticated, Credentials.refusal(exposure), origin: .client)
  }

  // MARK: Addresses

  /// Whether `HOST:PORT:HOST:PORT` connects to this machine, or to the called host.
  private static func staysLocal(_ entry: String) -> Bool {
    // The second host starts after the second colon outside of brackets.
    var depth = 0
    var colons = 0
    var host = ""
    for character in entry.lowercased() {
      switch character {
      case "[": depth += 1
      case "]": depth -= 1
      case ":" where depth == 0: colons += 1
      default: if colons == 2 { host.append(character) }
      }
    }
    return host.isEmpty || Origin.isLocal(host: host)
  }

  /// The addresses that `[+]HOST:PORT:ADDRESS[,ADDRESS…]` gives to a server.
  private static func addresses(in entry: String, for origin: Origin) -> [String] {
    let entry = entry.lowercased().drop { $0 == "+" }
    let host: Substring
    var rest: Substring
    if entry.hasPrefix("["), let end = entry.firstIndex(of: "]") {
      host = entry[..<end].dropFirst()
      rest = entry[end...].dropFirst()
    } else {
      host = entry.prefix { $0 != ":" }
      rest = entry[host.endIndex...]
    }
    rest = rest.dropFirst()
    guard host == "*" || host == origin.host, let colon = rest.firstIndex(of: ":"),
      Int(rest[..<colon]) == origin.port
    else { return [] }
    return rest[colon...].dropFirst().split(separator: ",").map { address in
      address.hasPrefix("[") ? String(address.dropFirst().prefix { $0 != "]" }) : String(address)
    }
  }

  // MARK: Proxies

  private func isProxied(_ origin: Origin) -> Bool {
    let url = "\(origin.scheme)://\(origin)"
    // A misjudged network could send credentials to a proxy.
    return ProxyAddress.setting(for: url, options, exemptsNetworks: false, environment: environment) != nil
  }
}
