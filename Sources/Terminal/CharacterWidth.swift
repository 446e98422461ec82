import CLineEditor
import Glibc

/// How wide characters are on a terminal.
package enum CharacterWidth {
  /// Has the C library know characters of Unicode, whatever the locale's encoding is.
  package static func prepare() {
    guard setlocale(LC_CTYPE, "") == nil || String(cString: nl_langinfo(Int32(CODESET))) != "UTF-8" else {
      return
    }
    _ = setlocale(LC_CTYPE, "C.UTF-8")
  }

  /// The columns of a character: 0, 1 or 2; -1 when it cannot be shown.
  package static func columns(_ scalar: Unicode.Scalar) -> Int {
    Int(cline_width(scalar.value))
  }

  /// The columns of a text that can be shown.
  package static func columns(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + max(columns($1), 0) }
  }
}
