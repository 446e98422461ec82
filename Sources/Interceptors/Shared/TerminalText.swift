/// Text from elsewhere, made safe to show.
public enum TerminalText {
  /// `text` with control characters written as `\u{1b}`, so that it cannot steer a terminal.
  ///
  /// C0, DEL, C1 and the characters that reorder text are escaped; line feeds and tabs too, so that one line
  /// stays one line.
  public static func escape(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      if isUnsafe(scalar) {
        escaped += scalar.escaped(asASCII: true)
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
