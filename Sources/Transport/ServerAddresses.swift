import RPCurlPlatform
import RPCurlProtocols

/// Where the addresses of a server come from, of which libcurl uses the first that accepts a connection.
package enum AddressSource: Equatable {
  /// The connection is made to a proxy or a Unix socket.
  case none
  /// libcurl does not resolve the name: both addresses of this machine.
  case localhost(port: Int)
  /// These addresses.
  case addresses([String], port: Int)
  /// The system resolves the name.
  case name(String, port: Int)

  /// Finds the source, as libcurl does.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - options: The options of its connections.
  package init(_ url: String, _ options: ConnectionOptions) {
    guard let origin = Origin(url: url), options.unixSocket == nil, options.abstractUnixSocket == nil,
      ProxyAddress.setting(for: url, options) == nil
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
      self = .localhost(port: port)
    } else if IPAddress.bytes(host) != nil {
      self = .addresses([host], port: port)
    } else {
      self = .name(host, port: port)
    }
  }

  /// Whether a connection to the server reaches a socket of this machine that listens, judging by names and addresses alone.
  ///
  /// - Parameters:
  ///   - host: The address of the socket.
  ///   - port: Its port.
  ///   - name: The name or address that its user gave.
  package func reaches(_ host: String, port: Int, name: String) -> Bool {
    let unspecified = ["0.0.0.0", "::"]
    switch self {
    case .localhost(port: port): return unspecified.contains(host) || Origin.isLocal(host: host)
    case .name(name.lowercased(), port: port): return true
    case .addresses(let addresses, port: port):
      guard let own = IPAddress.bytes(host) else { return false }
      return addresses.contains {
        // A socket at the unspecified IPv6 address also accepts IPv4. A connection to such an address is one to this machine.
        IPAddress.bytes($0) == own || unspecified.contains($0) && Origin.isLocal(host: host)
          || (host == "::" || host == "0.0.0.0" && !$0.contains(":")) && Origin.isLocal(host: $0)
      }
    case .none, .localhost, .name, .addresses: return false
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
  /// The result of an address.
  private enum Outcome {
    case unknown
    case accepted
    case failed(TransportError)
  }

  private let url: String
  private let options: ConnectionOptions
  private unowned let loop: EventLoop
  private var lookup: AddressLookup?
  private var probes: [ConnectionProbe] = []
  private var results: [Outcome] = []
  private var candidates: [ServerAddress] = []
  private var missing = 0
  private var onChange: (() -> Void)?
  /// Whether the search has ended.
  package private(set) var isOver = false

  /// Starts a search.
  ///
  /// - Parameters:
  ///   - url: The URL of the server.
  ///   - options: The options of its connections.
  ///   - loop: The loop that makes connections to the addresses.
  ///   - onChange: Called when an address accepts a connection, and at the end, unless the search is over at once or is canceled.
  package init(
    of url: String, _ options: ConnectionOptions, loop: EventLoop, onChange: @escaping () -> Void = {}
  ) {
    (self.url, self.options, self.loop) = (url, options, loop)
    switch AddressSource(url, options) {
    case .none, .localhost: finish()
    case .addresses(let addresses, let port): connect(to: addresses, port)
    case .name(let host, let port): lookUp(host, port)
    }
    if !isOver { self.onChange = onChange }
  }

  /// Ends the search.
  package func cancel() {
    onChange = nil
    finish()
  }

  /// The addresses that have accepted a connection, in the order of the system. The only address of a server is not
  /// tried, and is one of them.
  package var addresses: [ServerAddress] {
    var accepted: [ServerAddress] = []
    for (address, result) in zip(candidates, results) {
      if case .accepted = result { accepted.append(address) }
    }
    return accepted
  }

  /// The addresses that have not, and why.
  package var failures: [(address: ServerAddress, error: TransportError)] {
    var failed: [(address: ServerAddress, error: TransportError)] = []
    for (address, result) in zip(candidates, results) {
      if case .failed(let error) = result { failed.append((address, error)) }
    }
    return failed
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
    missing = candidates.count
    results = [Outcome](repeating: missing > 1 ? .unknown : .accepted, count: missing)
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
    if let error { results[index] = .failed(error) } else { results[index] = .accepted }
    missing -= 1
    if missing == 0 { finish() } else if error == nil { onChange?() }
  }

  private func finish() {
    isOver = true
    if let lookup { loop.unwatch(lookup.descriptor) }
    lookup = nil
    for probe in probes { probe.cancel() }
    probes = []
    let onChange = self.onChange
    self.onChange = nil
    onChange?()
  }
}
