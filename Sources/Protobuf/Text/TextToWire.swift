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
    let isRead = (try? writer.fields(plan, until: 0, depth: 0)) != nil
    swap(&writer.out, &buffer)
    guard isRead else { return nil }
    if writer.isCanonical { return writer.mayLackRequired }
    let bytes = buffer.copyBytes(from: start)
    buffer.truncate(to: start)
    return bytes.withUnsafeBytes { try? CanonicalWriter.rewrite($0, type: type, into: &buffer) }
  }

  /// What needs a message, or is an error: it ends the one pass.
  private var unsuitable: ReadFailure { parser.scanner.failure(.unexpectedEnd) }

  // MARK: Messages

  /// The progress within a message.
  private struct Progress {
    /// The slot of the field expected next.
    var next = 0
    /// The number of the last field.
    var last: UInt32 = 0
    var required = 0
    /// The single fields so far, by slot, and their oneofs.
    var fields = SmallSet()
    var oneofs = SmallSet()
    /// Where the elements start that are being written, of a packed field.
    var packedStart: Int?
  }

  /// Reads fields up to and including `end`; 0 is the end of the text.
  private mutating func fields(
    _ plan: PlanPointer, until end: UInt8, depth: Int, keepsZero: Bool = false
  ) throws(ReadFailure) {
    guard !plan.pointee.isMessageSet else { throw unsuitable }
    var progress = Progress()
    var next = parser.scanner.peek()
    while next != end {
      if let field = try name(plan, &progress) {
        try self.field(field, &progress, depth: depth, keepsZero: keepsZero)
      } else {
        try parser.skipField(depth: depth)
      }
      next = parser.scanner.peek()
      if next == UInt8(ascii: ",") || next == UInt8(ascii: ";") {
        parser.scanner.cursor += 1
        next = parser.scanner.peek()
      }
    }
    if end == 0 {
      guard parser.scanner.isAtEnd else { throw unsuitable }
    } else {
      parser.scanner.cursor += 1
    }
    closePacked(&progress)
    if progress.required < plan.pointee.requiredCount { mayLackRequired = true }
  }

  // MARK: Names

  /// Reads the name of a field; nil if the field is to be skipped.
  @inline(__always)
  private mutating func name(
    _ plan: PlanPointer, _ progress: inout Progress
  ) throws(ReadFailure) -> FieldPointer? {
    // Most texts have the order of the schema, without unset fields.
    var expected = progress.next
    let limit = min(expected &+ 4, plan.pointee.count)
    while expected < limit {
      let field = plan.pointee.fields + expected
      if parser.scanner.accept(name: field.pointee.protoKey.name) {
        progress.next = field.pointee.isRepeated ? expected : expected &+ 1
        return field
      }
      expected &+= 1
    }
    return try otherName(plan, &progress)
  }

  @inline(never)
  private mutating func otherName(
    _ plan: PlanPointer, _ progress: inout Progress
  ) throws(ReadFailure) -> FieldPointer? {
    let start = parser.scanner.position
    if parser.scanner.accept(UInt8(ascii: "[")) {
      let name = try parser.scanner.bracketedName()
      guard !name.utf8.contains(UInt8(ascii: "/")) else { throw unsuitable }
      guard
        let field = try parser.extensionField(name, of: plan.pointee.type.takeUnretainedValue(), at: start)
      else { return nil }
      // A schema may define an extension with the number of a field, or out of the ranges of its message.
      guard plan.pointee.field(field.number) == nil,
        (try? plan.pointee.extensionPlan(field.number)) == field.plan
      else { throw unsuitable }
      return field.plan
    }
    if parser.scanner.seesNumber() {
      try parser.fieldNumber()
      return nil
    }
    let name = try parser.scanner.identifier()
    guard let field = try parser.field(named: name, of: plan.pointee.table, at: start) else { return nil }
    progress.next = field.slot
    return plan.pointee.fields + field.slot
  }

  // MARK: Fields

  @inline(__always)
  private mutating func field(
    _ field: FieldPointer, _ progress: inout Progress, depth: Int, keepsZero: Bool
  ) throws(ReadFailure) {
    let number = field.pointee.number
    if number < progress.last { isCanonical = false }
    if number != progress.last { closePacked(&progress) }
    progress.last = number
    progress.required &+= field.pointee.requiredCount
    let hasColon = parser.scanner.accept(UInt8(ascii: ":"))
    guard hasColon || field.pointee.kind.isMessage else { throw unsuitable }
    if field.pointee.isRepeated { return try elements(of: field, &progress, depth: depth) }
    let slot = Int(field.pointee.slot)
    guard progress.fields.insert(slot >= 0 ? slot : Int(number) << 16) else { throw unsuitable }
    if field.pointee.oneof >= 0, !progress.oneofs.insert(Int(field.pointee.oneof)) { throw unsuitable }
    if field.pointee.kind.isMessage { return try message(field, depth: depth) }
    let start = out.count
    out.appendTag(field.pointee.elementTag)
    let isZero = try scalar(field)
    if isZero, !field.pointee.hasPresence, !keepsZero { out.truncate(to: start) }
  }

  /// Reads one element of a list or a map, or several in brackets.
  private mutating func elements(
    of field: FieldPointer, _ progress: inout Progress, depth: Int
  ) throws(ReadFailure) {
    guard parser.scanner.accept(UInt8(ascii: "[")) else {
      return try element(of: field, &progress, depth: depth)
    }
    var count = 0
    while try parser.scanner.nextElement(after: count) {
      try element(of: field, &progress, depth: depth)
      count &+= 1
    }
  }

  @inline(__always)
  private mutating func element(
    of field: FieldPointer, _ progress: inout Progress, depth: Int
  ) throws(ReadFailure) {
    if field.pointee.kind.isMessage { return try message(field, depth: depth) }
    if !field.pointee.isPacked {
      out.appendTag(field.pointee.elementTag)
    } else if progress.packedStart == nil {
      out.appendTag(Tag(field.pointee.number, .lengthDelimited))
      progress.packedStart = out.openLengthDelimited()
    }
    _ = try scalar(field)
  }

  @inline(__always)
  private mutating func closePacked(_ progress: inout Progress) {
    guard let start = progress.packedStart else { return }
    out.closeLengthDelimited(start)
    progress.packedStart = nil
  }

  /// Reads `{ … }` or `< … >`, and writes tag and message.
  private mutating func message(_ field: FieldPointer, depth: Int) throws(ReadFailure) {
    guard depth < nestingLimit, let end = parser.scanner.openMessage(), let plan = try? field.planOfMessage()
    else { throw unsuitable }
    // The entries of a map may be in any order, and lack a key or a value.
    if field.pointee.isMap { isCanonical = false }
    out.appendTag(field.pointee.elementTag)
    if field.pointee.kind == .group {
      try fields(plan, until: end, depth: depth &+ 1)
      out.appendTag(Tag(field.pointee.number, .endGroup))
    } else {
      let start = out.openLengthDelimited()
      try fields(plan, until: end, depth: depth &+ 1, keepsZero: field.pointee.isMap)
      out.closeLengthDelimited(start)
    }
  }

  // MARK: Values

  /// Reads a value and writes it without a tag. Returns whether it is zero.
  @inline(__always)
  private mutating func scalar(_ field: FieldPointer) throws(ReadFailure) -> Bool {
    parser.scanner.skipSpace()
    switch field.pointee.kind {
    case .string, .bytes: return try string(field)
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
  private mutating func otherScalar(_ field: FieldPointer) throws(ReadFailure) -> Bool {
    let node = field.pointee.field
    let value = try parser.value(of: node, depth: 0)
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

  @inline(__always)
  private mutating func string(_ field: FieldPointer) throws(ReadFailure) -> Bool {
    if let count = plainString() { return count == 0 }
    return try otherString(field)
  }

  /// Reads a string of ASCII without escapes, which no other one follows, and returns its length; nil, with nothing
  /// read, for others.
  @inline(__always)
  private mutating func plainString() -> Int? {
    let (cursor, end) = (parser.scanner.cursor, parser.scanner.end)
    guard cursor < end, cursor.pointee == UInt8(ascii: "\"") else { return nil }
    var place = cursor + 1
    while end - place >= 8 {
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
  private mutating func otherString(_ field: FieldPointer) throws(ReadFailure) -> Bool {
    scratch.removeAll(keepingCapacity: true)
    try parser.scanner.strings(into: &scratch)
    if field.pointee.kind == .string, field.pointee.validatesUTF8,
      !scratch.withUnsafeBytes({ UTF8Validation.isValid($0) })
    {
      throw unsuitable
    }
    out.appendVarint(UInt64(scratch.count))
    out.append(scratch)
    return scratch.isEmpty
  }
}
