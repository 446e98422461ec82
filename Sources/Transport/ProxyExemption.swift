import RPCProtocols

/// The hosts that `no_proxy` exempts from the proxy.
package enum ProxyExemption {
  /// Whether `no_proxy` exempts a host: all hosts, a host, a domain, or a network.
  ///
  /// - Parameters:
  ///   - host: The host of a URL.
  ///   - includesNetworks: Whether the networks of the list count.
  ///   - environment: Returns the value of a variable.
  package static func exempts(
    _ host: some StringProtocol, includesNetworks: Bool = true,
    environment: (String) -> String? = EnvironmentVariables.value
  ) -> Bool {
    // libcurl ignores an empty variable.
    let lists = ["no_proxy", "NO_PROXY"].lazy.compactMap(environment).filter { !$0.isEmpty }
    guard let list = lists.first else { return false }
    if list == "*" { return true }
    let host = withoutBrackets(host.lowercased())
    let address = IPAddress.bytes(host)
    return entries(of: list.lowercased()).contains { entry in
      let name = withoutBrackets(entry.drop { $0 == "." })
      if let address, includesNetworks, contains(name, address) { return true }
      return !name.isEmpty && (host == name || address == nil && host.hasSuffix(".\(name)"))
    }
  }

  /// The entries, which commas separate. Like libcurl, the list ends at a blank that no comma follows.
  private static func entries(of list: String) -> [Substring] {
    var entries: [Substring] = []
    for part in list.split(separator: ",") {
      let text = part.drop(while: isBlank)
      entries.append(text.prefix { !isBlank($0) })
      if !text.drop(while: { !isBlank($0) }).allSatisfy(isBlank) { break }
    }
    return entries
  }

  private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

  private static func withoutBrackets(_ host: some StringProtocol) -> String {
    host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" }) : String(host)
  }

  /// Whether a network such as `10.0.0.0/8` contains an address.
  private static func contains(_ network: String, _ address: [UInt8]) -> Bool {
    let parts = network.split(separator: "/", maxSplits: 1)
    guard parts.count == 2, let bits = Int(parts[1]), let start = IPAddress.bytes(parts[0]),
      start.count == address.count, (0...8 * start.count).contains(bits)
    else { return false }
    return (0..<bits).allSatisfy { (start[$0 / 8] ^ address[$0 / 8]) & (0x80 >> UInt8($0 % 8)) == 0 }
  }
}
