/// The percent-encoding of `grpc-message` (gRPC over HTTP/2, "Status-Message") and of URLs.
package enum PercentEncoding {
  /// Encodes a value for a URL's query: all except the unreserved characters (RFC 3986, section 2.3).
  package static func encode(_ bytes: [UInt8]) -> String {
    encode(bytes) { _, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        true
      default: false
      }
    }
  }

  /// Encodes a value of `grpc-message`: all except printable ASCII, and spaces at its start and end, which HTTP removes.
  static func encode(message: String) -> String {
    let bytes = Array(message.utf8)
    return encode(bytes) { index, byte in
      byte == UInt8(ascii: " ")
        ? index > 0 && index < bytes.count - 1 : (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%")
    }
  }

  private static func encode(_ bytes: [UInt8], isLiteral: (Int, UInt8) -> Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    encoded.reserveCapacity(bytes.count * 3)
    for (index, byte) in bytes.enumerated() {
      if isLiteral(index, byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Decodes `text`. A `%` without two hexadecimal digits stays literal, as the specification requires;
  /// invalid UTF-8 becomes U+FFFD.
  package static func decode(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    return String(decoding: decode(bytes: Array(text.utf8)), as: UTF8.self)
  }

  /// Decodes a text to bytes.
  static func decode(bytes: [UInt8]) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
      {
        decoded.append(high << 4 | low)
        index += 3
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    return decoded
  }

  private static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
