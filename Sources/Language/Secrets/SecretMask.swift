import RPCurlBase
import RPCurlProtobuf

/// Replaces secrets in texts: literal ones, and those in base64, percent-encoded, or with the escapes of JSON and HTML.
///
/// Texts may be cut, at their end and at each `…`: what is left of a secret there is replaced too.
package struct SecretMask: Sendable {
  /// The replacement of a secret.
  package static let placeholder = "[redacted]"
  /// Whether a text is a placeholder, perhaps after the name of a scheme, as in `Bearer [redacted]`.
  package static func isPlaceholder(_ text: String) -> Bool {
    text == placeholder || text.hasSuffix(" \(placeholder)")
  }
  /// The length of the shortest secret that is replaced: shorter ones are part of many words.
  package static let leastLength = 6
  /// What is in the place of text that was cut out.
  private static let cut = Array("…".utf8)

  private typealias Form = (bytes: [UInt8], isMarked: Bool)

  /// The secrets that are replaced.
  package private(set) var secrets: Set<String> = []
  /// Made when it is used first: secrets are added one by one.
  private var automaton = Locked<TextAutomaton?>(nil)

  /// Whether it replaces nothing.
  package var isEmpty: Bool { secrets.isEmpty }

  /// Makes a mask.
  package init(_ secrets: some Sequence<String> = []) { add(secrets) }

  /// Adds secrets. Those that are too short are ignored.
  package mutating func add(_ values: some Sequence<String>) {
    let new = values.filter { $0.unicodeScalars.count >= Self.leastLength && !secrets.contains($0) }
    guard !new.isEmpty else { return }
    secrets.formUnion(new)
    automaton = Locked(nil)
  }

  /// Adds the secrets of another mask.
  package mutating func add(_ other: SecretMask) { add(other.secrets) }

  // MARK: Forms

  /// What is looked for; the marked ones are parts of texts in base64, which are replaced up to their ends.
  private var forms: [Form] {
    secrets.flatMap { secret in
      // The settings of interceptors have two commas for one.
      let doubled = secret.utf8.contains(UInt8(ascii: ",")) ? [secret.replacing(",", with: ",,")] : []
      return ([secret] + doubled).map { (Array($0.utf8).map(Self.folded), false) }
        + Self.base64(of: Array(secret.utf8))
    }
  }

  /// The digits that the base64 of any text with a secret contains.
  private static func base64(of secret: [UInt8]) -> [Form] {
    (0..<3).map { shift in
      let text = Array(Base64.encode([UInt8](repeating: 0, count: shift) + secret, padding: false).utf8)
      // The digits whose six bits are all of the secret.
      return (text[(shift * 8 + 5) / 6..<(shift + secret.count) * 8 / 6].map(folded), true)
    }
  }

  /// Forms write a blank as a plus sign, and base64 has two alphabets.
  private static func folded(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "+"), UInt8(ascii: "-"): UInt8(ascii: " ")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: byte
    }
  }

  // MARK: Text

  /// The text without secrets.
  package func apply(_ text: String) -> String {
    isEmpty ? text : String(decoding: apply(Array(text.utf8)), as: UTF8.self)
  }

  /// The text without secrets.
  package func apply(_ text: [UInt8]) -> [UInt8] {
    guard !isEmpty else { return text }
    let found = UnescapedText.Escapes.combinations(in: text).flatMap { escapes in
      let plain = UnescapedText(text, escapes)
      return occurrences(in: plain.bytes).map { range in
        plain.sources[range.lowerBound].lowerBound..<plain.sources[range.upperBound - 1].upperBound
      }
    }
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

  /// The parts to replace, in any order.
  private func occurrences(in text: [UInt8]) -> [Range<Int>] {
    let automaton = automaton.withLock { made in
      let automaton = made ?? TextAutomaton(forms)
      made = automaton
      return automaton
    }
    let folded = text.map(Self.folded)
    var found: [Range<Int>] = []
    var state = TextAutomaton.start
    var endOfDigits = 0
    for (index, byte) in folded.enumerated() {
      state = automaton.next(state, byte)
      guard let match = automaton.match(state) else { continue }
      let end = index + 1
      if match.isMarked, endOfDigits < end {
        endOfDigits = text[end...].firstIndex { !Self.isDigit($0) } ?? text.count
      }
      found.append(end - match.length..<(match.isMarked ? max(end, endOfDigits) : end))
    }
    found += Self.starts(in: folded, automaton, cut: Self.cut)
    guard text.contains(Self.cut) else { return found }
    // What is left of the end of a secret is the start of a secret in the reversed text.
    let reversed = TextAutomaton(forms.map { ($0.bytes.reversed(), $0.isMarked) })
    let ends = Self.starts(in: folded.reversed(), reversed, cut: Self.cut.reversed())
    return found
      + ends.map { text.count - $0.upperBound..<text.count - $0.lowerBound }.filter { $0.lowerBound > 0 }
  }

  /// The starts of secrets before each cut, and at the end of a text.
  private static func starts(in text: [UInt8], _ automaton: TextAutomaton, cut: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var state = TextAutomaton.start
    for index in 0...text.count {
      if index == text.count || text[index...].starts(with: cut), automaton.depth(state) >= leastLength {
        found.append(index - automaton.depth(state)..<index)
      }
      if index < text.count { state = automaton.next(state, text[index]) }
    }
    return found
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "+/-_=".utf8.contains(byte)
    }
  }
}
