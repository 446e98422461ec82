import RPCurlPlatform
import RPCurlProtocols

/// The hosts that `no_proxy` exempts from the proxy.
enum ProxyExemption {
  /// Whether `no_proxy` exempts a host: all hosts, a host, a domain, or a network.
  ///
  /// - Parameters:
  ///   - host: The host of a URL.
  ///   - includesNetworks: Whether the networks of the list count.
  ///   - environment: Returns the value of a variable.
  static func exempts(
    _ host: some StringProtocol, includesNetworks: Bool = true,
    environment: (String) -> String? = EnvironmentVariables.value
  ) -> Bool {
    // libcurl ignores an empty variable.
    let lists = ["no_proxy", "NO_PROXY"].lazy.compactMap(environment).filter { !$0.isEmpty }
    guard let list = lists.first else { return false }
    if list == "*" { return true }
    var host = host.lowercased()
    if host.hasPrefix("[") { host = String(host.dropFirst().prefix { $0 != "]" }) }
    let address = IPAddress.bytes(host)
    if address == nil, host.hasSuffix(".") { host.removeLast() }
    return entries(of: list.lowercased()).contains { entry in
      if let address { return host == entry || includesNetworks && contains(entry, address) }
      var name = entry
      if name.hasSuffix(".") { name.removeLast() }
      if name.hasPrefix(".") { name.removeFirst() }
      return !name.isEmpty && (host == name || host.hasSuffix(".\(name)"))
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

  /// Whether an address, or a network such as `10.0.0.0/8`, contains an address. Like libcurl, it compares all bits if
  /// the size of the network is 0 or missing.
  private static func contains(_ network: Substring, _ address: [UInt8]) -> Bool {
    let parts = network.split(separator: "/", maxSplits: 1)
    guard let text = parts.first, let start = IPAddress.bytes(text), start.count == address.count else {
      return false
    }
    let size = parts.count == 2 ? Int(atoi(String(parts[1]))) : 0
    let bits = size == 0 ? 8 * start.count : size
    guard (0...8 * start.count).contains(bits) else { return false }
    return (0..<bits).allSatisfy { bit in
      let mask: UInt8 = 0x80 >> (bit % 8)
      return (start[bit / 8] ^ address[bit / 8]) & mask == 0
    }
  }
}
