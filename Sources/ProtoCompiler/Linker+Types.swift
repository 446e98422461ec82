extension Linker {
  /// Finds what the types of fields, the messages of extensions and the messages of methods refer to.
  mutating func linkTypes() {
    link(messages: schema.files[file].messages)
    link(fields: schema.files[file].extensions)
    var service = schema.files[file].services.first
    while service != .none {
      var method = schema.services[service].methods.first
      while method != .none {
        linkMethod(method)
        method = schema.methods[method].next
      }
      service = schema.services[service].next
    }
  }

  private mutating func link(messages: Children) {
    var message = messages.first
    while message != .none {
      let node = schema.messages[message]
      link(messages: node.messages)
      checksNumbers = !hasAscendingNumbers(node)
      if checksNumbers { schema.marks.begin() }
      link(fields: node.fields)
      checksNumbers = false
      link(fields: node.extensions)
      checkOneofs(message)
      message = node.next
    }
  }

  private mutating func link(fields: Children) {
    var field = fields.first
    while field != .none {
      linkField(field)
      field = schema.fields[field].next
    }
  }

  // MARK: Fields

  private mutating func linkField(_ field: Handle) {
    let site = fieldSite(field)
    if schema.fields[field].isExtension {
      guard linkExtendee(field, site) else { return }
    }
    if site.type != .none {
      guard linkType(field, site) else { return }
    } else if schema.fields[field].type.isMessage {
      // The parser takes `map<int32, group>` for the type of a group without its members.
      return error("Field with message or enum type missing type_name.", at: site.typePlace)
    }
    let node = schema.fields[field]
    if checksNumbers, !node.isExtension { checkNumber(field, node) }
    guard node.isExtension, node.extendee != .none,
      let other = schema.register(field, of: node.extendee, number: node.number)
    else { return }
    let known = schema.fields[other]
    let message = fullName(message: node.extendee)
    let place = numberPlace(node.declaration)
    let name = fullName(known.declaration.symbol)
    if known.file == file {
      error(
        "Extension number \(node.number) has already been used in \"\(message)\" by extension \"\(name)\".",
        at: place)
    } else {
      warning(
        "Extension number \(node.number) has already been used in \"\(message)\" by extension \"\(name)\" defined in \(fileName(known.file)).",
        at: place)
    }
  }

  private mutating func linkExtendee(_ field: Handle, _ site: FieldSite) -> Bool {
    let node = schema.fields[field]
    let symbol = lookup(site.extendee, from: node.declaration.symbol)
    guard symbol != .none else {
      undefined(site.extendee, at: site.extendeePlace)
      return false
    }
    let found = schema.symbols[symbol]
    guard found.kind == .message else {
      error("\"\(tables.text(site.extendee, names))\" is not a message type.", at: site.extendeePlace)
      return false
    }
    guard isVisible(symbol) else {
      error(visibilityError(symbol, "target of extend"), at: site.extendeePlace)
      return false
    }
    schema.fields[field].extendee = found.index
    if schema.extensionRange(containing: node.number, of: found.index) == .none {
      error(
        "\"\(fullName(symbol))\" does not declare \(node.number) as an extension number.",
        at: numberPlace(node.declaration))
    }
    return true
  }

  private mutating func linkType(_ field: Handle, _ site: FieldSite) -> Bool {
    let symbol = lookup(site.type, from: schema.fields[field].declaration.symbol, .types)
    guard symbol != .none else {
      undefined(site.type, at: site.typePlace)
      return false
    }
    guard isVisible(symbol) else {
      error(visibilityError(symbol, ""), at: site.typePlace)
      return false
    }
    let found = schema.symbols[symbol]
    let isGroup = schema.fields[field].type == .group
    switch found.kind {
    case .message: if !isGroup { schema.fields[field].type = .message }
    case .enum where !isGroup: schema.fields[field].type = .enum
    default:
      let kind = isGroup ? "a message type" : "a type"
      error("\"\(tables.text(site.type, names))\" is not \(kind).", at: site.typePlace)
      return false
    }
    schema.fields[field].typeIndex = found.index
    if let range = site.defaultValue { return checkDefault(field, range, site.defaultPlace) }
    return true
  }

  private mutating func checkDefault(_ field: Handle, _ range: ByteRange, _ place: Place) -> Bool {
    let node = schema.fields[field]
    guard node.type == .enum else {
      error("Messages can't have default values.", at: place)
      return true
    }
    let text = tables.texts[range.range]
    guard text.withUnsafeBufferPointer({ Lexer.isIdentifier($0) }) else {
      error("Default value for an enum field must be an identifier.", at: place)
      return true
    }
    let name = text.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { names.intern($0, bytes.count) } ?? .empty
    }
    if schema.value(name, of: node.typeIndex) == .none {
      error(
        "Enum type \"\(fullName(schema.enums[node.typeIndex].declaration.symbol))\" has no value named \"\(names[name])\".",
        at: place)
    }
    return true
  }

  // MARK: Messages

  /// Whether the numbers of the fields ascend, as in most messages: no two are the same.
  private func hasAscendingNumbers(_ message: MessageNode) -> Bool {
    var last: Int32 = 0
    var field = message.fields.first
    while field != .none {
      guard schema.fields[field].number > last else { return false }
      last = schema.fields[field].number
      field = schema.fields[field].next
    }
    return true
  }

  /// Checks that no earlier field of the message has the number.
  private mutating func checkNumber(_ field: Handle, _ node: FieldNode) {
    guard let other = schema.marks.insert(node.number, field), report.isOpen else { return }
    let message = schema.messages[node.parent]
    let next = nextNumber(message)
    let proposal =
      next <= Parser.maxNumber
      ? "Next available field number is \(next)" : "There are no available field numbers"
    error(
      "Field number \(node.number) has already been used in \"\(fullName(message.declaration.symbol))\" by field \"\(names[schema.fields[other].declaration.name])\". \(proposal).",
      at: numberPlace(node.declaration))
  }

  /// The first number that no field and no range of the message has.
  private func nextNumber(_ message: MessageNode) -> Int64 {
    var used: [(start: Int64, end: Int64)] = []
    var field = message.fields.first
    while field != .none {
      used.append((Int64(schema.fields[field].number), Int64(schema.fields[field].number)))
      field = schema.fields[field].next
    }
    for children in [message.extensionRanges, message.reservedRanges] {
      var range = children.first
      while range != .none {
        used.append((Int64(schema.ranges[range].start), Int64(schema.ranges[range].end) - 1))
        range = schema.ranges[range].next
      }
    }
    var next: Int64 = 1
    for range in used.sorted(by: { $0 < $1 }) {
      guard range.start <= next else { break }
      next = max(next, range.end + 1)
    }
    return next
  }

  /// Counts the fields of oneofs.
  private mutating func checkOneofs(_ message: Handle) {
    let node = schema.messages[message]
    guard node.oneofs.count > 0 else { return }
    var field = node.fields.first
    while field != .none {
      let oneof = schema.fields[field].oneof
      if oneof != .none {
        schema.oneofs[oneof].fields += 1
      }
      field = schema.fields[field].next
    }
    var oneof = node.oneofs.first
    while oneof != .none {
      if schema.oneofs[oneof].fields == 0 {
        error("Oneof must have at least one field.", at: namePlace(Element(kind: .oneof, index: oneof)))
      }
      oneof = schema.oneofs[oneof].next
    }
  }

  // MARK: Methods

  private mutating func linkMethod(_ method: Handle) {
    let site = tables.methods[method - tables.firstMethod]
    let symbol = schema.methods[method].declaration.symbol
    schema.methods[method].input = messageIndex(site.input, from: symbol, at: site.inputPlace)
    schema.methods[method].output = messageIndex(site.output, from: symbol, at: site.outputPlace)
  }

  private mutating func messageIndex(_ reference: Handle, from symbol: Handle, at place: Place) -> Handle {
    let found = lookup(reference, from: symbol)
    guard found != .none else {
      undefined(reference, at: place)
      return .none
    }
    guard schema.symbols[found].kind == .message else {
      error("\"\(tables.text(reference, names))\" is not a message type.", at: place)
      return .none
    }
    guard isVisible(found) else {
      error(visibilityError(found, ""), at: place)
      return .none
    }
    return schema.symbols[found].index
  }

  // MARK: Visibility

  private func visibility(_ symbol: Handle) -> (declared: Visibility, features: Features, isNested: Bool) {
    let found = schema.symbols[symbol]
    if found.kind == .message {
      let node = schema.messages[found.index]
      return (node.visibility, node.declaration.features, node.parent != .none)
    }
    let node = schema.enums[found.index]
    return (node.visibility, node.declaration.features, node.parent != .none)
  }

  /// Whether the file may refer to a message or an enum.
  private func isVisible(_ symbol: Handle) -> Bool {
    guard schema.symbols[symbol].isType, schema.symbols[symbol].file != file else { return true }
    let (declared, features, isNested) = visibility(symbol)
    guard declared == .unset else { return declared == .export }
    switch features[.symbolVisibility] {
    case Features.exportTopLevel: return !isNested
    case Features.localAll, Features.strict: return false
    default: return true
    }
  }

  private func visibilityError(_ symbol: Handle, _ usage: String) -> String {
    let (declared, features, _) = visibility(symbol)
    let names = [
      "DEFAULT_SYMBOL_VISIBILITY_UNKNOWN", "EXPORT_ALL", "EXPORT_TOP_LEVEL", "LOCAL_ALL", "STRICT",
    ]
    let value = Int(features[.symbolVisibility])
    let reason =
      declared == .local
      ? "It is explicitly marked 'local'"
      : "It defaulted to local from file-level 'option features.default_symbol_visibility = '\(value < names.count ? names[value] : "")';"
    return
      "Symbol \"\(fullName(symbol))\", defined in \"\(fileName(schema.symbols[symbol].file))\" \(usage) is not visible from \"\(fileName(file))\". \(reason) and cannot be accessed outside its own file"
  }
}
