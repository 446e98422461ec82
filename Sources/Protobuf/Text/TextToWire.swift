/// Converts text format to a serialized message in one pass, without building the message.
///
/// Fields are written in the order of the text. If that is not the order of a serialized message, ``CanonicalWriter``
/// rewrites them. Errors, and text that needs a message, such as an expanded Any, are left to ``TextParser``.
struct TextToWire: ~Copyable {
  private var parser: TextParser
  private var out = OutputBuffer()
  private var scratch: [UInt8] = []
  private var isCanonical = true
  private var mayLackRequired = false
  /// The single fields so far of the messages being read that have no bit in `Progress`: by slot, and their oneofs by
  /// index and the number of fields.
  private var others = FieldOccurrences()

  private init(_ text: UnsafeRawBufferPointer, _ options: TextDecodingOptions) {
    parser = TextParser(scanner: TextScanner(text), options: options)
  }

  /// Reads a text and appends the serialized message; nothing on an error. Required fields may be missing.
  ///
  /// - Returns: The paths of those that are missing; nil if some may be: the caller then decodes the message to find
  ///   them.
  static func transcode(
    _ text: UnsafeRawBufferPointer, type: MessageNode, options: TextDecodingOptions,
    into buffer: inout OutputBuffer
  ) throws(MessageParseError) -> [String]? {
    let start = buffer.count
    if let mayLackRequired = transcodePlain(text, type, options, into: &buffer) {
      return mayLackRequired ? nil : []
    }
    buffer.truncate(to: start)
    var options = options
    options.allowPartial = true
    let message = try TextParser.parse(text, type: type, options: options)
    BinaryEncoder.encode(message.storage, into: &buffer)
    return message.missingRequiredFields()
  }

  /// Reads a text that needs no message; nil, with an undefined number of bytes appended, for others and for errors.
  static func transcodePlain(
    _ text: UnsafeRawBufferPointer, _ type: MessageNode, _ options: TextDecodingOptions,
    into buffer: inout OutputBuffer
  ) -> Bool? {
    guard let plan = try? type.pointerToPlan() else { return nil }
    var writer = TextToWire(text, options)
    swap(&writer.out, &buffer)
    let start = writer.out.count
    writer.out.reserve(text.count / 2 + 64)
    let isRead = (try? writer.fields(plan, until: 0, depth: 0, keepsZero: false)) != nil
    swap(&writer.out, &buffer)
    guard isRead else { return nil }
    if writer.isCanonical { return writer.mayLackRequired }
    let bytes = buffer.copyBytes(from: start)
    buffer.truncate(to: start)
    return bytes.withUnsafeBytes { try? CanonicalWriter.rewrite($0, type: type, into: &buffer) }
  }

  /// What needs a message, or is an error: it ends the one pass.
  private struct Unsuitable: Error {}

  // MARK: Messages

  /// The progress within a message.
  private struct Progress {
    /// The field expected next, and the end of the fields.
    var next: FieldPointer
    let end: FieldPointer
    /// The number of the last field.
    var last: UInt32 = 0
    var required = 0
    /// The single fields so far, by slot, and their oneofs, below 64; those that follow are in `others`.
    var fields: UInt64 = 0
    var oneofs: UInt64 = 0
    var others: FieldOccurrences.Level
    let fieldCount: Int
    /// Where the elements start that are being written, of a packed field.
    var packedStart: Int?
    /// The field whose elements in brackets are being read, and their number so far.
    var list: FieldPointer?
    var elementCount = 0

    init(_ plan: PlanPointer, others: FieldOccurrences.Level) {
      next = plan.pointee.fields
      fieldCount = plan.pointee.count
      end = next + fieldCount
      self.others = others
    }
  }

  /// Reads fields up to and including `end`; 0 is the end of the text.
  private mutating func fields(
    _ plan: PlanPointer, until end: UInt8, depth: Int, keepsZero: Bool
  ) throws(Unsuitable) {
    guard !plan.pointee.isMessageSet else { throw Unsuitable() }
    var progress = Progress(plan, others: others.open())
    while let field = try nextField(plan, &progress, until: end, depth: depth) {
      if field.pointee.kind.isMessage {
        try message(field, depth: depth)
      } else {
        try value(of: field, &progress, keepsZero: keepsZero)
      }
    }
    closePacked(&progress)
    if progress.required < plan.pointee.requiredCount { mayLackRequired = true }
    others.close(progress.others)
  }

  /// Reads `{ … }` or `< … >`, and writes tag and message.
  @inline(__always)
  private mutating func message(_ field: FieldPointer, depth: Int) throws(Unsuitable) {
    guard depth < nestingLimit, let end = parser.scanner.openMessage(), let plan = try? field.planOfMessage()
    else { throw Unsuitable() }
    // The entries of a map may be in any order, and lack a key or a value.
    if field.pointee.isMap { isCanonical = false }
    out.appendTag(field.pointee.elementTag)
    let isGroup = field.pointee.kind == .group
    let start = isGroup ? out.count : out.openLengthDelimited()
    try fields(plan, until: end, depth: depth &+ 1, keepsZero: field.pointee.isMap)
    if isGroup {
      out.appendTag(Tag(field.pointee.number, .endGroup))
    } else {
      out.closeLengthDelimited(start)
    }
  }

  // MARK: Names

  /// Reads up to the value of the next field that is not to be skipped, or to the next element; nil after the end of
  /// the message.
  @inline(__always)
  private mutating func nextField(
    _ plan: PlanPointer, _ progress: inout Progress, until end: UInt8, depth: Int
  ) throws(Unsuitable) -> FieldPointer? {
    while true {
      if let list = progress.list, try hasElement(&progress) { return list }
      guard let field = try name(plan, &progress, until: end, depth: depth) else { return nil }
      try enter(field, &progress)
      guard field.pointee.isRepeated, parser.scanner.accept(UInt8(ascii: "[")) else { return field }
      progress.list = field
      progress.elementCount = 0
    }
  }

  /// Whether another element of a list in brackets follows.
  @inline(never)
  private mutating func hasElement(_ progress: inout Progress) throws(Unsuitable) -> Bool {
    guard let hasElement = try? parser.scanner.nextElement(after: progress.elementCount) else {
      throw Unsuitable()
    }
    if !hasElement { progress.list = nil }
    progress.elementCount &+= 1
    parser.scanner.skipSpace()
    return hasElement
  }

  /// Reads the name of the next field that is not to be skipped; nil after `end`.
  @inline(__always)
  private mutating func name(
    _ plan: PlanPointer, _ progress: inout Progress, until end: UInt8, depth: Int
  ) throws(Unsuitable) -> FieldPointer? {
    if _slowPath(parser.scanner.peek() == end), end != 0 {
      parser.scanner.cursor += 1
      return nil
    }
    if let field = expectedName(&progress) { return field }
    return try otherName(plan, &progress, until: end, depth: depth)
  }

  /// Reads a name that probably follows: most texts have the order of the schema, without unset fields.
  @inline(__always)
  private mutating func expectedName(_ progress: inout Progress) -> FieldPointer? {
    var field = progress.next
    let limit = min(field + 4, progress.end)
    while field < limit {
      if parser.scanner.accept(nameOf: field.pointee.protoKey) {
        progress.next = field.pointee.isRepeated ? field : field + 1
        return field
      }
      field += 1
    }
    return nil
  }

  /// Reads the separator after a field, if there is one, and a name that is not expected.
  @inline(never)
  private mutating func otherName(
    _ plan: PlanPointer, _ progress: inout Progress, until end: UInt8, depth: Int
  ) throws(Unsuitable) -> FieldPointer? {
    if progress.last > 0 { parser.scanner.skipSeparator() }
    while parser.scanner.peek() != end {
      if let field = expectedName(&progress) { return field }
      do throws(ReadFailure) {
        if let field = try declaredName(plan) {
          if field.pointee.slot >= 0 { progress.next = field }
          return field
        }
        try parser.skipField(depth: depth)
      } catch {
        throw Unsuitable()
      }
      parser.scanner.skipSeparator()
    }
    if end != 0 {
      parser.scanner.cursor += 1
    } else if !parser.scanner.isAtEnd {
      throw Unsuitable()
    }
    return nil
  }

  /// Reads a name, also of an extension; nil if the field is to be skipped. Which failure ends the one pass does not
  /// matter.
  private mutating func declaredName(_ plan: PlanPointer) throws(ReadFailure) -> FieldPointer? {
    let start = parser.scanner.position
    if parser.scanner.accept(UInt8(ascii: "[")) {
      let name = try parser.scanner.bracketedName()
      guard !name.utf8.contains(UInt8(ascii: "/")) else { throw parser.scanner.failure(.unexpectedEnd) }
      guard
        let field = try parser.extensionField(name, of: plan.pointee.type.takeUnretainedValue(), at: start)
      else { return nil }
      // A schema may define an extension with the number of a field, or out of the ranges of its message.
      guard plan.pointee.field(field.number) == nil,
        (try? plan.pointee.extensionPlan(field.number)) == field.plan
      else { throw parser.scanner.failure(.unexpectedEnd) }
      return field.plan
    }
    if parser.scanner.seesNumber() {
      try parser.fieldNumber()
      return nil
    }
    let name = try parser.scanner.identifier()
    guard let field = try parser.field(named: name, of: plan.pointee.table, at: start) else { return nil }
    return plan.pointee.fields + field.slot
  }

  // MARK: Fields

  /// Reads the colon after a name, and checks that the field may follow.
  @inline(__always)
  private mutating func enter(_ field: FieldPointer, _ progress: inout Progress) throws(Unsuitable) {
    let number = field.pointee.number
    if number != progress.last {
      if number < progress.last { isCanonical = false }
      closePacked(&progress)
      progress.last = number
    }
    progress.required &+= field.pointee.requiredCount
    guard parser.scanner.acceptColon() || field.pointee.kind.isMessage,
      field.pointee.isRepeated || isNew(field, &progress)
    else { throw Unsuitable() }
  }

  /// Whether a single field occurs for the first time, as the first one of its oneof.
  @inline(__always)
  private mutating func isNew(_ field: FieldPointer, _ progress: inout Progress) -> Bool {
    let (slot, oneof) = (Int(field.pointee.slot), Int(field.pointee.oneof))
    guard slot >= 0 else { return others.insert(extension: field.pointee.number, in: &progress.others) }
    let level = progress.others
    return isNew(slot, in: &progress.fields, otherwise: slot, in: level)
      && (oneof < 0
        || isNew(oneof, in: &progress.oneofs, otherwise: progress.fieldCount &+ oneof, in: level))
  }

  /// The same for what has `index` in `bits`, or `number` in `others`.
  @inline(__always)
  private mutating func isNew(
    _ index: Int, in bits: inout UInt64, otherwise number: Int, in level: FieldOccurrences.Level
  ) -> Bool {
    guard index < 64 else { return others.insert(number, in: level) }
    let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: index)
    defer { bits |= bit }
    return bits & bit == 0
  }

  /// Reads a value or an element, and writes it with its tag, unless it is a zero that is omitted.
  @inline(__always)
  private mutating func value(
    of field: FieldPointer, _ progress: inout Progress, keepsZero: Bool
  ) throws(Unsuitable) {
    let start = out.count
    if !field.pointee.isPacked {
      out.appendTag(field.pointee.elementTag)
    } else if progress.packedStart == nil {
      out.appendTag(Tag(field.pointee.number, .lengthDelimited))
      progress.packedStart = out.openLengthDelimited()
    }
    if try scalar(field), !keepsZero, !field.pointee.hasPresence, !field.pointee.isRepeated {
      out.truncate(to: start)
    }
  }

  @inline(__always)
  private mutating func closePacked(_ progress: inout Progress) {
    guard let start = progress.packedStart else { return }
    out.closeLengthDelimited(start)
    progress.packedStart = nil
  }

  // MARK: Values

  /// Reads a value, in most texts without space before it, and writes it without a tag. Returns whether it is zero.
  @inline(__always)
  private mutating func scalar(_ field: FieldPointer) throws(Unsuitable) -> Bool {
    switch field.pointee.kind {
    case .string, .bytes:
      if let count = plainString() { return count == 0 }
      return try otherString(field)
    case .double:
      if let value = parser.scanner.plainDouble() {
        out.appendFixed64(value.bitPattern)
        return value.bitPattern == 0
      }
    case .bool:
      if parser.scanner.acceptWord("true") {
        out.append(1)
        return false
      }
    case .enumeration, .float: break
    default:
      if let bits = plainInteger(field) {
        out.append(bits: bits, field.pointee.kind)
        return bits == 0
      }
    }
    return try otherScalar(field)
  }

  @inline(never)
  private mutating func otherScalar(_ field: FieldPointer) throws(Unsuitable) -> Bool {
    let node = field.pointee.field
    guard let value = try? parser.value(of: node, depth: 0) else { throw Unsuitable() }
    let start = out.count
    BinaryEncoder.appendContent(value, of: node, into: &out)
    return UnsafeBufferPointer(start: out.base + start, count: out.count - start).allSatisfy { $0 == 0 }
  }

  /// Reads a whole number in plain notation; nil, with nothing read, for others.
  @inline(__always)
  private mutating func plainInteger(_ field: FieldPointer) -> UInt64? {
    guard
      let (bits, end) = DecimalReader.integer(parser.scanner.cursor, parser.scanner.end, field.pointee.kind),
      end < parser.scanner.end, DecimalReader.isEnd(end.pointee)
    else { return nil }
    parser.scanner.cursor = end
    return bits
  }

  /// Reads a string of ASCII without escapes, which no other one follows, and returns its length; nil, with nothing
  /// read, for others.
  @inline(__always)
  private mutating func plainString() -> Int? {
    let (cursor, end) = (parser.scanner.cursor, parser.scanner.end)
    guard end - cursor > 8, cursor.pointee == UInt8(ascii: "\"") else { return nil }
    var place = cursor + 1
    let last = end - 8
    while place <= last {
      let marks = Words.endsOfPlainText(UnsafeRawPointer(place).loadUnaligned(as: UInt64.self).littleEndian)
      guard marks != 0 else {
        place += 8
        continue
      }
      place += marks.trailingZeroBitCount &>> 3
      guard place.pointee == UInt8(ascii: "\"") else { return nil }
      parser.scanner.cursor = place + 1
      let next = parser.scanner.peek()
      guard next != UInt8(ascii: "\""), next != UInt8(ascii: "'") else {
        parser.scanner.cursor = cursor
        return nil
      }
      let text = UnsafeRawBufferPointer(start: cursor + 1, count: place - cursor - 1)
      out.append(delimited: text, within: parser.scanner.bytes)
      return text.count
    }
    return nil
  }

  @inline(never)
  private mutating func otherString(_ field: FieldPointer) throws(Unsuitable) -> Bool {
    scratch.removeAll(keepingCapacity: true)
    guard (try? parser.scanner.strings(into: &scratch)) != nil,
      field.pointee.kind == .bytes || !field.pointee.validatesUTF8
        || scratch.withUnsafeBytes({ UTF8Validation.isValid($0) })
    else { throw Unsuitable() }
    out.appendVarint(UInt64(scratch.count))
    out.append(scratch)
    return scratch.isEmpty
  }
}
