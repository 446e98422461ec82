import RPCurlPlatform
import RPCurlProtocols

/// Where the addresses of a server come from, of which libcurl uses the first that accepts a connection.
enum AddressSource: Equatable {
  /// The connection is made to a proxy, a Unix socket or this machine.
  case none
  /// These addresses.
  case addresses([String], port: Int)
  /// The system resolves the name.
  case name(String, port: Int)

  /// Finds the source, as libcurl does.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - options: The options of its connections.
  init(_ url: String, _ options: ConnectionOptions) {
    guard let origin = Origin(url: url), options.unixSocket == nil, options.abstractUnixSocket == nil,
      ProxyAddress.setting(for: url, options) == nil || ProxyExemption.exempts(origin.host)
    else {
      self = .none
      return
    }
    var (host, port) = (origin.host, origin.port)
    for entry in options.connectTo {
      let parts = Self.parts(entry)
      guard parts.count == 4, parts[0].isEmpty || parts[0] == host,
        parts[1].isEmpty || Int(parts[1]) == port
      else { continue }
      if !parts[2].isEmpty { host = parts[2] }
      port = Int(parts[3]) ?? port
      break
    }
    // The last entry for a host replaces the others.
    for entry in options.resolve.reversed() {
      let parts = Self.parts(entry.hasPrefix("+") ? String(entry.dropFirst()) : entry, limit: 2)
      guard parts.count == 3, parts[0] == host || parts[0] == "*", Int(parts[1]) == port else { continue }
      let addresses = parts[2].split(separator: ",").map { String($0.filter { $0 != "[" && $0 != "]" }) }
      self = .addresses(addresses, port: port)
      return
    }
    if host == "localhost" || host.hasSuffix(".localhost") {
      // libcurl does not resolve it: both of its addresses are this machine.
      self = .none
    } else if IPAddress.bytes(host) != nil {
      self = .addresses([host], port: port)
    } else {
      self = .name(host, port: port)
    }
  }

  /// The parts of an entry between colons, in lower case, of which those in the brackets of an IPv6 address do not count.
  private static func parts(_ entry: String, limit: Int = 3) -> [String] {
    var parts = [""]
    var isInBrackets = false
    for character in entry.lowercased() {
      switch character {
      case "[" where parts.count <= limit: isInBrackets = true
      case "]" where parts.count <= limit: isInBrackets = false
      case ":" where !isInBrackets && parts.count <= limit: parts.append("")
      default: parts[parts.count - 1].append(character)
      }
    }
    return parts
  }
}

/// An address of a server.
package struct ServerAddress: Sendable, Equatable {
  /// The address and the port, such as `127.0.0.1:50051` or `[::1]:50051`.
  package let text: String

  init(_ address: String, port: Int) {
    text = "\(address.contains(":") ? "[\(address)]" : address):\(port)"
  }
}

extension ConnectionOptions {
  /// The options for connections to one address of the server. Its name for TLS stays.
  package func connecting(to address: ServerAddress) -> ConnectionOptions {
    var options = self
    options.connectTo = ["::\(address.text)"]
    return options
  }
}

/// Finds the addresses of a server that accept connections, over which its calls can be spread.
package final class AddressSearch {
  private let url: String
  private let options: ConnectionOptions
  private unowned let loop: EventLoop
  private var lookup: AddressLookup?
  private var probes: [ConnectionProbe] = []
  private var results: [TransportError?] = []
  private var candidates: [ServerAddress] = []
  private var missing = 0
  private var completion: (() -> Void)?
  /// Whether the search has ended.
  package private(set) var isOver = false

  /// Starts a search.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - options: The options of its connections.
  ///   - loop: The loop that makes connections to the addresses.
  ///   - completion: Called once, at the end, unless the search is over at once or is canceled.
  package init(
    of url: String, _ options: ConnectionOptions, loop: EventLoop, completion: @escaping () -> Void = {}
  ) {
    (self.url, self.options, self.loop) = (url, options, loop)
    switch AddressSource(url, options) {
    case .none: finish()
    case .addresses(let addresses, let port): connect(to: addresses, port)
    case .name(let host, let port): lookUp(host, port)
    }
    if !isOver { self.completion = completion }
  }

  /// Ends the search.
  package func cancel() {
    completion = nil
    finish()
  }

  /// The addresses that accept connections, in the order of the system.
  package var addresses: [ServerAddress] {
    zip(candidates, results).filter { $1 == nil }.map(\.0)
  }

  /// The addresses that do not, and why.
  package var failures: [(address: ServerAddress, error: TransportError)] {
    zip(candidates, results).compactMap { address, error in error.map { (address, $0) } }
  }

  private func lookUp(_ host: String, _ port: Int) {
    let version = options.ipVersion.map { $0 == .v4 ? 4 : 6 }
    guard let lookup = AddressLookup(host, version: version) else { return finish() }
    self.lookup = lookup
    loop.watch(lookup.descriptor) { [weak self] in
      guard let self, let found = self.lookup else { return }
      loop.unwatch(found.descriptor)
      self.lookup = nil
      connect(to: found.addresses, port)
    }
  }

  /// Makes a connection to each address, since libcurl would only use another one instead of one that fails.
  private func connect(to addresses: [String], _ port: Int) {
    candidates = addresses.map { ServerAddress($0, port: port) }
    results = candidates.map { _ in nil }
    missing = candidates.count
    guard missing > 1 else { return finish() }
    for (index, address) in candidates.enumerated() {
      do throws(TransportError) {
        let probe = try ConnectionProbe(url, options.connecting(to: address), .connect, loop: loop) {
          [weak self] facts in self?.receive(facts.error, of: index)
        }
        probes.append(probe)
        probe.start(limit: options.connectTimeout)
      } catch {
        receive(error, of: index)
      }
    }
  }

  private func receive(_ error: TransportError?, of index: Int) {
    results[index] = error
    missing -= 1
    if missing == 0 { finish() }
  }

  private func finish() {
    isOver = true
    if let lookup { loop.unwatch(lookup.descriptor) }
    lookup = nil
    for probe in probes { probe.cancel() }
    probes = []
    let completion = self.completion
    self.completion = nil
    completion?()
  }
}
