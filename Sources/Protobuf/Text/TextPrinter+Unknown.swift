/// Printing unknown fields by number, as `protoc --decode_raw` does.
extension TextPrinter {
  /// The longest text of a message's bytes in a comment.
  private static let shownBytes = 64

  mutating func unknown(
    _ fields: WireReader, isMessageSet: Bool, budget: Int = UnknownField.depthLimit
  ) {
    var reader = fields
    while !reader.isAtEnd, let tag = try? reader.tag() {
      startField()
      if isMessageSet, tag == MessageSet.itemStart, let item = try? setItem(&reader) {
        nested(item.content, number: item.number, budget: budget)
      } else if let field = try? UnknownField(tag, &reader) {
        unknown(field, budget: budget)
      } else {
        return
      }
    }
  }

  private func setItem(_ reader: inout WireReader) throws -> (number: UInt32, content: WireReader)? {
    var ahead = reader
    let content = try ahead.group(MessageSet.itemStart.number, depth: 0)
    guard let item = try MessageSet.item(content, depth: 0) else { return nil }
    reader = ahead
    return item
  }

  private mutating func unknown(_ field: UnknownField, budget: Int) {
    switch field.content {
    case .group(let content): return nested(content, number: field.number, budget: budget)
    case .lengthDelimited(let content) where !content.isAtEnd && budget > 0 && content.isMessage:
      return nested(content, number: field.number, budget: budget - 1, isGroup: false)
    case .lengthDelimited(let content):
      number(field.number)
      TextEscapes.append(content.rest, isText: false, to: &out)
    case .varint(let value):
      number(field.number)
      JSONText.appendInteger(value, to: &out)
    case .fixed32(let value):
      number(field.number)
      hexadecimal(UInt64(value), digits: 8)
    case .fixed64(let value):
      number(field.number)
      hexadecimal(value, digits: 16)
    }
    if showsTypes { otherTypes(of: field.content) }
    endLine()
  }

  private mutating func number(_ number: UInt32) {
    JSONText.appendInteger(UInt64(number), to: &out)
    out.append(": ")
  }

  private mutating func nested(_ content: WireReader, number: UInt32, budget: Int, isGroup: Bool = true) {
    JSONText.appendInteger(UInt64(number), to: &out)
    out.append(" {")
    if showsTypes, !isGroup { bytes(of: content) }
    endLine()
    indentation += 1
    unknown(content, isMessageSet: false, budget: budget)
    close()
  }

  private mutating func hexadecimal(_ value: UInt64, digits: Int) {
    out.append("0x")
    for position in stride(from: digits - 1, through: 0, by: -1) {
      let digit = UInt8(truncatingIfNeeded: value >> UInt64(4 * position) & 15)
      out.append(digit < 10 ? 48 + digit : 87 + digit)
    }
  }

  // MARK: Types

  private var showsTypes: Bool { options.showsTypes && !options.singleLine }

  /// Writes a comment with the value as each other type that it can have.
  private mutating func otherTypes(of content: UnknownField.Content) {
    switch content {
    case .varint(let bits):
      out.append("  # or sint64 ")
      JSONText.appendInteger(ZigZag.decode(bits), to: &out)
      let signed = Int64(bitPattern: bits)
      if signed < 0 { integer(", int64 ", signed) }
      if bits < 2 { out.append(bits == 1 ? ", bool true" : ", bool false" as StaticString) }
    case .fixed32(let bits):
      out.append("  # or fixed32 ")
      JSONText.appendInteger(UInt64(bits), to: &out)
      let signed = Int32(bitPattern: bits)
      if signed < 0 { integer(", sfixed32 ", Int64(signed)) }
      out.append(", float ")
      let value = Float(bitPattern: bits)
      if value.isFinite { JSONText.append(value, to: &out) } else { special(Double(value)) }
    case .fixed64(let bits):
      out.append("  # or fixed64 ")
      JSONText.appendInteger(bits, to: &out)
      let signed = Int64(bitPattern: bits)
      if signed < 0 { integer(", sfixed64 ", signed) }
      out.append(", double ")
      let value = Double(bitPattern: bits)
      if value.isFinite { JSONText.append(value, to: &out) } else { special(value) }
    case .lengthDelimited(let reader) where reader.isAtEnd: out.append("  # or an empty message")
    case .lengthDelimited(let reader):
      // The value has escapes for all bytes that are not ASCII.
      guard reader.rest.contains(where: { $0 >= 0x80 }), UTF8Validation.isValid(reader.rest) else { return }
      out.append("  # or string ")
      TextEscapes.append(reader.rest, isText: true, to: &out)
    case .group: break
    }
  }

  private mutating func integer(_ type: StaticString, _ value: Int64) {
    out.append(type)
    JSONText.appendInteger(value, to: &out)
  }

  /// Writes a comment with the bytes of a message, which can also be a string or bytes.
  private mutating func bytes(of content: WireReader) {
    let isText = UTF8Validation.isValid(content.rest)
    out.append(isText ? "  # or string " : "  # or bytes " as StaticString)
    if content.remaining > TextPrinter.shownBytes {
      out.append("of \(content.remaining) bytes")
    } else {
      TextEscapes.append(content.rest, isText: isText, to: &out)
    }
  }
}
