import RPCurlProtocols

/// The directives of `Cache-Control` that matter to a private cache without validation (RFC 9111, section 5.2).
struct CacheControl {
  /// Whether neither the response may be stored, nor that to this request.
  private(set) var forbidsStoring = false
  /// Whether a stored response is used only after the server has validated it.
  private(set) var requiresValidation = false
  /// How old a response may be, in seconds.
  private(set) var maxAge: Int?

  /// Reads the directives. Of several ages, the lowest counts; an invalid one is 0 (section 4.2.1).
  init(_ headers: Headers) {
    for value in headers.values("cache-control") {
      var (text, isQuoted) = ("", false)
      // Commas within quotes do not separate directives.
      for scalar in value.unicodeScalars {
        if scalar == "\"" {
          isQuoted.toggle()
        } else if scalar == ",", !isQuoted {
          add(text)
          text = ""
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
      add(text)
    }
  }

  private mutating func add(_ directive: String) {
    let end = directive.firstIndex(of: "=") ?? directive.endIndex
    switch HeaderSyntax.trimmed(directive[..<end]).lowercased() {
    case "no-store": forbidsStoring = true
    // With the name of a field, the directive may be applied to the whole response (section 5.2.2.4).
    case "no-cache": requiresValidation = true
    case "max-age":
      maxAge = min(maxAge ?? .max, Self.seconds(HeaderSyntax.trimmed(directive[end...].dropFirst())) ?? 0)
    // `private` forbids only shared caches to store the response (section 5.2.2.7).
    default: break
    }
  }

  /// The longest time, in seconds (section 1.2.2).
  static let longest = 1 << 31

  /// A whole number of seconds; nil if it is invalid.
  static func seconds(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return min(Int(text) ?? longest, longest)
  }
}
