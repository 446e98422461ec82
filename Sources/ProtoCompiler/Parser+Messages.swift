extension Parser {
  /// The children of a message.
  mutating func parseMessage(in parent: Handle, _ visibility: Visibility, _ location: Handle) -> Bool {
    depth -= 1
    defer { depth += 1 }
    guard depth > 0 else {
      error("Reached maximum recursion limit for nested messages.")
      return false
    }
    advance()
    let message = addMessage(in: parent, .empty, place: Place(token))
    let nameLocation = begin(location, 1)
    let name = consumeIdentifier("Expected message name.")
    end(nameLocation)
    guard let name else { return false }
    schema.messages[message].declaration.name = name
    guard parseMessageBlock(message, location) else { return false }
    if syntax == .proto3 { addSyntheticOneofs(message) }
    schema.messages[message].visibility = visibility
    return true
  }

  mutating func addMessage(in parent: Handle, _ name: Name, place: Place) -> Handle {
    let site = tables.makeSite(name: place)
    let node = MessageNode(declaration: Declaration(name: name, site: site), file: file, parent: parent)
    if parent == .none { return schema.messages.append(node, to: &schema.files[file].messages) }
    var children = schema.messages[parent].messages
    let message = schema.messages.append(node, to: &children)
    schema.messages[parent].messages = children
    return message
  }

  mutating func parseMessageBlock(_ message: Handle, _ location: Handle) -> Bool {
    guard consumeEnd("{", location) else { return false }
    while !takeEnd("}", .none) {
      if isAtEnd {
        error("Reached end of input in message definition (missing '}').")
        return false
      }
      if !parseMessageStatement(message, location) { skipStatement() }
    }
    adjustRanges(message)
    return checkMapEntry(message)
  }

  private mutating func parseMessageStatement(_ message: Handle, _ location: Handle) -> Bool {
    if takeEnd(";", .none) { return true }
    var visibility = Visibility.unset
    if at(.export) || at(.local) {
      guard parseVisibility(&visibility) else { return false }
    }
    switch token.kind == .identifier ? Word(rawValue: token.name.id) : nil {
    case .message:
      let inner = begin(location, 3, schema.messages[message].messages.count)
      defer { end(inner) }
      return parseMessage(in: message, visibility, inner)
    case .enum:
      let inner = begin(location, 4, schema.messages[message].enums.count)
      defer { end(inner) }
      return parseEnum(in: message, visibility, inner)
    case .extensions:
      let inner = begin(location, 5)
      defer { end(inner) }
      return parseExtensions(message, inner)
    case .reserved: return parseReserved(of: .message(message), location)
    case .extend:
      let inner = begin(location, 6)
      defer { end(inner) }
      return parseExtend(in: message, location, inner)
    case .option:
      let inner = begin(location, 7)
      defer { end(inner) }
      return parseOption(of: schema.messages[message].declaration.site, inner, isStatement: true)
    case .oneof:
      let inner = begin(location, 8, schema.messages[message].oneofs.count)
      defer { end(inner) }
      return parseOneof(message, location, inner)
    default:
      let inner = begin(location, 2, schema.messages[message].fields.count)
      defer { end(inner) }
      let field = addField(to: message)
      return parseField(field, location, 3, inner)
    }
  }

  /// The value of an option of the form `option NAME = IDENTIFIER;`; nil if there is none.
  private func simpleOption(_ word: Word, of site: Handle) -> OptionNode? {
    var option = tables.sites[site].options.first
    while option != .none {
      let node = tables.options[option]
      if isNamed(node, word) { return node }
      option = node.next
    }
    return nil
  }

  /// Whether the first part of an option's name is this word.
  func isNamed(_ option: OptionNode, _ word: Word) -> Bool {
    guard option.partCount > 0 else { return false }
    let part = tables.nameParts[option.firstPart]
    let reference = tables.references[part.reference]
    return !part.isExtension && reference.count == 1 && tables.words[reference.first] == word
  }

  private func isTrue(_ option: OptionNode) -> Bool {
    if case .identifier(let name) = option.value { name == Word.true } else { false }
  }

  /// Replaces the end of ranges `to max`, which depends on an option.
  private mutating func adjustRanges(_ message: Handle) {
    var option = tables.sites[schema.messages[message].declaration.site].options.first
    var isMessageSet = false
    while option != .none {
      let node = tables.options[option]
      if node.partCount == 1, isNamed(node, .message_set_wire_format), isTrue(node) { isMessageSet = true }
      option = node.next
    }
    let end: Int32 = isMessageSet ? .max : Parser.maxNumber + 1
    for children in [schema.messages[message].extensionRanges, schema.messages[message].reservedRanges] {
      var range = children.first
      while range != .none {
        if schema.ranges[range].end == Parser.maxSentinel { schema.ranges[range].end = end }
        range = schema.ranges[range].next
      }
    }
  }

  /// The greatest number of a field.
  static let maxNumber: Int32 = 536_870_911
  private static let maxSentinel: Int32 = -1

  private mutating func checkMapEntry(_ message: Handle) -> Bool {
    guard let option = simpleOption(.map_entry, of: schema.messages[message].declaration.site) else {
      return true
    }
    error(
      "map_entry should not be set explicitly. Use map<KeyType, ValueType> instead.", at: option.namePlace)
    return false
  }

  /// Adds a oneof for each `optional` field of proto3, with a name that is still free.
  private mutating func addSyntheticOneofs(_ message: Handle) {
    var hasMarks = false
    var field = schema.messages[message].fields.first
    while field != .none {
      defer { field = schema.fields[field].next }
      guard schema.fields[field].isProto3Optional else { continue }
      if !hasMarks { markNames(of: message) }
      hasMarks = true
      var text = names[schema.fields[field].declaration.name]
      if text.utf8.first != UInt8(ascii: "_") { text = "_" + text }
      while schema.marks.insert(names.intern(text)) != nil { text = "X" + text }
      let name = names.intern(text)
      schema.fields[field].oneof = addOneof(to: message, name, isSynthetic: true, site: .none)
    }
  }

  private mutating func markNames(of message: Handle) {
    schema.marks.begin()
    var field = schema.messages[message].fields.first
    while field != .none {
      _ = schema.marks.insert(schema.fields[field].declaration.name)
      field = schema.fields[field].next
    }
    var oneof = schema.messages[message].oneofs.first
    while oneof != .none {
      _ = schema.marks.insert(schema.oneofs[oneof].declaration.name)
      oneof = schema.oneofs[oneof].next
    }
  }

  private mutating func addOneof(to message: Handle, _ name: Name, isSynthetic: Bool, site: Handle) -> Handle
  {
    var children = schema.messages[message].oneofs
    let oneof = schema.oneofs.append(
      OneofNode(
        declaration: Declaration(name: name, site: site), message: message, position: children.count,
        isSynthetic: isSynthetic),
      to: &children)
    schema.messages[message].oneofs = children
    return oneof
  }

  private mutating func parseOneof(_ message: Handle, _ messageLocation: Handle, _ location: Handle) -> Bool {
    advance()
    let site = tables.makeSite(name: Place(token))
    let oneof = addOneof(to: message, .empty, isSynthetic: false, site: site)
    let nameLocation = begin(location, 1)
    let name = consumeIdentifier("Expected oneof name.")
    end(nameLocation)
    guard let name else { return false }
    schema.oneofs[oneof].declaration.name = name
    guard consumeEnd("{", location) else { return false }
    repeat {
      if isAtEnd {
        error("Reached end of input in oneof definition (missing '}').")
        return false
      }
      if at(.option) {
        let inner = begin(location, 2)
        defer { end(inner) }
        guard parseOption(of: site, inner, isStatement: true) else { return false }
        continue
      }
      if at(.required) || at(.optional) || at(.repeated) {
        error("Fields in oneofs must not have labels (required / optional / repeated).")
        advance()
      }
      let inner = begin(messageLocation, 2, schema.messages[message].fields.count)
      defer { end(inner) }
      let field = addField(to: message)
      schema.fields[field].oneof = oneof
      if !parseFieldAfterLabel(field, hasLabel: true, messageLocation, 3, inner) { skipStatement() }
    } while !takeEnd("}", .none)
    return true
  }

  private mutating func parseExtensions(_ message: Handle, _ location: Handle) -> Bool {
    advance()
    let first = schema.messages[message].extensionRanges.count
    let site = tables.makeSite()
    repeat {
      let inner = begin(location, schema.messages[message].extensionRanges.count)
      defer { end(inner) }
      var range = RangeNode(declaration: Declaration(site: site), place: Place(token))
      guard parseRange(&range, inner, isEnum: false, "Expected field number range.") else {
        addRange(range, to: .message(message), isExtension: true)
        return false
      }
      addRange(range, to: .message(message), isExtension: true)
    } while take(",")
    if at("[") {
      guard parseRangeOptions(site, location, first..<schema.messages[message].extensionRanges.count) else {
        return false
      }
    }
    return consumeEnd(";", location)
  }

  /// Reads the options of extension ranges, which all of them have.
  private mutating func parseRangeOptions(_ site: Handle, _ location: Handle, _ ranges: Range<Int32>) -> Bool
  {
    let start = tables.locations.count
    let block = begin(location, ranges.lowerBound, 3)
    advance()
    repeat {
      guard parseOption(of: site, block, isStatement: false) else { return false }
    } while take(",")
    guard consume("]") else { return false }
    end(block)
    guard keepsLocations else { return true }
    let recorded = tables.locations[start...]
    let shift = Handle(recorded.count)
    for number in ranges.dropFirst() {
      let offset = shift * (number - ranges.lowerBound)
      for (index, var copy) in zip(Int32(0)..., recorded) {
        if index == 0 { copy.first = number } else { copy.parent += offset }
        tables.locations.append(copy)
      }
    }
    return true
  }

  enum RangeOwner {
    case message(Handle)
    case `enum`(Handle)
  }

  private mutating func addRange(_ range: RangeNode, to owner: RangeOwner, isExtension: Bool = false) {
    switch owner {
    case .message(let message) where isExtension:
      schema.ranges.append(range, to: &schema.messages[message].extensionRanges)
    case .message(let message): schema.ranges.append(range, to: &schema.messages[message].reservedRanges)
    case .enum(let owner): schema.ranges.append(range, to: &schema.enums[owner].reservedRanges)
    }
  }

  private func rangeCount(_ owner: RangeOwner) -> Int32 {
    switch owner {
    case .message(let message): schema.messages[message].reservedRanges.count
    case .enum(let owner): schema.enums[owner].reservedRanges.count
    }
  }

  /// Reads `NUMBER`, `NUMBER to NUMBER` or `NUMBER to max`.
  private mutating func parseRange(
    _ range: inout RangeNode, _ location: Handle, isEnum: Bool, _ text: String
  ) -> Bool {
    let startToken = token
    let startLocation = begin(location, 1)
    let start = parseBound(isEnum, text)
    end(startLocation)
    guard let start else { return false }
    range.start = start
    if take(.to) {
      let endLocation = begin(location, 2)
      defer { end(endLocation) }
      if take(.max) {
        range.end = isEnum ? .max : Parser.maxSentinel
        return true
      }
      guard let end = parseBound(isEnum, "Expected integer.") else { return false }
      range.end = isEnum ? end : end + 1
    } else {
      mark(location, 2, at: startToken)
      range.end = isEnum ? start : start + 1
    }
    return true
  }

  private mutating func parseBound(_ isEnum: Bool, _ text: String) -> Int32? {
    if isEnum { return consumeSignedInteger(text) }
    guard let value = consumeInteger(text) else { return nil }
    if value == 0x7fff_ffff {
      error("Field number out of bounds.")
      return nil
    }
    return Int32(truncatingIfNeeded: value)
  }

  mutating func parseReserved(of owner: RangeOwner, _ location: Handle) -> Bool {
    let isEnum = if case .enum = owner { true } else { false }
    let start = token
    advance()
    if token.kind == .string || token.kind == .identifier {
      let isString = token.kind == .string
      guard isString != (syntax == .editions) else {
        error(
          isString
            ? "Reserved names must be identifiers in editions, not string literals."
            : "Reserved names must be string literals. (Only editions supports identifiers.)")
        return false
      }
      let inner = begin(location, isEnum ? 5 : 10)
      defer { end(inner) }
      self.start(inner, at: start)
      let kind = isEnum ? "enum value" : "field name"
      return parseReservedNames(
        of: owner, inner, isString ? "Expected \(kind) string literal." : "Expected \(kind) identifier.",
        isString: isString)
    }
    let inner = begin(location, isEnum ? 4 : 9)
    defer { end(inner) }
    self.start(inner, at: start)
    var text = isEnum ? "Expected enum value or number range." : "Expected field name or number range."
    repeat {
      let rangeLocation = begin(inner, rangeCount(owner))
      defer { end(rangeLocation) }
      var range = RangeNode(place: Place(token))
      guard parseRange(&range, rangeLocation, isEnum: isEnum, text) else { return false }
      addRange(range, to: owner)
      text = isEnum ? "Expected enum number range." : "Expected field number range."
    } while take(",")
    return consumeEnd(";", inner)
  }

  private mutating func parseReservedNames(
    of owner: RangeOwner, _ location: Handle, _ text: String, isString: Bool
  ) -> Bool {
    repeat {
      let count: Int32 =
        switch owner {
        case .message(let message): schema.messages[message].reservedNames.count
        case .enum(let owner): schema.enums[owner].reservedNames.count
        }
      let inner = begin(location, count)
      defer { end(inner) }
      let place = Place(token)
      let name: Name
      if isString {
        guard let range = consumeString(text) else { return false }
        name = intern(range)
        if !isIdentifier(name) {
          report.add(
            "Reserved name \"\(names[name])\" is not a valid identifier.", .warning, at: place,
            in: tables.source)
        }
      } else {
        guard let found = consumeIdentifier(text) else { return false }
        name = found
      }
      switch owner {
      case .message(let message):
        schema.reservedNames.append(ReservedName(name: name), to: &schema.messages[message].reservedNames)
      case .enum(let owner):
        schema.reservedNames.append(ReservedName(name: name), to: &schema.enums[owner].reservedNames)
      }
    } while take(",")
    return consumeEnd(";", location)
  }

  private func isIdentifier(_ name: Name) -> Bool { names.withBytes(name) { Lexer.isIdentifier($0) } }
}

extension Lexer {
  /// Whether a text is one identifier.
  static func isIdentifier(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = text.first, isLetter(first) else { return false }
    return text.allSatisfy { isLetter($0) || isDigit($0) }
  }
}
