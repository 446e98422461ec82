import RPCurlBase

/// Looks up the addresses of a name on a thread of its own, since the C library has no limit of time for it.
package final class AddressLookup: Sendable {
  /// What the thread uses.
  private final class Work: Sendable {
    let host: String
    let family: Int32
    let writeEnd: Int32
    let found = Locked<[String]>([])

    init(_ host: String, _ family: Int32, _ writeEnd: Int32) {
      (self.host, self.family, self.writeEnd) = (host, family, writeEnd)
    }

    func run() {
      let addresses = AddressLookup.addresses(of: host, family)
      found.withLock { $0 = addresses }
      // The end of the pipe makes its other end readable.
      close(writeEnd)
    }
  }

  /// A descriptor that is readable when the addresses are known.
  package let descriptor: Int32
  private let work: Work

  /// Starts to look up a name. Returns nil if the system has no descriptor or thread left.
  ///
  /// - Parameters:
  ///   - host: The name.
  ///   - version: The version of IP; nil for both.
  package init?(_ host: String, version: Int? = nil) {
    guard let pipe = Pipe() else { return nil }
    let family = version == nil ? AF_UNSPEC : version == 4 ? AF_INET : AF_INET6
    work = Work(host, family, pipe.writeEnd)
    descriptor = pipe.readEnd
    do throws(SystemError) {
      try SystemThread { [work] in work.run() }.detach()
    } catch {
      close(pipe.writeEnd)
      // `deinit` closes the other end: it runs, since all properties have their values.
      return nil
    }
  }

  deinit { close(descriptor) }

  /// The addresses, in the order of the system; none before `descriptor` is readable, and of an unknown name.
  package var addresses: [String] { work.found.withLock { $0 } }

  private static func addresses(of host: String, _ family: Int32) -> [String] {
    var request = addrinfo()
    request.ai_family = family
    request.ai_protocol = Int32(IPPROTO_TCP)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &request, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var addresses: [String] = []
    var entry = list
    while let found = entry?.pointee {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      if getnameinfo(
        found.ai_addr, found.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
      {
        let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if !addresses.contains(address) { addresses.append(address) }
      }
      entry = found.ai_next
    }
    return addresses
  }
}
