import RPCurlCInput
import RPCurlPlatform

/// The width of characters on a terminal.
package enum CharacterWidth {
  /// Sets a UTF-8 locale for character classification, if the environment does not.
  package static func prepare() {
    guard setlocale(LC_CTYPE, "") == nil || String(cString: nl_langinfo(Int32(CODESET))) != "UTF-8" else {
      return
    }
    _ = setlocale(LC_CTYPE, "C.UTF-8")
  }

  /// The columns of a character: 0, 1 or 2; -1 for a control character or an unassigned one.
  package static func columns(_ scalar: Unicode.Scalar) -> Int {
    Int(cline_width(scalar.value))
  }

  /// The columns of a text, without characters that cannot be displayed.
  package static func columns(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + max(columns($1), 0) }
  }
}
