/// Texts from libcurl, which may contain a proxy's URL with its password.
package enum LibcurlWords {
  /// The text with `placeholder` in place of credentials before an `@`, at the start of a quotation or of a
  /// URL's authority.
  package static func withoutCredentials(_ text: String, placeholder: String = "…") -> String {
    // A quoted proxy may have no scheme, and its password may contain any character.
    if let quote = text.firstIndex(of: "'"), let at = text.lastIndex(of: "@"), quote < at {
      let inside = text[text.index(after: quote)..<at]
      let start = inside.firstRange(of: "://")?.upperBound ?? inside.startIndex
      return "\(text[..<start])\(placeholder)\(text[at...])"
    }
    guard let scheme = text.firstRange(of: "://"),
      case let authority = text[scheme.upperBound...].prefix(while: { !"/ '\"".contains($0) }),
      let at = authority.lastIndex(of: "@")
    else { return text }
    return "\(text[..<scheme.upperBound])\(placeholder)\(text[at...])"
  }
}
