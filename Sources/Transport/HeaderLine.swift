import RPCurlProtocols

/// One line of a block of HTTP header fields, as received from libcurl.
enum HeaderLine {
  /// `HTTP/2 200`
  case status(version: String, code: Int)
  /// `name: value`
  case field(name: String, value: String)
  /// The empty line after a block.
  case end
  /// A field with a line break within it (RFC 9110, section 5.5), which HTTP/3 can transport.
  case broken
  /// Anything else; ignored.
  case unknown

  init(_ line: UnsafeRawBufferPointer) {
    // If a connection ends within a line, libcurl passes the part that was received: a part of an empty line does not
    // end the block.
    guard line.last == 0x0A else {
      self = .unknown
      return
    }
    let end = line.firstIndex { $0 == 0x0D || $0 == 0x0A } ?? line.count
    guard line[end...].allSatisfy({ $0 == 0x0D || $0 == 0x0A }) else {
      self = .broken
      return
    }
    guard end > 0 else {
      self = .end
      return
    }
    let content = UnsafeRawBufferPointer(rebasing: line[..<end])
    if content.starts(with: "HTTP/".utf8) {
      self = Self.status(UnsafeRawBufferPointer(rebasing: content[5...]))
    } else if let colon = content.firstIndex(of: UInt8(ascii: ":")) {
      var (first, last) = (colon + 1, end)
      while first < last, Self.isBlank(content[first]) { first += 1 }
      while first < last, Self.isBlank(content[last - 1]) { last -= 1 }
      self = .field(name: Self.text(content, 0..<colon), value: Self.text(content, first..<last))
    } else {
      self = .unknown
    }
  }

  /// The line after `HTTP/`: a version and a code, and perhaps words.
  private static func status(_ content: UnsafeRawBufferPointer) -> HeaderLine {
    let end = content.firstIndex(of: 0x20) ?? content.count
    let rest = content[end...].drop { $0 == 0x20 }
    let digits = rest.prefix { $0 != 0x20 }
    guard end > 0, (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return .unknown
    }
    return .status(
      version: text(content, 0..<end), code: digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func text(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
    HeaderSyntax.text(UnsafeRawBufferPointer(rebasing: bytes[range]).bytes)
  }
}
