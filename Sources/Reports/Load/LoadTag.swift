import RPCurlLanguage

/// A name for a run, or a part of one: `branch=main`.
package struct LoadTag: Equatable, Sendable {
  package let name: String
  package let value: String

  /// Parses `NAME=VALUE`.
  ///
  /// The name consists of ASCII letters, digits and `_.-`: it is a column, a key of JSON, and text of a log.
  package init(_ text: String) throws(LanguageError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty,
      parts[0].utf8.allSatisfy({ byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
          true
        default: false
        }
      })
    else {
      throw LanguageError("not NAME=VALUE", hint: "write branch=main; a name has letters, digits and _.-")
    }
    (name, value) = (String(parts[0]), String(parts[1]))
  }

  package var text: String { "\(name)=\(value)" }
}
