extension Parser {
  // MARK: Fields

  /// Adds a field to a message.
  mutating func addField(to message: Handle) -> Handle {
    addField(
      FieldNode(declaration: Declaration(), file: file, parent: message, extendee: message), to: message)
  }

  private mutating func addField(_ node: FieldNode, to message: Handle) -> Handle {
    var node = node
    node.declaration.site = tables.makeSite()
    tables.fields.append(FieldSite())
    if node.isExtension, message == .none {
      return schema.fields.append(node, to: &schema.files[file].extensions)
    }
    return node.isExtension
      ? schema.fields.append(node, to: &schema.messages[message].extensions)
      : schema.fields.append(node, to: &schema.messages[message].fields)
  }

  mutating func parseExtend(in message: Handle, _ parentLocation: Handle, _ location: Handle) -> Bool {
    advance()
    let startToken = token
    guard let extendee = parseUserType() else { return false }
    let endToken = lexer.previous
    guard consumeEnd("{", location) else { return false }
    let place = Place(startToken)
    repeat {
      if isAtEnd {
        error("Reached end of input in extend definition (missing '}').")
        return false
      }
      let count =
        message == .none ? schema.files[file].extensions.count : schema.messages[message].extensions.count
      let inner = begin(location, count)
      defer { end(inner) }
      let field = addField(
        FieldNode(declaration: Declaration(), file: file, parent: message, isExtension: true), to: message)
      let extendeeLocation = begin(inner, 2)
      start(extendeeLocation, at: startToken)
      end(extendeeLocation, at: endToken)
      tables.fields[field - tables.firstField].extendee = extendee
      tables.fields[field - tables.firstField].extendeePlace = place
      if !parseField(field, parentLocation, message == .none ? 4 : 3, inner) { skipStatement() }
    } while !takeEnd("}", .none)
    return true
  }

  mutating func parseField(
    _ field: Handle, _ parentLocation: Handle, _ groupNumber: Int32, _ location: Handle
  ) -> Bool {
    let label = parseLabel(location)
    if let label {
      schema.fields[field].label = label
      if label == .optional, syntax == .proto3 { schema.fields[field].isProto3Optional = true }
    }
    return parseFieldAfterLabel(field, hasLabel: label != nil, parentLocation, groupNumber, location)
  }

  private mutating func parseLabel(_ location: Handle) -> Label? {
    let label: Label
    if at(.optional) {
      label = .optional
    } else if at(.repeated) {
      label = .repeated
    } else if at(.required) {
      label = .required
    } else {
      return nil
    }
    if syntax == .editions, label == .optional {
      error(
        "Label \"optional\" is not supported in editions. By default, all singular fields have presence unless features.field_presence is set."
      )
    }
    if syntax == .editions, label == .required {
      error("Label \"required\" is not supported in editions, use features.field_presence = LEGACY_REQUIRED.")
    }
    let inner = begin(location, 4)
    advance()
    end(inner)
    return label
  }

  /// The types of the key and the value of a map.
  private struct MapType {
    var key: TypeName
    var value: TypeName
  }

  private enum TypeName {
    case primitive(FieldType)
    case reference(Handle)
  }

  mutating func parseFieldAfterLabel(
    _ field: Handle, hasLabel: Bool, _ parentLocation: Handle, _ groupNumber: Int32, _ location: Handle
  ) -> Bool {
    let site = field - tables.firstField
    var map: MapType?
    tables.fields[site].typePlace = Place(token)
    guard parseFieldType(field, hasLabel: hasLabel, &map, location) else { return false }
    let nameToken = token
    let nameLocation = begin(location, 1)
    tables.sites[schema.fields[field].declaration.site].name = Place(token)
    let name = consumeIdentifier("Expected field name.")
    end(nameLocation)
    guard let name else { return false }
    schema.fields[field].declaration.name = name
    guard consume("=", "Missing field number.") else { return false }
    let numberLocation = begin(location, 3)
    tables.sites[schema.fields[field].declaration.site].number = Place(token)
    let number = consumeInteger("Expected field number.")
    end(numberLocation)
    guard let number else { return false }
    schema.fields[field].number = Int32(truncatingIfNeeded: number)
    guard parseFieldOptions(field, location) else { return false }
    if schema.fields[field].type == .group {
      guard parseGroup(field, nameToken, parentLocation, groupNumber, location) else { return false }
    } else {
      guard consumeEnd(";", location) else { return false }
    }
    if let map { addMapEntry(map, field) }
    return true
  }

  private mutating func parseFieldType(
    _ field: Handle, hasLabel: Bool, _ map: inout MapType?, _ location: Handle
  ) -> Bool {
    let inner = begin(location)
    defer { end(inner) }
    let site = field - tables.firstField
    var type: TypeName?
    if at(.map) {
      let name = token.name
      advance()
      if at("<") {
        guard let found = parseMapType(field, hasLabel: hasLabel) else { return false }
        map = found
        if inner != .none { tables.locations[inner].first = 6 }
        return true
      }
      // A message or an enum with this name.
      type = .reference(addReference([name]))
    }
    if !hasLabel, syntax == .proto2 {
      error("Expected \"required\", \"optional\", or \"repeated\".")
    }
    if type == nil {
      guard let found = parseType() else { return false }
      type = found
    }
    switch type {
    case .primitive(let primitive):
      schema.fields[field].type = primitive
      tables.fields[site].hasType = true
      if inner != .none { tables.locations[inner].first = 5 }
    case .reference(let reference):
      tables.fields[site].type = reference
      if inner != .none { tables.locations[inner].first = 6 }
    case nil: break
    }
    return true
  }

  private mutating func parseMapType(_ field: Handle, hasLabel: Bool) -> MapType? {
    if schema.fields[field].oneof != .none {
      error("Map fields are not allowed in oneofs.")
      return nil
    }
    if hasLabel {
      error("Field labels (required/optional/repeated) are not allowed on map fields.")
      return nil
    }
    if schema.fields[field].isExtension {
      error("Map fields are not allowed to be extensions.")
      return nil
    }
    schema.fields[field].label = .repeated
    advance()
    guard let key = parseType(), consume(","), let value = parseType(), consume(">") else { return nil }
    return MapType(key: key, value: value)
  }

  private mutating func parseGroup(
    _ field: Handle, _ nameToken: Token, _ parentLocation: Handle, _ groupNumber: Int32, _ location: Handle
  ) -> Bool {
    let parent = schema.fields[field].parent
    let count = parent == .none ? schema.files[file].messages.count : schema.messages[parent].messages.count
    let groupLocation = begin(parentLocation, groupNumber, count)
    defer { end(groupLocation) }
    if groupLocation != .none, location != .none {
      tables.locations[groupLocation].startLine = tables.locations[location].startLine
      tables.locations[groupLocation].startColumn = tables.locations[location].startColumn
    }
    let name = schema.fields[field].declaration.name
    let message = addMessage(in: parent, name, place: Place(nameToken))
    mark(groupLocation, 1, at: nameToken)
    mark(location, 6, at: nameToken)
    if !(0x41...0x5a).contains(lexer.base[nameToken.start]) {
      error("Group names must start with a capital letter.", at: Place(nameToken))
    }
    let lowercased = names.withBytes(name) { bytes in
      bytes.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    }
    schema.fields[field].declaration.name = lowercased.withUnsafeBufferPointer {
      names.intern($0.baseAddress ?? lexer.base, $0.count)
    }
    tables.fields[field - tables.firstField].type = addReference([name])
    guard at("{") else {
      error("Missing group body.")
      return false
    }
    depth -= 1
    defer { depth += 1 }
    guard depth > 0 else {
      error("Reached maximum recursion limit for nested messages.")
      return false
    }
    return parseMessageBlock(message, groupLocation)
  }

  /// Adds the message of a map's entries.
  private mutating func addMapEntry(_ map: MapType, _ field: Handle) {
    let name = entryName(schema.fields[field].declaration.name)
    let place = tables.fields[field - tables.firstField].typePlace
    let message = addMessage(in: schema.fields[field].parent, name, place: place)
    schema.messages[message].isMapEntry = true
    tables.fields[field - tables.firstField].type = addReference([name])
    for (number, word, type) in [(Int32(1), Word.key, map.key), (2, .value, map.value)] {
      let part = addField(to: message)
      tables.sites[schema.fields[part].declaration.site].name = place
      tables.fields[part - tables.firstField].typePlace = place
      schema.fields[part].declaration.name = Name(word)
      schema.fields[part].number = number
      switch type {
      case .primitive(let primitive):
        schema.fields[part].type = primitive
        tables.fields[part - tables.firstField].hasType = true
      case .reference(let reference): tables.fields[part - tables.firstField].type = reference
      }
      copyEntryOptions(from: field, to: part)
    }
  }

  /// Copies the options of a map that its key and value have too: the features, and the check of texts.
  private mutating func copyEntryOptions(from field: Handle, to part: Handle) {
    let target = schema.fields[part].declaration.site
    var option = tables.sites[schema.fields[field].declaration.site].options.first
    while option != .none {
      var copy = tables.options[option]
      option = copy.next
      let isCheck = copy.partCount == 1 && isNamed(copy, .enforce_utf8) && schema.fields[part].type == .string
      guard isCheck || isNamed(copy, .features) else { continue }
      copy.next = .none
      tables.options.append(copy, to: &tables.sites[target].options)
    }
  }

  private mutating func entryName(_ name: Name) -> Name {
    var text: [UInt8] = []
    var capitalizes = true
    names.withBytes(name) { bytes in
      for byte in bytes {
        if byte == UInt8(ascii: "_") {
          capitalizes = true
        } else {
          text.append(capitalizes && (0x61...0x7a).contains(byte) ? byte - 0x20 : byte)
          capitalizes = false
        }
      }
    }
    text += Array("Entry".utf8)
    return text.withUnsafeBufferPointer { names.intern($0.baseAddress ?? lexer.base, $0.count) }
  }

  // MARK: Types

  private mutating func parseType() -> TypeName? {
    if edition == .unstable, token.kind == .identifier, let type = parseUnstableType() {
      return .primitive(type)
    }
    if token.kind == .identifier, let type = FieldType(token.name) {
      if syntax == .editions, type == .group {
        error(
          "Group syntax is no longer supported in editions. To get group behavior you can specify features.message_encoding = DELIMITED on a message field."
        )
      }
      advance()
      return .primitive(type)
    }
    return parseUserType().map { .reference($0) }
  }

  /// Reads an integer type of the edition for tests, in which the plain names mean a fixed size.
  private mutating func parseUnstableType() -> FieldType? {
    let types: [String: FieldType] = [
      "uint64": .fixed64, "uint32": .fixed32, "int32": .sfixed32, "int64": .sfixed64, "varint32": .int32,
      "varint64": .int64, "uvarint32": .uint32, "uvarint64": .uint64, "zigzag32": .sint32,
      "zigzag64": .sint64,
    ]
    let replacements = [
      "fixed32": "uint32", "fixed64": "uint64", "sfixed32": "int32", "sfixed64": "int64",
      "sint32": "zigzag32",
      "sint64": "zigzag64",
    ]
    let text = names[token.name]
    if let type = types[text] {
      advance()
      return type
    }
    guard let replacement = replacements[text] else { return nil }
    error("Type '\(text)' is obsolete in unstable editions, use '\(replacement)' instead.")
    advance()
    return .int32
  }

  mutating func addReference(_ words: [Name], isAbsolute: Bool = false) -> Handle {
    let first = Int32(tables.words.count)
    tables.words.append(contentsOf: words)
    tables.references.append(Reference(first: first, count: Int32(words.count), isAbsolute: isAbsolute))
    return tables.references.nextIndex - 1
  }

  /// Reads the name of a message or an enum.
  mutating func parseUserType() -> Handle? {
    if token.kind == .identifier, FieldType(token.name) != nil {
      error("Expected message type.")
      let name = token.name
      advance()
      return addReference([name])
    }
    let isAbsolute = take(".")
    let first = Int32(tables.words.count)
    guard let name = consumeIdentifier("Expected type name.") else { return nil }
    tables.words.append(name)
    while take(".") {
      guard let name = consumeIdentifier("Expected identifier.") else { return nil }
      tables.words.append(name)
    }
    tables.references.append(
      Reference(first: first, count: Int32(tables.words.count) - first, isAbsolute: isAbsolute))
    return tables.references.nextIndex - 1
  }

  // MARK: Options of fields

  private mutating func parseFieldOptions(_ field: Handle, _ location: Handle) -> Bool {
    guard at("[") else { return true }
    let inner = begin(location, 8)
    defer { end(inner) }
    advance()
    repeat {
      let isRead =
        if at(.default) {
          parseDefault(field, location)
        } else if at(.json_name) {
          parseJSONName(field, location)
        } else {
          parseOption(of: schema.fields[field].declaration.site, inner, isStatement: false)
        }
      guard isRead else { return false }
    } while take(",")
    return consume("]")
  }

  private mutating func parseJSONName(_ field: Handle, _ location: Handle) -> Bool {
    let site = field - tables.firstField
    if tables.fields[site].jsonName != nil { error("Already set option \"json_name\".") }
    let inner = begin(location, 10)
    defer { end(inner) }
    tables.fields[site].jsonPlace = Place(token)
    advance()
    guard consume("=") else { return false }
    let valueLocation = begin(inner)
    defer { end(valueLocation) }
    guard let name = consumeString("Expected string for JSON name.") else { return false }
    tables.fields[site].jsonName = name
    return true
  }

  private mutating func parseDefault(_ field: Handle, _ location: Handle) -> Bool {
    let site = field - tables.firstField
    if tables.fields[site].defaultValue != nil { error("Already set option \"default\".") }
    advance()
    guard consume("=") else { return false }
    let inner = begin(location, 7)
    defer { end(inner) }
    tables.fields[site].defaultPlace = Place(token)
    tables.fields[site].defaultValue = ByteRange()
    guard tables.fields[site].hasType else {
      // Whether this is a value of an enum shows when the type is found.
      setDefault(site, Array(tokenBytes))
      advance()
      return true
    }
    switch schema.fields[field].type {
    case .int32, .int64, .sint32, .sint64, .sfixed32, .sfixed64, .uint32, .uint64, .fixed32, .fixed64:
      return parseIntegerDefault(site, schema.fields[field].type)
    case .float, .double:
      let isNegative = take("-")
      guard let value = consumeNumber("Expected number.") else { return false }
      setDefault(site, Array(Parser.decimal(isNegative ? -value : value, schema.fields[field].type).utf8))
    case .bool:
      guard at(.true) || at(.false) else {
        error("Expected \"true\" or \"false\".")
        return false
      }
      setDefault(site, Array(tokenBytes))
      advance()
    case .string:
      tables.fields[site].defaultValue = consumeString("Expected string for field default value.")
      return tables.fields[site].defaultValue != nil
    case .bytes:
      guard let range = consumeString("Expected string.") else { return false }
      setDefault(site, Literals.escaped(tables.texts[range.range]))
    default:
      error("Messages can't have default values.")
      return false
    }
    return true
  }

  /// The text of a default value, which is first written as a `double`, as in protoc.
  private static func decimal(_ value: Double, _ type: FieldType) -> String {
    let text = Literals.text(value)
    guard type == .float, let double = Double(text) else { return text }
    return Literals.text(Float(double))
  }

  private mutating func setDefault(_ site: Handle, _ text: [UInt8]) {
    let start = tables.texts.count
    tables.texts.append(contentsOf: text)
    tables.fields[site].defaultValue = ByteRange(from: start, to: tables.texts.count)
  }

  private mutating func parseIntegerDefault(_ site: Handle, _ type: FieldType) -> Bool {
    let is32 = type.valueType == .int32 || type.valueType == .uint32
    let isSigned = type.valueType == .int32 || type.valueType == .int64
    var limit: UInt64 = is32 ? 0xffff_ffff : .max
    if isSigned { limit >>= 1 }
    let isNegative = at("-")
    if isNegative {
      advance()
      if isSigned { limit += 1 } else { error("Unsigned field can't have negative default value.") }
    }
    guard let value = consumeInteger(limit: limit, "Expected integer for field default value.") else {
      return false
    }
    setDefault(site, Array("\(isNegative && value != 0 ? "-" : "")\(value)".utf8))
    return true
  }
}
