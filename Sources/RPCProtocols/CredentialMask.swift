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

  /// What to redact, by its start: each credential, and the base64 digits that any encoding of it contains.
  private var forms: [[UInt8]: [Form]] = [:]
  /// The lengths of the starts in bytes.
  private var startLengths: Set<Int> = []
  /// The length of the starts of all forms that are at least as long.
  private static let startLength = 4

  private struct Form: Sendable, Hashable {
    let bytes: [UInt8]
    /// Whether it is a part of a text in base64, which is redacted up to its end.
    let isBase64: Bool
  }

  /// Makes a mask for texts.
  ///
  /// - Parameters:
  ///   - secrets: The credentials.
  ///   - leastBytes: The length of the shortest that is replaced: many texts contain shorter ones.
  package init(_ secrets: [String], leastBytes: Int = Self.leastBytes) {
    let secrets = secrets.filter { $0.utf8.count >= leastBytes && !Self.commonValues.contains($0) }
    for form in Set(secrets).flatMap({ Self.forms(of: Array($0.utf8)) }) {
      let start = form.bytes.prefix(Self.startLength).map(Self.folded)
      forms[start, default: []].append(form)
      startLengths.insert(start.count)
    }
  }

  /// Makes a mask for the credentials in the headers of a request.
  ///
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
    let found = UnescapedText.Escapes.combinations.flatMap { occurrences(in: UnescapedText(text, $0)) }
    var masked: [UInt8] = []
    var end = 0
    for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if range.lowerBound >= end {
        masked += text[end..<range.lowerBound]
        masked += Self.placeholder.utf8
      }
      end = max(end, range.upperBound)
    }
    return masked + text[end...]
  }

  /// The parts of the original text to redact, in order.
  private func occurrences(in text: UnescapedText) -> [Range<Int>] {
    let folded = text.bytes.map(Self.folded)
    var found: [Range<Int>] = []
    var place = 0
    while place < folded.count {
      let ends = startLengths.lazy.flatMap { length in
        (forms[Array(folded[place...].prefix(length))] ?? []).lazy.compactMap {
          Self.end(of: $0, in: text.bytes, folded, at: place)
        }
      }
      if let end = ends.max() {
        found.append(text.sources[place].lowerBound..<text.sources[end - 1].upperBound)
        place = end
      } else {
        place += 1
      }
    }
    return found
  }

  /// The end of an occurrence, or of the text if that ends within one; nil if there is none at `start`.
  private static func end(of form: Form, in text: [UInt8], _ folded: [UInt8], at start: Int) -> Int? {
    let rest = folded[start...].prefix(form.bytes.count)
    guard rest.elementsEqual(form.bytes.prefix(rest.count).lazy.map(Self.folded)),
      rest.count == form.bytes.count || rest.count >= leastBytes
    else { return nil }
    let isDigit = { (byte: UInt8) in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "+/-_=".utf8.contains(byte)
      }
    }
    var end = rest.endIndex
    while form.isBase64, end < text.count, isDigit(text[end]) { end += 1 }
    return end
  }

  /// Forms write a blank as a plus sign.
  private static func folded(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte }
}
