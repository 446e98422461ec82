import Protobuf
import RPCProtocols

/// Where a call goes: the server's base URL, and the socket behind it when that is a Unix one.
struct Target: Equatable {
  /// `http[s]://host[:port][/prefix]`, without a final slash.
  var baseURL: String
  /// The path of a Unix socket that is connected to instead of the host.
  var unixSocket: String?

  /// How it is called in messages.
  var name: String { unixSocket.map { "unix:\($0)" } ?? baseURL }
  /// Whether the connection is encrypted.
  var isTLS: Bool { baseURL.hasPrefix("https:") }

  /// Reads a target and, when `method` is nil, the method at the end of the URL's path.
  static func parse(_ text: String, method: String?, isPlaintext: Bool) throws(Failure) -> (
    Target, MethodName
  ) {
    let (target, path) = try parse(text, isPlaintext: isPlaintext)
    guard let method else {
      let parts = path.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count >= 2, let name = MethodName(parts.suffix(2).joined(separator: "/")),
        name.service != ""
      else {
        throw Failure(
          .usage, shown(text), "no method to call",
          hint: "name it after the target, or at the URL's end: \(target.baseURL)/pkg.Service/Method")
      }
      return (target.appending(parts.dropLast(2)), name)
    }
    // A path of HTTP is /pkg.Service/Method.
    let bare = method.hasPrefix("/") ? String(method.dropFirst()) : method
    guard let name = MethodName(bare) ?? Self.bareName(bare) else {
      throw Failure(
        .usage, shown(method), "not a method name", hint: "write pkg.Service/Method or pkg.Service.Method")
    }
    return (target.appending(path.split(separator: "/")), name)
  }

  /// A method without its service, which the schema tells.
  private static func bareName(_ method: String) -> MethodName? {
    MethodName("Service/\(method)").map { MethodName(service: "", method: $0.method) }
  }

  /// Reads a target that is a server, not a method of one.
  static func parse(server text: String, isPlaintext: Bool) throws(Failure) -> Target {
    let (target, path) = try parse(text, isPlaintext: isPlaintext)
    return target.appending(path.split(separator: "/"))
  }

  private static func parse(_ text: String, isPlaintext: Bool) throws(Failure) -> (Target, path: Substring) {
    let scheme = isPlaintext ? "http" : "https"
    if text.hasPrefix("unix:") {
      let path = text.dropFirst("unix:".count)
      guard !path.isEmpty else { throw Failure(.usage, text, "no path after unix:") }
      return (Target(baseURL: "\(scheme)://localhost", unixSocket: String(path)), "")
    }
    for known in ["http", "https"] where text.lowercased().hasPrefix("\(known)://") {
      guard !isPlaintext || known == "http" else {
        throw Failure(.usage, shown(text), "https:// and --plaintext contradict each other")
      }
      let (authority, path) = try split(text.dropFirst(known.count + 3), in: text)
      return (Target(baseURL: "\(known)://\(authority)"), path)
    }
    guard !text.contains("://") else {
      throw Failure(.usage, shown(text), "not a URL of http or https", hint: forms)
    }
    let (authority, path) = try split(text[...], in: text)
    return (Target(baseURL: "\(scheme)://\(authority)"), path)
  }

  /// Takes the authority off the front; what is left is the path, without the slash before it.
  private static func split(_ rest: Substring, in text: String) throws(Failure) -> (Substring, Substring) {
    let authority = rest.prefix { $0 != "/" }
    guard !authority.isEmpty else {
      throw Failure(.usage, text.isEmpty ? "''" : shown(text), "no host", hint: forms)
    }
    let path = rest[authority.endIndex...].drop { $0 == "/" }
    guard !authority.contains("@") else {
      // What stands before the @ may be a password, so it is not repeated.
      throw Failure(.usage, "target", "credentials do not belong in it", hint: "use --user or --bearer")
    }
    if let port = authority.lastIndex(of: ":").map({ authority[authority.index(after: $0)...] }),
      isAuthority(authority.dropLast(port.count + 1)), !port.isEmpty,
      port.allSatisfy({ $0.isASCII && $0.isNumber }),
      !isPort(port)
    {
      throw Failure(.usage, shown(text), "the port is not a number from 1 to 65535")
    }
    guard !text.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }),
      isAuthority(authority),
      !path.contains("?"), !path.contains("#")
    else {
      throw Failure(.usage, shown(text), "not a target", hint: forms)
    }
    return (authority, path.last == "/" ? path.dropLast() : path)
  }

  /// Whether `text` is a host, perhaps an IPv6 address in brackets, with a port if there is a colon.
  private static func isAuthority(_ text: Substring) -> Bool {
    let host: Substring
    let rest: Substring
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = text[text.index(after: text.startIndex)..<end]
      rest = text[text.index(after: end)...]
      guard host.allSatisfy({ $0.isHexDigit || ":.%".contains($0) }) else { return false }
    } else {
      host = text.prefix { $0 != ":" }
      rest = text[host.endIndex...]
      guard host.allSatisfy({ !"[]\\<>^`{|}\"?#".contains($0) }) else { return false }
    }
    guard !host.isEmpty else { return false }
    return rest.isEmpty || rest.first == ":" && isPort(rest.dropFirst())
  }

  private static func isPort(_ text: Substring) -> Bool { UInt16(text).map { $0 > 0 } == true }

  /// The forms of a target, as a hint.
  private static let forms = "write HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH"

  /// A target as errors repeat it: without what may be a password or a key.
  static func shown(_ text: String) -> String {
    guard !text.hasPrefix("unix:") else { return text }
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    var rest = text[start...]
    var scheme = String(text[..<start])
    if let at = rest.lastIndex(of: "@") {
      scheme += "…"
      rest = rest[at...]
    }
    guard let end = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return scheme + rest }
    return scheme + rest[...end] + "…"
  }

  private func appending(_ prefix: some Sequence<Substring>) -> Target {
    var target = self
    for part in prefix { target.baseURL += "/\(part)" }
    return target
  }
}
