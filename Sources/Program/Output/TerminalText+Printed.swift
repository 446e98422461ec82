import RPCurlBase
import RPCurlProtobuf

extension TerminalText {
  /// Escapes the characters of printed text that can control a terminal or reverse its text, as `\u202e`, which JSON
  /// and text format read as the same character. Returns nil if there are none.
  ///
  /// ASCII characters are not changed: the formats escape those of a message, and the others are layout and colours.
  package static func escaped(printed bytes: ArraySlice<UInt8>) -> [UInt8]? {
    guard bytes.contains(where: { $0 >= 0x80 }) else { return nil }
    let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
    guard scalars.contains(where: { !$0.isASCII && $0.steersReader }) else { return nil }
    var text = ""
    for scalar in scalars {
      if !scalar.isASCII, scalar.steersReader {
        text += jsonEscape(scalar)
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return Array(text.utf8)
  }

  /// The escape sequence of a character in JSON.
  package static func jsonEscape(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
