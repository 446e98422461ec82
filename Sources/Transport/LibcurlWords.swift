/// What libcurl says, which may quote the URL of a proxy with its password.
public enum LibcurlWords {
  /// The words with `placeholder` where credentials stand in front of an `@`: at the start of what is quoted, or of
  /// the authority of a URL.
  public static func withoutCredentials(_ text: String, placeholder: String = "…") -> String {
    // A quoted proxy needs no scheme, and its password may hold anything.
    if let quote = text.firstIndex(of: "'"), let at = text.lastIndex(of: "@"), quote < at {
      let inside = text[text.index(after: quote)..<at]
      let start = inside.firstRange(of: "://")?.upperBound ?? inside.startIndex
      return text[..<start] + placeholder + text[at...]
    }
    guard let scheme = text.firstRange(of: "://"),
      case let authority = text[scheme.upperBound...].prefix(while: { !"/ '\"".contains($0) }),
      let at = authority.lastIndex(of: "@")
    else { return text }
    return text[..<scheme.upperBound] + placeholder + text[at...]
  }
}
