import RPCurlProtobuf

/// The syntax of targets: `http[s]://host[:port][/prefix]`.
package enum TargetSyntax {
  /// Why a text is not a target.
  package enum Problem: Error {
    /// It does not begin with `http://` or `https://`.
    case scheme
    /// The host is missing.
    case host
    /// It contains credentials.
    case credentials
    /// The port is not a number from 1 to 65535.
    case port
    /// A query or a fragment, which this mark begins.
    case excess(Unicode.Scalar)
    /// It is invalid in another way.
    case syntax

    /// The reason, for error messages.
    package var reason: String {
      switch self {
      case .scheme: "not a URL of http or https"
      case .host: "missing host"
      case .credentials: "credentials are not allowed in it"
      case .port: "the port is not a number from 1 to 65535"
      case .excess(let mark): "a \(mark == "?" ? "query" : "fragment") is not allowed"
      case .syntax: "not a target"
      }
    }
  }

  /// Checks a target.
  ///
  /// - Returns: The target with its scheme in lower case and without a final slash.
  /// - Throws: ``RPCError`` if it is invalid, without what may be a password or a key.
  package static func checked(_ text: String) throws(RPCError) -> String {
    do throws(Problem) {
      let lower = text.lowercased()
      guard let scheme = ["https://", "http://"].first(where: { lower.hasPrefix($0) }) else {
        throw .scheme
      }
      let (authority, path) = try split(text.dropFirst(scheme.count))
      return scheme + ([authority] + path.split(separator: "/")).joined(separator: "/")
    } catch {
      let why =
        switch error {
        case .scheme, .syntax: ""
        case .host, .credentials, .port, .excess: ": \(error.reason)"
        }
      throw RPCError(
        .invalidArgument, "\"\(shown(text))\" is not of the form http[s]://host[:port][/prefix]\(why)",
        origin: .request)
    }
  }

  /// Splits what follows the scheme of a target.
  ///
  /// - Returns: The host with its port, and the path without its first and last slash.
  package static func split(_ rest: Substring) throws(Problem) -> (authority: Substring, path: Substring) {
    let bytes = rest.utf8
    let end = bytes.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    let authority = rest[..<end]
    guard !authority.isEmpty else { throw .host }
    guard !authority.utf8.contains(UInt8(ascii: "@")) else { throw .credentials }
    let path = rest[end...].drop { $0 == "/" }
    if let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")) {
      let port = authority[authority.utf8.index(after: colon)...]
      if !port.isEmpty, !isPort(port), port.utf8.allSatisfy(isDigit), isAuthority(authority[..<colon]) {
        throw .port
      }
    }
    if let mark = rest.unicodeScalars.first(where: { $0 == "?" || $0 == "#" }) { throw .excess(mark) }
    guard !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F }), isAuthority(authority) else { throw .syntax }
    return (authority, path.last == "/" ? path.dropLast() : path)
  }

  /// Whether `text` is a host, or an IPv6 address in brackets, optionally with a port, as in the header `host` (RFC 3986,
  /// sections 3.2.2 and 3.2.3).
  package static func isHost(_ text: String) -> Bool {
    let isASCII = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isASCII && !text.contains("/") && !text.contains("@") && isAuthority(text[...])
  }

  /// Whether `text` is a host, or an IPv6 address in brackets, optionally with a port.
  private static func isAuthority(_ text: Substring) -> Bool {
    let host: Substring
    let rest: Substring
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = text[text.index(after: text.startIndex)..<end]
      rest = text[text.index(after: end)...]
      // After a percent sign, the number or the name of an interface. libcurl also reads "%25" (RFC 6874).
      let parts = host.split(separator: Character("%"), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts[0].allSatisfy({ $0.isHexDigit || ":.".contains($0) }), parts.allSatisfy({ !$0.isEmpty }),
        parts.dropFirst().allSatisfy({ $0.allSatisfy(isZoneCharacter) })
      else { return false }
    } else {
      let end = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
      (host, rest) = (text[..<end], text[end...])
      guard !host.utf8.contains(where: "[]\\<>^`{|}\"?#".utf8.contains) else { return false }
    }
    guard !host.isEmpty else { return false }
    return rest.isEmpty || rest.utf8.first == UInt8(ascii: ":") && isPort(rest.dropFirst())
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isZoneCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "._~-".contains(character))
  }

  private static func isPort(_ text: Substring) -> Bool {
    // UInt16 also parses a plus sign.
    text.utf8.first != UInt8(ascii: "+") && UInt16(text).map { $0 > 0 } == true
  }

  /// A target for error messages, without what may be a password or a key.
  package static func shown(_ text: String) -> String {
    // Bytes: a character that is compared includes the combining marks after it.
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    let isQuery = { (byte: UInt8) in byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }
    var rest = text[start...]
    var scheme = String(text[..<start])
    if let at = rest.utf8.lastIndex(of: UInt8(ascii: "@")) {
      scheme += "…"
      // A password may contain `?`, and a query `@`.
      if rest.utf8[..<at].contains(where: isQuery) { return scheme }
      rest = rest[at...]
    }
    guard let end = rest.utf8.firstIndex(where: isQuery) else { return "\(scheme)\(rest)" }
    return "\(scheme)\(rest[..<rest.utf8.index(after: end)])…"
  }
}
