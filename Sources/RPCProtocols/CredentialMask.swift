import Protobuf

/// Replaces the credentials of a request in text of a server: also those in base64, percent-encoded, or with the escapes
/// of JSON and HTML.
package struct CredentialMask: Sendable {
  /// The replacement of redacted text.
  package static let placeholder = "[redacted]"

  /// Shorter values are part of many words.
  package static let leastBytes = 4
  /// Values that many texts contain.
  private static let commonValues: Set = ["true", "false", "null"]

  /// What to find: the credentials, and their parts of base64 texts.
  private var forms: [Form] = []

  private struct Form: Sendable, Hashable {
    let bytes: [UInt8]
    /// Whether it is a part of a text in base64, which is redacted up to its end.
    let isBase64: Bool
  }

  /// - Parameters:
  ///   - secrets: The credentials.
  ///   - leastBytes: The length of the shortest that is replaced: many texts contain shorter ones.
  package init(_ secrets: [String], leastBytes: Int = Self.leastBytes) {
    let secrets = secrets.filter { $0.utf8.count >= leastBytes && !Self.commonValues.contains($0) }
    forms = Set(secrets.map { Array($0.utf8) }).flatMap(Self.forms)
  }

  /// - Parameters:
  ///   - headers: The headers of a request.
  ///   - names: The names of those with credentials, in addition to the names that look like it.
  ///   - others: Further credentials.
  package init(_ headers: Headers, names: Set<String> = [], others: [String] = []) {
    self.init(
      headers.fields.filter { names.contains($0.name) || Self.isSecret($0.name) }.flatMap(Self.parts) + others
    )
  }

  // MARK: Credentials

  /// Substrings of the names of headers that carry credentials.
  private static let marks = [
    "auth", "token", "secret", "password", "passwd", "credential", "cookie", "session", "apikey", "api-key",
    "signature", "jwt", "assertion",
  ]
  /// Suffixes of other such names.
  private static let lastMarks = ["-key"]
  /// The schemes of an authorization, which are not secret.
  package static let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "ntlm", "token"]

  /// Whether values of the header `name` may be credentials.
  package static func isSecret(_ name: String) -> Bool {
    var name = String(name.map { $0 == "_" ? "-" : $0 })
    if name.hasSuffix("-bin") { name.removeLast("-bin".count) }
    guard name != "host", name != ":authority" else { return false }
    return marks.contains(where: name.contains) || lastMarks.contains(where: name.hasSuffix)
  }

  /// The value of a header, and its parts that are credentials: what follows a scheme, the password of HTTP Basic, the
  /// values of cookies, and the bytes of a binary header.
  private static func parts(_ field: Headers.Field) -> [String] {
    var parts = [field.value]
    if let blank = field.value.firstRange(of: " ") {
      let credentials = String(field.value[blank.upperBound...])
      if schemes.contains(field.value[..<blank.lowerBound].lowercased()) { parts = [] }
      parts.append(credentials)
      if let login = Base64.decode(credentials).map({ String(decoding: $0, as: UTF8.self) }),
        let colon = login.firstRange(of: ":")
      {
        parts += [login, String(login[colon.upperBound...])]
      }
    }
    if field.name == "cookie" {
      for pair in field.value.split(separator: ";") {
        if let sign = pair.firstRange(of: "=") {
          parts.append(HeaderSyntax.trimmed(pair[sign.upperBound...]))
        }
      }
    }
    if Headers.isBinary(field.name), let bytes = Base64.decode(field.value) {
      parts.append(String(decoding: bytes, as: UTF8.self))
    }
    return parts
  }

  /// A credential, and what the base64 of any text that contains it contains, in both alphabets.
  private static func forms(of secret: [UInt8]) -> [Form] {
    var forms = [Form(bytes: secret, isBase64: false)]
    for shift in 0..<3 {
      let text = Array(Base64.encode([UInt8](repeating: 0, count: shift) + secret, padding: false).utf8)
      // The digits whose six bits are all of the secret.
      let digits = text[(shift * 8 + 5) / 6..<(shift + secret.count) * 8 / 6]
      guard digits.count >= leastBytes else { continue }
      let urlDigits = digits.map {
        $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
      }
      forms.append(Form(bytes: Array(digits), isBase64: true))
      if urlDigits != Array(digits) { forms.append(Form(bytes: urlDigits, isBase64: true)) }
    }
    return forms
  }

  // MARK: Text

  /// The text without credentials, and without the start of one at its end, where it may be cut.
  package func apply(_ text: String) -> String {
    String(decoding: apply(Array(text.utf8)), as: UTF8.self)
  }

  /// The text without credentials, and without the start of one at its end, where it may be cut.
  package func apply(_ text: [UInt8]) -> [UInt8] {
    guard !forms.isEmpty else { return text }
    var masked: [UInt8] = []
    var index = 0
    while index < text.count {
      if let end = forms.lazy.compactMap({ Self.end(of: $0, in: text, at: index) }).max() {
        masked += Self.placeholder.utf8
        index = end
      } else {
        masked.append(text[index])
        index += 1
      }
    }
    return masked
  }

  /// The end of an occurrence; nil if there is none at `start`.
  private static func end(of form: Form, in text: [UInt8], at start: Int) -> Int? {
    // With escapes last: a credential may itself contain what looks like one.
    guard
      var end = end(of: form, in: text, at: start, next: { $1 == text[$0] ? $0 + 1 : nil })
        ?? end(of: form, in: text, at: start, next: { escapeEnd(of: $1, in: text, at: $0) })
    else { return nil }
    let isDigit = { (byte: UInt8) in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "+/-_=%".utf8.contains(byte)
      }
    }
    while form.isBase64, end < text.count, isDigit(text[end]) { end += 1 }
    return end
  }

  /// - Parameter next: The end of a byte at a place of the text; nil if another byte is there.
  private static func end(
    of form: Form, in text: [UInt8], at start: Int, next: (_ place: Int, _ byte: UInt8) -> Int?
  ) -> Int? {
    var place = start
    for (count, byte) in form.bytes.enumerated() {
      guard place < text.count else { return count >= leastBytes ? place : nil }
      guard let end = next(place, byte) else { return nil }
      place = end
    }
    return place
  }

  /// The end of a byte that is literal, or escaped as in URLs, JSON or HTML; nil if another byte is at the place.
  private static func escapeEnd(of byte: UInt8, in text: [UInt8], at place: Int) -> Int? {
    let rest = text[place...]
    func hexEnd(after prefix: String, _ digits: Int) -> Int? {
      guard rest.starts(with: prefix.utf8) else { return nil }
      let first = place + prefix.utf8.count
      guard first + digits <= text.count,
        UInt8(String(decoding: text[first..<first + digits], as: UTF8.self), radix: 16) == byte
      else { return nil }
      return first + digits
    }
    switch text[place] {
    case UInt8(ascii: "%"): if let end = hexEnd(after: "%", 2) { return end }
    case UInt8(ascii: "+") where byte == UInt8(ascii: " "): return place + 1
    case UInt8(ascii: "\\"):
      if let end = hexEnd(after: "\\u00", 2) { return end }
      if place + 1 < text.count, text[place + 1] == byte, "\"\\/".utf8.contains(byte) { return place + 2 }
    case UInt8(ascii: "&"):
      for name in HTMLText.entities(of: byte) where rest.starts(with: name.utf8) {
        return place + name.utf8.count
      }
    default: break
    }
    return text[place] == byte ? place + 1 : nil
  }
}
