/// Colours for JSON: one for names, one for strings.
package enum JSONColor {
  private static let name = Array("\u{1b}[36m".utf8)
  private static let string = Array("\u{1b}[32m".utf8)
  private static let plain = Array("\u{1b}[0m".utf8)

  /// Colours `json` as the codec prints it.
  package static func colored(_ json: some Sequence<UInt8>) -> [UInt8] {
    let bytes = Array(json)
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count * 2)
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "\"") else {
        out.append(bytes[index])
        index += 1
        continue
      }
      let end = endOfString(bytes, from: index)
      let isName = end < bytes.count && bytes[end] == UInt8(ascii: ":")
      out += isName ? name : string
      out += bytes[index..<end]
      out += plain
      index = end
    }
    return out
  }

  /// The index after the closing quotation mark of the string that starts at `start`.
  private static func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
    var index = start + 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, bytes.count)
  }
}
