/// One line of a block of HTTP header fields, as received from libcurl.
enum HeaderLine {
  /// `HTTP/2 200`
  case status(version: String, code: Int)
  /// `name: value`
  case field(name: String, value: String)
  /// The empty line after a block.
  case end
  /// Anything else; ignored.
  case unknown

  init(_ line: UnsafeRawBufferPointer) {
    let content = line.prefix { $0 != 0x0D && $0 != 0x0A }
    if content.isEmpty {
      self = .end
    } else if content.starts(with: "HTTP/".utf8) {
      let words = String(decoding: content.dropFirst(5), as: UTF8.self).split(separator: " ")
      self =
        if words.count >= 2, let code = Int(words[1]) {
          .status(version: String(words[0]), code: code)
        } else {
          .unknown
        }
    } else if let colon = content.firstIndex(of: UInt8(ascii: ":")) {
      let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
      let value = content[(colon + 1)...].drop(while: isBlank)
      let length = (value.lastIndex { !isBlank($0) }).map { $0 + 1 } ?? value.startIndex
      self = .field(
        name: String(decoding: content[..<colon], as: UTF8.self),
        value: String(decoding: value[..<length], as: UTF8.self))
    } else {
      self = .unknown
    }
  }
}
