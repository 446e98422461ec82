/// Parses the text of a path.
struct FieldPathParser {
  private let text: [UInt8]
  private var position = 0

  init(_ text: String) { self.text = Array(text.utf8) }

  mutating func parse() throws(FieldPathError) -> [FieldPath.Step] {
    var steps: [FieldPath.Step] = []
    if text == Array(".".utf8) { return steps }
    repeat {
      guard steps.count < nestingLimit else { throw failure("at most \(nestingLimit) steps") }
      if next == UInt8(ascii: ".") {
        position += 1
      } else if !steps.isEmpty, next != UInt8(ascii: "[") {
        throw failure("\".\" or \"[\"")
      }
      steps.append(try step())
    } while position < text.count
    return steps
  }

  private var next: UInt8? { position < text.count ? text[position] : nil }

  private func failure(_ expected: String) -> FieldPathError { .syntax(offset: position, expected: expected) }

  private mutating func step() throws(FieldPathError) -> FieldPath.Step {
    switch next {
    case UInt8(ascii: "["):
      position += 1
      return try bracket()
    case UInt8(ascii: "("):
      let name = text[(position + 1)...].prefix { $0 != UInt8(ascii: ")") }
      throw failure("an extension in brackets, [\(String(decoding: name, as: UTF8.self))]")
    default: return .field(try name())
    }
  }

  private mutating func name() throws(FieldPathError) -> String {
    // The JSON name of the type URL of an Any.
    if text[position...].starts(with: "@type".utf8) {
      position += 5
      return "@type"
    }
    let name = text[position...].prefix(while: Self.isNamePart)
    guard !name.isEmpty else { throw failure("a field name") }
    position = name.endIndex
    return String(decoding: name, as: UTF8.self)
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "_"), 0x80...: true
    default: false
    }
  }

  /// Parses what follows an opening bracket.
  private mutating func bracket() throws(FieldPathError) -> FieldPath.Step {
    if next == UInt8(ascii: "\"") { return .subscripted(.string(try quoted())) }
    guard let end = text[position...].firstIndex(of: UInt8(ascii: "]")) else { throw failure("\"]\"") }
    guard let step = Self.step(text[position..<end]) else {
      throw failure(
        "an index, a key in quotes such as [\"key\"], an extension such as [pkg.name], a type such as "
          + "[type.googleapis.com/pkg.Type], or []")
    }
    position = end + 1
    return step
  }

  /// The step of the text in brackets; nil if it is invalid.
  private static func step(_ content: ArraySlice<UInt8>) -> FieldPath.Step? {
    let word = String(decoding: content, as: UTF8.self)
    switch word {
    case "": return .each
    case "true", "false": return .subscripted(.bool(word == "true"))
    default: break
    }
    if content.first.map({ $0 == UInt8(ascii: "-") || (48...57).contains($0) }) == true,
      let number = Int64(word).map({ FieldPath.Subscript.integer($0) }) ?? UInt64(word).map({ .unsigned($0) })
    {
      return .subscripted(number)
    }
    if let slash = content.lastIndex(of: UInt8(ascii: "/")) {
      let isURL = content.allSatisfy { isNamePart($0) || "./-~%".utf8.contains($0) }
      return isURL && isQualified(content[(slash + 1)...]) ? .any(word) : nil
    }
    // The name of an extension without a package begins with a full stop.
    let isGlobal = content.first == UInt8(ascii: ".")
    let name = isGlobal ? content.dropFirst() : content
    guard isGlobal || name.contains(UInt8(ascii: ".")), isQualified(name) else { return nil }
    return .extension(String(decoding: name, as: UTF8.self))
  }

  /// Whether text consists of names with full stops between them.
  private static func isQualified(_ text: ArraySlice<UInt8>) -> Bool {
    text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .allSatisfy { name in name.first.map { !(48...57).contains($0) } == true && name.allSatisfy(isNamePart)
      }
  }

  private mutating func quoted() throws(FieldPathError) -> String {
    let start = position
    let result = text.withUnsafeBytes { bytes -> (String, Int)? in
      var scanner = JSONScanner(bytes)
      scanner.position = start
      var scratch = OutputBuffer(capacity: 64)
      guard let content = try? scanner.string(scratch: &scratch) else { return nil }
      return (String(decoding: content, as: UTF8.self), scanner.position)
    }
    guard let (string, end) = result else { throw failure("a JSON string") }
    position = end
    guard next == UInt8(ascii: "]") else { throw failure("\"]\"") }
    position += 1
    return string
  }
}
