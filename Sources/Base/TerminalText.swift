/// Makes untrusted text safe to print.
package enum TerminalText {
  /// `text` with control characters written as `\u{1b}`, so that it cannot control a terminal.
  ///
  /// C0, DEL, C1 and bidirectional controls are escaped; line feeds and tabs too, so that one line stays one
  /// line.
  package static func escape(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: \.steersReader) else { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      if scalar.steersReader {
        escaped += scalar.escaped(asASCII: true)
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
