/// The colours of text on a terminal (ECMA-48, section 8.3.117); none if they are off.
package struct TextColors: Sendable, Equatable {
  /// How a part of a text is shown.
  package enum Style: String, Sendable {
    case plain = ""
    case bold = "1"
    case faint = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
    case boldRed = "1;31"
  }

  /// Whether there are colours.
  package let areOn: Bool

  package init(areOn: Bool) { self.areOn = areOn }

  /// A part of a text in a style. What is untrusted in it must be escaped already.
  package func paint(_ style: Style, _ text: String) -> String {
    areOn && style != .plain && !text.isEmpty ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
  }
}
