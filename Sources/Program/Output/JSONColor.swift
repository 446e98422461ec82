import RPCurlPlatform

/// Colours for JSON. `RPCURL_COLORS` sets them as `JQ_COLORS` those of jq: parameters of ANSI escape sequences, such as `1;34`,
/// with colons between null, false, true, numbers, strings, arrays, objects and names.
package struct JSONColor {
  /// What has a colour, by its place in the variable.
  private enum Kind: Int {
    case null, no, yes, number, string, array, object, name
  }

  /// The colours of the environment.
  package static let chosen = JSONColor(EnvironmentVariables.value("RPCURL_COLORS"))

  /// Bold names and magenta strings. On black and on white, magenta alone of the eight colours has a contrast of about 4.5.
  private static let standard = ["", "", "", "", "35", "", "", "1"]
  private static let end = Array("\u{1b}[0m".utf8)

  /// The start of each kind; empty for no colour.
  private let starts: [[UInt8]]

  /// Makes colours. Those that `setting` omits, and all if it is invalid, are the standard ones.
  package init(_ setting: String?) {
    var codes = Self.standard
    let given = (setting ?? "").split(separator: ":", omittingEmptySubsequences: false)
    let isValid = given.allSatisfy {
      $0.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ";") }
    }
    if let setting, !setting.isEmpty, isValid {
      for (index, code) in given.prefix(codes.count).enumerated() { codes[index] = String(code) }
    }
    starts = codes.map { $0.isEmpty ? [] : Array("\u{1b}[\($0)m".utf8) }
  }

  /// Colours `json` as the codec prints it.
  package func colored(_ json: some Sequence<UInt8>) -> [UInt8] {
    let bytes = Array(json)
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count * 2)
    var index = 0
    while index < bytes.count {
      let (kind, end) = Self.token(bytes, at: index)
      let start = kind.map { starts[$0.rawValue] } ?? []
      out += start
      out += bytes[index..<end]
      if !start.isEmpty { out += Self.end }
      index = end
    }
    return out
  }

  /// The kind of the token at an index, and the index after it; nil for punctuation and blanks.
  private static func token(_ bytes: [UInt8], at start: Int) -> (kind: Kind?, end: Int) {
    switch bytes[start] {
    case UInt8(ascii: "\""):
      let end = endOfString(bytes, from: start)
      return (end < bytes.count && bytes[end] == UInt8(ascii: ":") ? .name : .string, end)
    case UInt8(ascii: "["), UInt8(ascii: "]"): return (.array, start + 1)
    case UInt8(ascii: "{"), UInt8(ascii: "}"): return (.object, start + 1)
    case UInt8(ascii: "n"): return (.null, endOfWord(bytes, from: start))
    case UInt8(ascii: "f"): return (.no, endOfWord(bytes, from: start))
    case UInt8(ascii: "t"): return (.yes, endOfWord(bytes, from: start))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return (.number, endOfWord(bytes, from: start))
    default: return (nil, start + 1)
    }
  }

  /// The index after a literal or a number.
  private static func endOfWord(_ bytes: [UInt8], from start: Int) -> Int {
    bytes[start...].firstIndex {
      $0 <= 0x20 || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "]") || $0 == UInt8(ascii: "}")
    }
      ?? bytes.count
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
