import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The server of a call: a base URL, and a Unix socket if the connection uses one.
package struct Target: Equatable {
  /// `http[s]://host[:port][/prefix]`, without a final slash.
  package var baseURL: String
  /// The path of the Unix socket to connect to; nil for the host of the URL.
  package var unixSocket: String?
  /// Whether the path is a name of the abstract namespace.
  package var isAbstract = false

  /// The name of the server in messages.
  package var name: String {
    unixSocket.map { "\(isAbstract ? Self.abstractScheme : Self.socketScheme)\($0)" } ?? baseURL
  }
  /// The option that names the socket.
  package var socketOption: String { isAbstract ? "--abstract-unix-socket" : "--unix-socket" }
  /// The server as arguments of a command.
  package var argument: String {
    guard let unixSocket, isTLS else { return ShellText(name).quoted }
    return "\(socketOption) \(ShellText(unixSocket).quoted) \(ShellText(baseURL).quoted)"
  }
  /// Whether the connection uses TLS.
  package var isTLS: Bool {
    get { baseURL.hasPrefix("https:") }
    set { baseURL = (newValue ? "https" : "http") + baseURL.drop { $0 != ":" } }
  }

  /// Whether the connection to a target that is not a URL uses TLS.
  package enum TLSChoice: Equatable {
    /// To a host, but not to a Unix socket.
    case byTarget
    /// `--plaintext`.
    case never
    /// An option for TLS, such as `--cacert`.
    case always
    /// To a host of this machine, unless it responds without TLS; to other hosts, but not to a Unix socket.
    case byResponse(LocalServers)
  }

  /// Parses a target. If `method` is nil, the method is the end of the URL's path.
  package static func parse(_ text: String, method: String?, _ tls: TLSChoice) throws(Failure) -> (
    Target, MethodName
  ) {
    let (target, path) = try parse(text, tls)
    guard let method else {
      let parts = path.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count >= 2, let name = MethodName(parts.suffix(2).joined(separator: "/")),
        name.service != ""
      else {
        let atEnd =
          target.unixSocket == nil ? ", or at the end of the URL: \(target.baseURL)/pkg.Service/Method" : ""
        throw Failure(
          .usage, shown(text), "no method to call",
          hint: "add it after the target\(atEnd); \"rpcurl list\" lists the services")
      }
      return (target.appending(parts.dropLast(2)), name)
    }
    // The HTTP path of a method is /pkg.Service/Method.
    let bare = method.hasPrefix("/") ? String(method.dropFirst()) : method
    guard let name = MethodName(bare) ?? Self.bareName(bare) else {
      throw Failure(
        .usage, method.isEmpty ? "''" : shown(method), "not a method name",
        hint: "write pkg.Service/Method or pkg.Service.Method")
    }
    return (target.appending(path.split(separator: "/")), name)
  }

  /// A method without its service.
  private static func bareName(_ method: String) -> MethodName? {
    MethodName("Service/\(method)").map { MethodName(service: "", method: $0.method) }
  }

  /// Parses a target that names only a server.
  package static func parse(server text: String, _ tls: TLSChoice) throws(Failure) -> Target {
    let (target, path) = try parse(text, tls)
    return target.appending(path.split(separator: "/"))
  }

  private static func parse(_ text: String, _ tls: TLSChoice) throws(Failure) -> (Target, path: Substring) {
    for form in [socketScheme, abstractScheme] where text.hasPrefix(form) {
      let path = text.dropFirst(form.utf8.count)
      guard !path.isEmpty else { throw Failure(.usage, text, "missing path after \(form)") }
      let scheme = if case .always = tls { "https" } else { "http" }
      return (
        Target(
          baseURL: "\(scheme)://localhost", unixSocket: String(path), isAbstract: form == abstractScheme), ""
      )
    }
    guard !["./", "../"].contains(where: text.hasPrefix) else {
      throw Failure(
        .usage, text, "a path where a server belongs", hint: "write unix:\(text) for a Unix socket")
    }
    let isPlaintext = if case .never = tls { true } else { false }
    for known in ["http", "https", "grpc", "grpcs"] where text.lowercased().hasPrefix("\(known)://") {
      let isTLS = known.hasSuffix("s")
      guard !isPlaintext || !isTLS else {
        throw Failure(.usage, shown(text), "\(known):// and --plaintext contradict each other")
      }
      let (authority, path) = try split(text.dropFirst(known.utf8.count + 3), in: text)
      return (Target(baseURL: "\(isTLS ? "https" : "http")://\(authority)"), path)
    }
    let address = try address(text)
    guard !address.contains("://") else {
      throw Failure(.usage, shown(text), "not a URL of http or https", hint: forms)
    }
    let (authority, path) = try split(address[...], in: text)
    let isTLS = !isPlaintext && !lacksTLS(authority, tls)
    return (Target(baseURL: "\(isTLS ? "https" : "http")://\(authority)"), path)
  }

  /// Whether a server of this machine responds without TLS, if that decides.
  private static func lacksTLS(_ authority: Substring, _ tls: TLSChoice) -> Bool {
    guard case .byResponse(let servers) = tls, let (host, number) = Origin.split(authority),
      let port = number.flatMap({ UInt16(exactly: $0) }), Origin.isLocal(host: host)
    else { return false }
    return servers.lackTLS(host: host, port: port)
  }

  /// The target of a text that names a server of this machine and not whether it uses TLS, without TLS; nil for another text.
  static func ofThisMachine(_ text: String) -> Target? {
    guard let target = try? parse(server: text, .byTarget), target.isTLS,
      Origin(url: target.baseURL)?.isLocal == true
    else { return nil }
    // A URL of https cannot be without TLS.
    return try? parse(server: text, .never)
  }

  private static let socketScheme = "unix:"
  private static let abstractScheme = "unix-abstract:"

  /// Whether an argument can only be a server, not the name of a symbol.
  static func isServer(_ text: String) -> Bool {
    text == "localhost" || text.contains("://") || isSocket(text)
      || text.contains(":") && !text.contains(".proto")
  }

  /// Throws if the arguments `TARGET NAME` of a command are in the other order.
  static func check(orderOf arguments: [String], of command: CommandID) throws(Failure) {
    guard let name = arguments.first, !isServer(name),
      let target = arguments.dropFirst().first(where: isServer)
    else { return }
    throw Failure(
      .usage, name, "a name where the target belongs",
      hint: "write rpcurl \(CommandTable[command].name) \(shown(target)) \(name)")
  }

  /// Whether a text names a Unix socket.
  package static func isSocket(_ text: String) -> Bool {
    text.hasPrefix(socketScheme) || text.hasPrefix(abstractScheme)
  }

  /// `HOST:PORT` of a target that is `:PORT` or has a scheme of gRPC's names; other texts as they are.
  private static func address(_ text: String) throws(Failure) -> String {
    guard !text.hasPrefix(":") else { return "localhost\(text)" }
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
      let scheme = ["dns", "passthrough", "ipv4", "ipv6", "xds"].first(where: { text[..<colon] == $0 })
    else { return text }
    let rest = text[text.utf8.index(after: colon)...]
    // A host may have the name of a scheme, as services of compose do.
    guard UInt16(rest.prefix { $0 != "/" }) == nil else { return text }
    switch scheme {
    case "dns", "passthrough":
      guard rest.hasPrefix("//") else { return String(rest) }
      guard rest.hasPrefix("///") else {
        throw Failure(
          .usage, shown(text), "the system resolves names, not a server that the target names",
          hint: "write \(scheme):///HOST:PORT; --resolve HOST:PORT:ADDRESS gives the address of a host")
      }
      return String(rest.dropFirst(3))
    case "ipv4", "ipv6":
      guard !rest.contains(",") else {
        throw Failure(.usage, shown(text), "several addresses", hint: "write one of them")
      }
      let isBare = scheme == "ipv6" && !rest.hasPrefix("[")
      let host = rest.prefix { $0 != ":" && $0 != "/" }
      guard scheme == "ipv6" ? rest.contains(":") : host.allSatisfy({ $0.isNumber || $0 == "." }) else {
        throw Failure(
          .usage, shown(text), "not an \(scheme == "ipv4" ? "IPv4" : "IPv6") address", hint: forms)
      }
      return isBare ? "[\(rest)]" : String(rest)
    case "xds":
      throw Failure(
        .usage, shown(text), "rpcurl asks no xDS server for addresses", hint: "write HOST:PORT of a server")
    default: return text
    }
  }

  private static func split(_ rest: Substring, in text: String) throws(Failure) -> (Substring, Substring) {
    do throws(TargetSyntax.Problem) {
      return try TargetSyntax.split(rest)
    } catch {
      switch error {
      case .credentials:
        // The text before the @ may be a password, so the error does not contain it.
        throw Failure(.usage, "target", error.reason, hint: "use --user or --bearer")
      case .port: throw Failure(.usage, shown(text), error.reason)
      case .excess(let mark):
        throw Failure(.usage, shown(text), error.reason, hint: "omit \"\(mark)\" and what follows it")
      case .scheme, .host, .syntax:
        throw Failure(.usage, text.isEmpty ? "''" : shown(text), error.reason, hint: forms)
      }
    }
  }

  /// The forms of a target, as a hint.
  private static let forms = "write HOST:PORT, http://HOST:PORT, https://HOST:PORT or unix:PATH"

  /// The target for error messages, without what may be a password or a key.
  package static func shown(_ text: String) -> String {
    isSocket(text) ? text : TargetSyntax.shown(text)
  }

  private func appending(_ prefix: some Sequence<Substring>) -> Target {
    var target = self
    for part in prefix { target.baseURL += "/\(part)" }
    return target
  }
}
