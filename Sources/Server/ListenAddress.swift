import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProtocols

/// Where a listener accepts connections: `HOST:PORT` or `unix:PATH`.
package enum ListenAddress: Equatable, Sendable {
  /// A host name or an IP address without brackets; the system chooses the port if it is 0.
  case host(String, port: UInt16)
  /// The path of a socket.
  case unix(path: String)

  /// Parses an address.
  package init(parsing text: String) throws(LanguageError) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard !path.isEmpty, !path.utf8.contains(0) else { throw LanguageError("missing path after \"unix:\"") }
      self = .unix(path: path)
      return
    }
    guard let (host, port) = Origin.split(text), let port, let number = UInt16(exactly: port) else {
      throw LanguageError(
        "\(text.debugDescription) is not an address to listen at",
        hint: "write HOST:PORT, such as 127.0.0.1:8080 or [::1]:0, or unix:PATH")
    }
    self = .host(host, port: number)
  }

  /// Whether only this machine can connect, judging by the text alone.
  package var isLocal: Bool {
    switch self {
    case .host(let host, _): Origin.isLocal(host: host)
    case .unix: true
    }
  }
}

/// A socket that listens.
struct ListeningSocket {
  private(set) var descriptor: Int32
  /// The address with its port, such as `127.0.0.1:8080`.
  let address: String
  /// The file of a Unix socket, to remove it at the end.
  private var file: (path: String, identity: FileFacts.Identity)?

  /// Makes the socket. It does not block, and programs do not inherit it.
  init(_ address: ListenAddress) throws(SystemError) {
    switch address {
    case .host(let host, let port): try self.init(host: host, port: port)
    case .unix(let path): try self.init(path: path)
    }
  }

  private init(host: String, port: UInt16) throws(SystemError) {
    var hints = addrinfo()
    hints.ai_protocol = Int32(IPPROTO_TCP)
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, "\(port)", &hints, &found)
    guard code == 0, let first = found else {
      throw SystemError("\(host): \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(found) }
    descriptor = try Self.make(first.pointee.ai_family)
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    guard bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
      listen(descriptor, 1024) == 0
    else {
      throw Self.failed(descriptor, "\(host):\(port)")
    }
    self.address = Self.name(of: descriptor)
  }

  private init(path: String) throws(SystemError) {
    if let file = FileFacts(link: path) { try Self.removeUnused(path, file) }
    let made = try Self.make(AF_UNIX)
    descriptor = made
    do throws(SystemError) {
      try UnixSocket.withAddress(path) { address, size throws(SystemError) in
        guard bind(made, address, size) == 0, listen(made, 1024) == 0 else { throw .last }
      }
    } catch {
      close(made)
      throw error.at(path)
    }
    address = "unix:" + path
    file = FileFacts(link: path).map { (path, $0.identity) }
  }

  /// Removes the socket of a process that has ended. Nothing else is ever removed.
  private static func removeUnused(_ path: String, _ file: FileFacts) throws(SystemError) {
    guard file.kind == .socket else {
      throw SystemError("exists, and is not a socket", path: path)
    }
    do throws(SystemError) {
      close(try UnixSocket.connect(path))
    } catch {
      guard errno == ECONNREFUSED else { throw error.at(path) }
      unlink(path)
      return
    }
    throw SystemError("another process listens at this socket", path: path)
  }

  private static func make(_ family: Int32) throws(SystemError) -> Int32 {
    let made = StreamSocket.make(family)
    guard made >= 0 else { throw .last }
    return made
  }

  private static func failed(_ descriptor: Int32, _ address: String) -> SystemError {
    let number = errno
    close(descriptor)
    let hint = number == EADDRINUSE ? "choose another port, or port 0 for a free one" : nil
    return SystemError("\(address): \(SystemError(number: number).reason)", hint: hint)
  }

  private static func name(of descriptor: Int32) -> String {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutableBytes(of: &storage) { bytes in
      guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return "" }
      getsockname(descriptor, address, &size)
      return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 80) { text in
        guard let host = text.baseAddress else { return "" }
        let port = host + 64
        getnameinfo(address, size, host, 64, port, 16, NI_NUMERICHOST | NI_NUMERICSERV)
        let (name, number) = (String(cString: host), String(cString: port))
        return name.utf8.contains(UInt8(ascii: ":")) ? "[\(name)]:\(number)" : "\(name):\(number)"
      }
    }
  }

  /// Whether a path is that of this Unix socket, also by another name.
  func isFile(_ path: String) -> Bool {
    file.map { FileFacts(path)?.identity == $0.identity } ?? false
  }

  /// Closes the socket, and removes its file if it is still the same. Does nothing the second time.
  mutating func end() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    guard let file else { return }
    if FileFacts(link: file.path)?.identity == file.identity { unlink(file.path) }
  }
}
