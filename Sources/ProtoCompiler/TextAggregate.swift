/// Reads the value of an option in the text format, and writes its fields with the linker's writer.
struct TextAggregate {
  private var lexer: Lexer
  /// What is wrong.
  private(set) var problems: [String] = []
  /// The fields that each message on the way to the current one has so far.
  private var seen: [Handle] = []
  private var depth = 0
  private var anyDepth = 0
  private var level = Level(start: 0)

  /// The message that is read.
  private struct Level {
    /// Where its fields begin.
    var start: Int
    var lastNumber: Int32 = 0
    /// Whether its fields are in the order of their numbers, and none is packed.
    var isCanonical = true
  }

  /// How deep messages may be nested. protoc has no limit but its stack.
  static let depthLimit = 400

  init(_ text: UnsafeBufferPointer<UInt8>) { lexer = Lexer(text, style: .text) }

  /// A text whose comments of the language are replaced by spaces and line breaks: the text format has other comments.
  static func withoutComments(_ text: UnsafeBufferPointer<UInt8>, _ names: inout Names) -> [UInt8] {
    var lexer = Lexer(text)
    var cleaned: [UInt8] = []
    repeat {
      lexer.next(&names)
      let gap = text[lexer.previous.end..<lexer.token.start]
      cleaned.append(
        contentsOf: gap.contains(UInt8(ascii: "/")) ? [gap.contains(0x0a) ? 0x0a : 0x20] : Array(gap))
      cleaned.append(contentsOf: text[lexer.token.start..<lexer.token.end])
    } while lexer.token.kind != .end
    return cleaned
  }

  /// Reads the fields of a message up to the end of the text.
  mutating func read(_ message: Handle, _ linker: inout Linker) {
    level = Level(start: linker.writer.count)
    advance(&linker)
    while token.kind != .end {
      guard readField(message, 0, &linker) else { return }
    }
    checkRequired(message, 0, &linker)
    if !level.isCanonical { linker.sortFields(of: message, from: level.start) }
  }

  // MARK: Tokens

  private var token: Token { lexer.token }

  private mutating func advance(_ linker: inout Linker) {
    lexer.next(&linker.names)
    for problem in lexer.problems { problems.append(problem.text) }
    lexer.problems.removeAll()
  }

  private func at(_ symbol: Unicode.Scalar) -> Bool {
    lexer.token.symbol == UInt8(truncatingIfNeeded: symbol.value)
  }

  private mutating func take(_ symbol: Unicode.Scalar, _ linker: inout Linker) -> Bool {
    guard at(symbol) else { return false }
    advance(&linker)
    return true
  }

  private var tokenBytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: lexer.base + token.start, count: token.end - token.start)
  }

  private var tokenText: String { String(decoding: tokenBytes, as: UTF8.self) }

  private mutating func fail(_ text: String) -> Bool {
    problems.append(text)
    return false
  }

  private mutating func consume(_ symbol: Unicode.Scalar, _ linker: inout Linker) -> Bool {
    if take(symbol, &linker) { return true }
    return fail("Expected \"\(symbol)\", found \"\(tokenText)\".")
  }

  // MARK: Fields

  /// Reads a field of a message whose earlier fields are `seen` from `base` on.
  private mutating func readField(_ message: Handle, _ base: Int, _ linker: inout Linker) -> Bool {
    if at("["), isAny(message, linker) { return readAny(message, base, &linker) }
    let field: Handle
    let name: String
    if at("[") {
      guard let (found, text) = readExtensionName(message, &linker) else { return false }
      (field, name) = (found, text)
    } else {
      guard token.kind == .identifier else { return fail("Expected identifier, got: \(tokenText)") }
      let word = token.name
      name = linker.names[word]
      field = findField(word, name, message, &linker)
      if field == .none, !isReserved(word, message, linker) {
        return fail("Message type \"\(linker.fullName(message: message))\" has no field named \"\(name)\".")
      }
      advance(&linker)
    }
    guard field != .none else { return skipReserved(&linker) }
    guard checkRepetition(field, name, base, linker) else { return false }
    let found = linker.schema.fields[field]
    if found.isSourceRetention { linker.sawSourceRetention = true }
    if found.hasFeatureSupport { linker.sawFeatureSupport = true }
    if found.hasTargets { linker.sawTargets = true }
    if found.number < level.lastNumber || linker.isPacked(found) { level.isCanonical = false }
    level.lastNumber = found.number
    if found.type.isMessage {
      _ = take(":", &linker)
    } else {
      guard consume(":", &linker) else { return false }
    }
    if found.label == .repeated, take("[", &linker) {
      if !take("]", &linker) {
        repeat {
          guard readValue(field, found, &linker) else { return false }
        } while take(",", &linker)
        guard consumeListEnd(&linker) else { return false }
      }
    } else {
      let start = linker.writer.count
      guard readValue(field, found, &linker) else { return false }
      if found.label != .repeated {
        if linker.isImplicit(found), linker.hasZero(from: start) {
          linker.writer.truncate(to: start)
        } else {
          seen.append(field)
        }
      }
    }
    if !take(";", &linker) { _ = take(",", &linker) }
    return true
  }

  private mutating func consumeListEnd(_ linker: inout Linker) -> Bool {
    if take("]", &linker) { return true }
    return fail("Expected \",\", found \"\(tokenText)\".")
  }

  private func findField(_ word: Name, _ name: String, _ message: Handle, _ linker: inout Linker) -> Handle {
    let field = linker.schema.field(word, of: message)
    if field != .none { return field }
    // The field of a group has the name of its message in lower case, but the text format uses the name of the message.
    let lower = name.utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    let group = linker.schema.field(linker.names.intern(String(decoding: lower, as: UTF8.self)), of: message)
    guard group != .none else { return .none }
    let node = linker.schema.fields[group]
    guard node.type == .group else { return .none }
    let type = linker.schema.messages[node.typeIndex]
    return type.declaration.name == word && type.file == node.file && type.parent == message ? group : .none
  }

  private func isReserved(_ word: Name, _ message: Handle, _ linker: borrowing Linker) -> Bool {
    var entry = linker.schema.messages[message].reservedNames.first
    while entry != .none {
      if linker.schema.reservedNames[entry].name == word { return true }
      entry = linker.schema.reservedNames[entry].next
    }
    return false
  }

  private mutating func checkRepetition(
    _ field: Handle, _ name: String, _ base: Int, _ linker: borrowing Linker
  ) -> Bool {
    let found = linker.schema.fields[field]
    guard found.label != .repeated else { return true }
    if seen[base...].contains(field) {
      return fail("Non-repeated field \"\(name)\" is specified multiple times.")
    }
    guard found.oneof != .none, !found.isExtension else { return true }
    if let other = seen[base...].first(where: { linker.schema.fields[$0].oneof == found.oneof }) {
      let otherName = linker.names[linker.schema.fields[other].declaration.name]
      let oneof = linker.names[linker.schema.oneofs[found.oneof].declaration.name]
      return fail(
        "Field \"\(name)\" is specified along with field \"\(otherName)\", another member of oneof \"\(oneof)\"."
      )
    }
    return true
  }

  // MARK: Extensions and Any

  /// Reads the text between brackets: a prefix that ends with a slash, and a name with dots.
  private mutating func readURL(_ linker: inout Linker) -> (prefix: String, name: String)? {
    let bytes = lexer.readURL(&linker.names)
    for problem in lexer.problems { problems.append(problem.text) }
    lexer.problems.removeAll()
    guard consume("]", &linker) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    let split = bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    let prefix = String(decoding: bytes[..<split], as: UTF8.self)
    if prefix == "/" {
      _ = fail("Type URL prefix is empty")
      return nil
    }
    if prefix.utf8.first == UInt8(ascii: "/") {
      _ = fail("Type URL starts with \"/\"")
      return nil
    }
    for (index, byte) in bytes[..<split].enumerated() where byte == UInt8(ascii: "%") {
      guard index + 2 < split, Lexer.isHexDigit(bytes[index + 1]), Lexer.isHexDigit(bytes[index + 2]) else {
        _ = fail(
          "Invalid percent encode, got: \"\(String(decoding: bytes[index..<min(index + 3, split)], as: UTF8.self))\""
        )
        return nil
      }
    }
    for part in bytes[split...].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard part.withUnsafeBufferPointer({ Lexer.isIdentifier($0) }) else {
        _ = fail("Invalid identifier in type name, got: \"\(String(decoding: part, as: UTF8.self))\"")
        return nil
      }
    }
    return (prefix, String(text.utf8.dropFirst(split)) ?? "")
  }

  private mutating func readExtensionName(_ message: Handle, _ linker: inout Linker) -> (Handle, String)? {
    guard let (prefix, name) = readURL(&linker) else { return nil }
    guard prefix.isEmpty else {
      _ = fail("Extension name contains \"/\"")
      return nil
    }
    let field = linker.findExtension(name, of: message)
    guard field != .none else {
      _ = fail(
        "Extension \"\(name)\" is not defined or is not an extension of \"\(linker.fullName(message: message))\"."
      )
      return nil
    }
    return (field, name)
  }

  private func isAny(_ message: Handle, _ linker: borrowing Linker) -> Bool {
    let symbol = linker.schema.symbols[linker.schema.messages[message].declaration.symbol]
    guard symbol.name == Word.Any, symbol.parent > Schema.hiddenRoot else { return false }
    let package = linker.schema.symbols[symbol.parent]
    return package.name == Word.protobuf && package.parent > Schema.hiddenRoot
      && linker.schema.symbols[package.parent].name == Word.google
      && linker.schema.symbols[package.parent].parent <= Schema.hiddenRoot
  }

  private mutating func readAny(_ message: Handle, _ base: Int, _ linker: inout Linker) -> Bool {
    guard let (prefix, name) = readURL(&linker) else { return false }
    if prefix.isEmpty { return fail("Type URL prefix is missing") }
    _ = take(":", &linker)
    let type =
      prefix == "type.googleapis.com/" || prefix == "type.googleprod.com/" ? linker.findMessage(name) : .none
    guard type != .none else {
      return fail("Could not find type \"\(prefix)\(name)\" stored in google.protobuf.Any.")
    }
    let urlField = linker.schema.field(number: 1, of: message)
    let valueField = linker.schema.field(number: 2, of: message)
    if seen[base...].contains(urlField) || seen[base...].contains(valueField) {
      return fail("Non-repeated Any specified multiple times.")
    }
    var url = prefix + name
    url.withUTF8 { linker.writer.field(1, bytes: $0) }
    let start = linker.writer.begin(2)
    anyDepth += 1
    defer { anyDepth -= 1 }
    guard readMessage(type, &linker) else { return false }
    linker.writer.end(start)
    // An empty value is absent.
    if linker.writer.count == start { linker.writer.truncate(to: start - 2) }
    seen += [urlField, valueField]
    if !take(";", &linker) { _ = take(",", &linker) }
    return true
  }

  // MARK: Messages

  /// Reads a message in braces, and writes its fields.
  private mutating func readMessage(_ message: Handle, _ linker: inout Linker) -> Bool {
    let closing: Unicode.Scalar = at("<") ? ">" : "}"
    if !take("<", &linker) {
      guard consume("{", &linker) else { return false }
    }
    guard depth < TextAggregate.depthLimit else {
      return fail(
        "Message is too deep, the parser exceeded the configured recursion limit of \(TextAggregate.depthLimit)."
      )
    }
    depth += 1
    defer { depth -= 1 }
    let base = seen.count
    let outer = level
    level = Level(start: linker.writer.count)
    defer {
      seen.removeSubrange(base...)
      level = outer
    }
    while !at(">"), !at("}") {
      guard readField(message, base, &linker) else { return false }
    }
    guard consume(closing, &linker) else { return false }
    checkRequired(message, base, &linker)
    if linker.schema.messages[message].isMapEntry { completeEntry(message, base, &linker) }
    if !level.isCanonical { linker.sortFields(of: message, from: level.start) }
    return true
  }

  /// Writes the default value of a key or a value that is missing in a map's entry.
  private mutating func completeEntry(_ message: Handle, _ base: Int, _ linker: inout Linker) {
    var field = linker.schema.messages[message].fields.first
    while field != .none {
      let node = linker.schema.fields[field]
      if !seen[base...].contains(field) {
        if node.number == 1 { level.isCanonical = level.isCanonical && seen.count == base }
        linker.writeDefault(node)
      }
      field = node.next
    }
  }

  private mutating func checkRequired(_ message: Handle, _ base: Int, _ linker: inout Linker) {
    guard linker.schema.messages[message].hasRequiredField else { return }
    var field = linker.schema.messages[message].fields.first
    while field != .none {
      let node = linker.schema.fields[field]
      if node.label == .required, !seen[base...].contains(field) {
        problems.append("Message missing required fields: \(linker.names[node.declaration.name])")
      }
      field = node.next
    }
  }

  // MARK: Values

  private mutating func readValue(_ field: Handle, _ found: FieldNode, _ linker: inout Linker) -> Bool {
    switch found.type.valueType {
    case .message, .group: return readMessageValue(found, &linker)
    case .int32, .int64: return readSigned(found, &linker)
    case .uint32, .uint64:
      guard let value = readInteger(limit: found.type.valueType == .uint32 ? 0xffff_ffff : .max, &linker)
      else { return false }
      linker.writeInteger(value, found)
    case .float, .double:
      guard let value = readDouble(&linker) else { return false }
      linker.writeFloat(value, found)
    case .bool: return readBool(found, &linker)
    case .enum: return readEnum(found, &linker)
    default:
      guard token.kind == .string else { return fail("Expected string, got: \(tokenText)") }
      var bytes = ContiguousArray<UInt8>()
      while token.kind == .string {
        Literals.appendString(tokenBytes, to: &bytes)
        advance(&linker)
      }
      // protoc does not look into the value of an Any.
      guard anyDepth > 0 || linker.isValid(bytes, for: found) else {
        return fail("String field \"\(linker.names[found.declaration.name])\" has text that is not UTF-8.")
      }
      bytes.withUnsafeBufferPointer { linker.writer.field(found.number, bytes: $0) }
    }
    return true
  }

  private mutating func readMessageValue(_ found: FieldNode, _ linker: inout Linker) -> Bool {
    let start = linker.beginMessage(found)
    guard readMessage(found.typeIndex, &linker) else { return false }
    linker.endMessage(found, start)
    return true
  }

  private mutating func readInteger(limit: UInt64, _ linker: inout Linker) -> UInt64? {
    guard token.kind == .integer else {
      _ = fail("Expected integer, got: \(tokenText)")
      return nil
    }
    guard let value = Literals.integer(tokenBytes, limit: limit) else {
      _ = fail("Integer out of range (\(tokenText))")
      return nil
    }
    advance(&linker)
    return value
  }

  private mutating func readSigned(limit: UInt64, _ linker: inout Linker) -> Int64? {
    let isNegative = take("-", &linker)
    guard let value = readInteger(limit: isNegative ? limit + 1 : limit, &linker) else { return nil }
    return Int64(truncatingIfNeeded: isNegative ? 0 &- value : value)
  }

  private mutating func readSigned(_ found: FieldNode, _ linker: inout Linker) -> Bool {
    let limit = UInt64(found.type.valueType == .int32 ? Int64(Int32.max) : .max)
    guard let value = readSigned(limit: limit, &linker) else { return false }
    linker.writeInteger(UInt64(bitPattern: value), found)
    return true
  }

  private mutating func readDouble(_ linker: inout Linker) -> Double? {
    let isNegative = take("-", &linker)
    var value: Double?
    switch token.kind {
    case .integer:
      let text = tokenBytes
      guard text.count == 1 || text.first != UInt8(ascii: "0") else {
        _ = fail("Expect a decimal number, got: \(tokenText)")
        return nil
      }
      value = Literals.integer(text, limit: .max).map { Double($0) } ?? Literals.float(text)
    case .float: value = Literals.float(tokenBytes)
    case .identifier:
      switch tokenText.lowercased() {
      case "inf", "infinity": value = .infinity
      case "nan": value = .nan
      default: break
      }
    default: break
    }
    guard let value else {
      _ = fail("Expected double, got: \(tokenText)")
      return nil
    }
    advance(&linker)
    return isNegative ? -value : value
  }

  private mutating func readBool(_ found: FieldNode, _ linker: inout Linker) -> Bool {
    if token.kind == .integer {
      guard let value = readInteger(limit: 1, &linker) else { return false }
      linker.writer.field(found.number, varint: value)
      return true
    }
    guard token.kind == .identifier else { return fail("Expected identifier, got: \(tokenText)") }
    let value: UInt64
    switch Word(rawValue: token.name.id) {
    case .true, .True, .t: value = 1
    case .false, .False, .f: value = 0
    default:
      return fail(
        "Invalid value for boolean field \"\(linker.names[found.declaration.name])\". Value: \"\(tokenText)\"."
      )
    }
    advance(&linker)
    linker.writer.field(found.number, varint: value)
    return true
  }

  private mutating func readEnum(_ found: FieldNode, _ linker: inout Linker) -> Bool {
    let name = linker.names[found.declaration.name]
    if token.kind == .identifier {
      let value = linker.schema.value(token.name, of: found.typeIndex)
      let text = tokenText
      advance(&linker)
      guard value != .none else {
        return fail("Unknown enumeration value of \"\(text)\" for field \"\(name)\".")
      }
      if linker.schema.values[value].hasFeatureSupport { linker.sawFeatureSupport = true }
      linker.writer.field(found.number, int32: linker.schema.values[value].number)
      return true
    }
    guard at("-") || token.kind == .integer else {
      return fail("Expected integer or identifier, got: \(tokenText)")
    }
    guard let number = readSigned(limit: 0x7fff_ffff, &linker) else { return false }
    let value = linker.schema.value(number: Int32(truncatingIfNeeded: number), of: found.typeIndex)
    let isClosed =
      found.declaration.features[.closedEnum] == 1
      || linker.schema.enums[found.typeIndex].declaration.features[.enumType] == Features.closed
    guard value != .none || !isClosed else {
      return fail("Unknown enumeration value of \"\(number)\" for field \"\(name)\".")
    }
    linker.writer.field(found.number, int32: Int32(truncatingIfNeeded: number))
    return true
  }

  // MARK: Reserved fields

  /// Skips the value of a field that was removed from the message.
  private mutating func skipReserved(_ linker: inout Linker) -> Bool {
    let hasColon = take(":", &linker)
    let isSkipped = hasColon && !at("{") && !at("<") ? skipValue(&linker) : skipMessage(&linker)
    guard isSkipped else { return false }
    if !take(";", &linker) { _ = take(",", &linker) }
    return true
  }

  private mutating func skipMessage(_ linker: inout Linker) -> Bool {
    let closing: Unicode.Scalar = at("<") ? ">" : "}"
    if !take("<", &linker) {
      guard consume("{", &linker) else { return false }
    }
    guard depth < TextAggregate.depthLimit else { return fail("Message is too deep.") }
    depth += 1
    defer { depth -= 1 }
    while !at(">"), !at("}") {
      if at("[") {
        guard readURL(&linker) != nil else { return false }
      } else {
        guard token.kind == .identifier else { return fail("Expected identifier, got: \(tokenText)") }
        advance(&linker)
      }
      guard skipReserved(&linker) else { return false }
    }
    return consume(closing, &linker)
  }

  private mutating func skipValue(_ linker: inout Linker) -> Bool {
    guard depth < TextAggregate.depthLimit else { return fail("Message is too deep.") }
    depth += 1
    defer { depth -= 1 }
    if token.kind == .string {
      while token.kind == .string { advance(&linker) }
      return true
    }
    if take("[", &linker) {
      if take("]", &linker) { return true }
      repeat {
        guard at("{") || at("<") ? skipMessage(&linker) : skipValue(&linker) else { return false }
      } while take(",", &linker)
      return consumeListEnd(&linker)
    }
    let isNegative = take("-", &linker)
    switch token.kind {
    case .integer, .float: break
    case .identifier:
      guard !isNegative || ["inf", "infinity", "nan"].contains(tokenText.lowercased()) else {
        return fail("Invalid float number: \(tokenText)")
      }
    default: return fail("Cannot skip field value, unexpected token: \(tokenText)")
    }
    advance(&linker)
    return true
  }
}

extension Linker {
  fileprivate mutating func writeDefault(_ field: FieldNode) {
    switch field.type {
    case .string, .bytes, .message: writer.end(writer.begin(field.number))
    case .float, .double: writeFloat(0, field)
    case .enum:
      let first = schema.enums[field.typeIndex].values.first
      writer.field(field.number, int32: first == .none ? 0 : schema.values[first].number)
    default: writeInteger(0, field)
    }
  }

  func isPacked(_ field: FieldNode) -> Bool {
    field.label == .repeated && field.type.isPackable
      && field.declaration.features[.repeatedFieldEncoding] == Features.packed
  }

  /// Writes the fields of a message from an offset on again, as protoc does: in the order of their numbers, and packed.
  fileprivate mutating func sortFields(of message: Handle, from start: Int) {
    let bytes = Array(writer.bytes[start...])
    writer.truncate(to: start)
    bytes.withUnsafeBufferPointer { bytes in
      let fields = WireFields(bytes).enumerated().sorted {
        ($0.element.number, $0.offset) < ($1.element.number, $1.offset)
      }
      .map(\.element)
      var index = 0
      while index < fields.count {
        let number = fields[index].number
        let end = fields[index...].firstIndex { $0.number != number } ?? fields.count
        let field = schema.field(number: number, of: message)
        if field != .none, isPacked(schema.fields[field]) {
          let packed = writer.begin(number)
          for entry in fields[index..<end] { writePacked(entry) }
          writer.end(packed)
        } else {
          for entry in fields[index..<end] { writer.raw(UnsafeBufferPointer(rebasing: bytes[entry.whole])) }
        }
        index = end
      }
    }
  }

  private mutating func writePacked(_ field: WireField) {
    switch field.type {
    case .fixed32: writer.fixed32(UInt32(truncatingIfNeeded: field.value))
    case .fixed64: writer.fixed64(field.value)
    default: writer.varint(field.value)
    }
  }

  /// The words of a name with dots, as a range of the tables.
  private mutating func words(_ name: String) -> Range<Int32> {
    let first = Int32(tables.words.count)
    for part in name.split(separator: ".") { tables.words.append(names.intern(String(part))) }
    return first..<Int32(tables.words.count)
  }

  /// The message with a full name, if the file sees it; `none` otherwise.
  mutating func findMessage(_ name: String) -> Handle {
    let words = words(name)
    defer { tables.words.removeSubrange(Int(words.lowerBound)...) }
    let symbol = lookup(words, isAbsolute: true, in: Schema.root, .anything)
    return symbol != .none && schema.symbols[symbol].kind == .message ? schema.symbols[symbol].index : .none
  }

  /// The extension of a message with a name that is searched in the scopes of the message; `none` if there is none.
  mutating func findExtension(_ name: String, of message: Handle) -> Handle {
    let words = words(name)
    defer { tables.words.removeSubrange(Int(words.lowerBound)...) }
    let scope = schema.symbols[schema.messages[message].declaration.symbol].parent
    let symbol = lookup(words, isAbsolute: false, in: scope, .anything)
    guard symbol != .none else { return .none }
    let index = schema.symbols[symbol].index
    switch schema.symbols[symbol].kind {
    case .field: return schema.fields[index].extendee == message ? index : .none
    case .message where schema.messages[message].isMessageSet:
      var field = schema.messages[index].extensions.first
      while field != .none {
        let node = schema.fields[field]
        if node.extendee == message, node.type == .message, node.label == .optional, node.typeIndex == index {
          return field
        }
        field = node.next
      }
      return .none
    default: return .none
    }
  }
}
