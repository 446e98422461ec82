import RPCurlProtocols

/// A block of lines that ends with an empty line: the head of a request, or the trailers of a chunked body.
///
/// It is strict, since other readers of the same bytes could find other requests in them (RFC 9112, section 11.2): each line
/// ends with CR LF, no field continues on the next line, and no other control characters occur.
struct HTTP1Block {
  private(set) var bytes: [UInt8] = []
  private var lineStart = 0
  private(set) var isComplete = false

  /// Adds bytes until the block is complete.
  ///
  /// - Returns: How many bytes belong to the block.
  mutating func append(_ input: RawSpan, limit: Int) throws(RequestViolation) -> Int {
    let first = bytes.count
    for offset in input.byteOffsets {
      let byte = input.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
      if bytes.last == 0x0D, byte != 0x0A { throw RequestViolation() }
      guard bytes.count < limit else { throw RequestViolation(431) }
      bytes.append(byte)
      if byte == 0x0A {
        guard bytes.count > 1, bytes[bytes.count - 2] == 0x0D else { throw RequestViolation() }
        isComplete = bytes.count - lineStart == 2
        lineStart = bytes.count
        if isComplete { break }
      } else if byte != 0x0D, !FieldRules.isValue(byte) {
        throw RequestViolation()
      }
    }
    return bytes.count - first
  }

  /// The lines without their ends.
  private var lines: [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    for index in bytes.indices where bytes[index] == 0x0A {
      lines.append(bytes[start..<index - 1])
      start = index + 1
    }
    return lines.dropLast()
  }

  /// The fields of the lines from a number on.
  func fields(from first: Int, limits: ServerLimits) throws(RequestViolation) -> Headers {
    var headers = Headers()
    var size = 0
    for line in lines.dropFirst(first) {
      // Neither a blank before the colon, nor at the start of a line.
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw RequestViolation() }
      let name = Self.text(line[..<colon])
      guard HeaderSyntax.isName(name) else { throw RequestViolation() }
      size += line.count + 32
      guard headers.count < limits.headerCount, size <= limits.headerBytes else {
        throw RequestViolation(431)
      }
      headers.add(name, Self.text(line[(colon + 1)...]))
    }
    return headers
  }

  /// The first line, at its spaces.
  func requestLine() throws(RequestViolation) -> (
    method: String, target: String, version: RequestHead.Version
  ) {
    let line = lines.first ?? []
    let parts = line.split(separator: 0x20, omittingEmptySubsequences: false).map { Self.text($0) }
    guard parts.count == 3, HeaderSyntax.isName(parts[0]), !parts[1].isEmpty,
      parts[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw RequestViolation() }
    switch parts[2] {
    case "HTTP/1.1": return (parts[0], parts[1], .http1_1)
    case "HTTP/1.0": return (parts[0], parts[1], .http1_0)
    default: throw RequestViolation(parts[2].hasPrefix("HTTP/") ? 505 : 400)
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { HeaderSyntax.text(bytes.span.bytes) }
}

/// The head of a request, and what follows from it for the connection.
struct HTTP1Head {
  private(set) var head: RequestHead
  let body: HTTP1Body
  /// Whether the connection is closed after the response.
  let closes: Bool
  /// Whether the client waits for `100 Continue`.
  let expectsContinue: Bool

  init(_ block: HTTP1Block, scheme: String, limits: ServerLimits) throws(RequestViolation) {
    let (method, target, version) = try block.requestLine()
    var headers = try block.fields(from: 1, limits: limits)
    let hosts = headers.values("host")
    guard hosts.count == 1 || hosts.isEmpty && version == .http1_0 else { throw RequestViolation() }
    body = try HTTP1Body(headers, version, limits)
    let options = headers.values("connection").joined(separator: ",").lowercased().split(separator: ",").map {
      HeaderSyntax.trimmed($0)
    }
    closes = version == .http1_0 || options.contains("close")
    expectsContinue = version == .http1_1 && headers.first("expect")?.lowercased() == "100-continue"
    let (path, authority) = try Self.split(target, method)
    for name in RequestHead.connectionFields + options + ["host", "expect"] { headers.remove(name) }
    head = RequestHead(
      method: method, path: path, authority: authority ?? hosts.first ?? "", scheme: scheme, headers: headers,
      version: version)
  }

  /// The path and the authority of a target (RFC 9112, section 3.2). Only a proxy for all servers would support CONNECT.
  private static func split(_ target: String, _ method: String) throws(RequestViolation) -> (String, String?)
  {
    if target.hasPrefix("/") || target == "*" && method == "OPTIONS" { return (target, nil) }
    let lower = target.lowercased()
    guard let scheme = ["http://", "https://"].first(where: { lower.hasPrefix($0) }) else {
      throw RequestViolation(method == "CONNECT" ? 501 : 400)
    }
    let rest = target.dropFirst(scheme.count)
    let authority = rest.prefix { !"/?#".contains($0) }
    let path = rest.dropFirst(authority.count)
    guard !authority.isEmpty, !authority.contains("@") else { throw RequestViolation() }
    return (path.hasPrefix("/") ? String(path) : "/" + path, String(authority))
  }
}
