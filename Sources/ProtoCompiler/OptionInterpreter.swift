extension Linker {
  /// Interprets the options whose names begin with a field, or those that begin with an extension. The former come first, since they
  /// change what the latter mean.
  mutating func interpretOptions(extensions: Bool) {
    for owner in optionOwners {
      let declaration = schema.declaration(owner)
      let message = isSimple ? .none : optionsMessage(owner.kind)
      guard message != .none || isSimple && !extensions else { continue }
      var isChanged = isSimple
      var option = tables.sites[declaration.site].options.first
      while option != .none {
        let node = tables.options[option]
        let isWritten =
          isSimple
          ? writeSimple(option, node, owner) : interpret(option, node, extensions, owner, message, &isChanged)
        guard isWritten else { break }
        option = node.next
      }
      if isChanged { assemble(owner, message, declaration.site) }
    }
    // Those of the message of a map's entries, which no source sets.
    if !extensions { setMapEntryOptions() } else { stripOwnOptions() }
  }

  /// The message of the options of a kind of declarations: the one that files see, or else that of the compiler itself.
  mutating func optionsMessage(_ kind: Element.Kind) -> Handle {
    for root in [Schema.root, Schema.hiddenRoot] {
      var symbol = root
      for word in [Word.google, .protobuf, kind.options] where symbol != .none {
        symbol = schema.member(Name(word), of: symbol)
      }
      if symbol != .none, schema.symbols[symbol].kind == .message { return schema.symbols[symbol].index }
    }
    return .none
  }

  private mutating func setMapEntryOptions() {
    let start = schema.optionBytes.count
    for element in order where element.kind == .message && schema.messages[element.index].isMapEntry {
      // `map_entry = true`
      if schema.optionBytes.count == start { schema.optionBytes.append(contentsOf: [0x38, 1]) }
      schema.messages[element.index].declaration.options = ByteRange(from: start, to: start + 2)
    }
  }

  /// Interprets an option if it is of the wanted kind. False after an error.
  private mutating func interpret(
    _ option: Handle, _ node: OptionNode, _ extensions: Bool, _ owner: Element, _ message: Handle,
    _ isChanged: inout Bool
  ) -> Bool {
    guard node.partCount > 0 else { return true }
    let part = tables.nameParts[node.firstPart]
    let words = tables.references[part.reference]
    if words.count == 1, !words.isAbsolute, tables.words[words.first] == Word.uninterpreted_option {
      if extensions {
        error("Option must not use reserved name \"uninterpreted_option\".", at: node.namePlace)
      }
      return !extensions
    }
    guard part.isExtension == extensions else { return true }
    guard let path = findField(option, node, owner, message) else {
      return tables.options[option].isLeftUninterpreted
    }
    isChanged = true
    return write(option, node, path, owner)
  }

  // MARK: Names

  /// The fields that the parts of an option's name mean; nil after an error or if the option stays uninterpreted.
  private mutating func findField(
    _ option: Handle, _ node: OptionNode, _ owner: Element, _ message: Handle
  ) -> [Handle]? {
    var path: [Handle] = []
    var container = message
    for number in node.firstPart..<node.firstPart + node.partCount {
      let part = tables.nameParts[number]
      let words = tables.references[part.reference]
      var field = Handle.none
      if part.isExtension {
        let symbol = lookup(
          words.first..<words.first + words.count, isAbsolute: words.isAbsolute, in: scope(owner), .anything)
        if symbol != .none, schema.symbols[symbol].kind == .field { field = schema.symbols[symbol].index }
      } else {
        undefinedName = nil
        field = schema.field(tables.words[words.first], of: container)
      }
      let shown = { (linker: borrowing Linker) in linker.optionName(node, upTo: number) }
      guard field != .none else {
        if options.isTolerant, schema.files[file].lacksImport, part.isExtension {
          tables.options[option].isLeftUninterpreted = true
        } else {
          unknownOption(shown(self), container, part, at: node.namePlace)
        }
        return nil
      }
      let found = schema.fields[field]
      guard found.extendee == container else {
        error(
          "Option field \"\(shown(self))\" is not a field or extension of message \"\(names[schema.messages[container].declaration.name])\".",
          at: node.namePlace)
        return nil
      }
      if found.file == file, isFeature(node) {
        error(
          "Feature \"\(shown(self))\" can't be used in the same file it's defined in.", at: node.namePlace)
        return nil
      }
      path.append(field)
      guard number < node.firstPart + node.partCount - 1 else { break }
      guard found.type.isMessage else {
        error("Option \"\(shown(self))\" is an atomic type, not a message.", at: node.namePlace)
        return nil
      }
      guard found.label != .repeated else {
        error(
          "Option field \"\(shown(self))\" is a repeated message. Repeated message options must be initialized using an aggregate value.",
          at: node.namePlace)
        return nil
      }
      container = found.typeIndex
    }
    return path
  }

  /// The scope in which the names of extensions are searched first.
  private func scope(_ owner: Element) -> Handle {
    switch owner.kind {
    case .file: schema.files[file].package
    case .range: schema.symbols[schema.messages[owner.owner].declaration.symbol].parent
    default: schema.symbols[schema.declaration(owner).symbol].parent
    }
  }

  private func isFeature(_ node: OptionNode) -> Bool {
    let part = tables.nameParts[node.firstPart]
    return !part.isExtension && tables.words[tables.references[part.reference].first] == Word.features
  }

  borrowing func optionName(_ node: OptionNode, upTo last: Int32) -> String {
    var shown: [String] = []
    for number in node.firstPart...last {
      let part = tables.nameParts[number]
      let text = tables.text(part.reference, names)
      shown.append(part.isExtension ? "(\(text))" : text)
    }
    return shown.joined(separator: ".")
  }

  private mutating func unknownOption(_ shown: String, _ container: Handle, _ part: NamePart, at place: Place)
  {
    if let undefinedName {
      error(
        "Option \"\(shown)\" is resolved to \"(\(undefinedName))\", which is not defined. The innermost scope is searched first in name resolution. Consider using a leading '.'(i.e., \"(.\(shown.dropFirst())\") to start from the outermost scope.",
        at: place)
      return
    }
    error(
      "Option \"\(shown)\" unknown. Ensure that your proto definition file imports the proto which defines the option (i.e. via import option after edition 2024).",
      at: place, hint: report.isOpen ? optionHint(container, part) : nil)
  }

  // MARK: Values

  /// Writes an option's field. False after an error.
  private mutating func write(_ option: Handle, _ node: OptionNode, _ path: [Handle], _ owner: Element)
    -> Bool
  {
    guard let last = path.last else { return false }
    let site = schema.declaration(owner).site
    let field = schema.fields[last]
    var numbers = path.map { schema.fields[$0].number }
    // Options of which a declaration has many are not compared with each other.
    let isOneOfMany = tables.sites[site].options.count > 16
    if isOneOfMany, optionPaths.site != site { optionPaths = (site, [:]) }
    if field.label != .repeated,
      isOneOfMany ? optionPaths.counts[numbers] != nil : isSet(path, before: option, site)
    {
      error(
        "Option \"\(optionName(node, upTo: node.firstPart + node.partCount - 1))\" was already set.",
        at: node.namePlace)
      return false
    }
    let fieldPath = numbers
    if field.label == .repeated {
      numbers.append(
        isOneOfMany ? optionPaths.counts[numbers] ?? 0 : count(numbers, before: option, site))
    }
    writer.removeAll()
    sawSourceRetention = path.contains { schema.fields[$0].isSourceRetention }
    let isPathStripped = sawSourceRetention
    sawFeatureSupport = path.contains { schema.fields[$0].hasFeatureSupport }
    sawTargets = path.contains { schema.fields[$0].hasTargets }
    let starts = path.dropLast().map { beginMessage(schema.fields[$0]) }
    let valueStart = writer.count
    guard writeValue(node, last) else { return false }
    if !options.retainsOptions, isImplicit(field), hasZero(from: valueStart) {
      writer.truncate(to: valueStart)
    }
    for (outer, start) in zip(path, starts).reversed() { endMessage(schema.fields[outer], start) }
    record(option, path: numbers)
    if isOneOfMany {
      optionPaths.counts[fieldPath, default: 0] += field.label == .repeated ? 1 : 0
      notePaths([], 0..<writer.count)
    }
    tables.options[option].isSourceRetention = isPathStripped
    tables.options[option].needsStripping = sawSourceRetention
    if sawFeatureSupport { tables.sites[site].interpreted.needsLifetimeCheck = true }
    if sawTargets { tables.sites[site].interpreted.needsTargetCheck = true }
    if numbers.first == owner.kind.featuresNumber { tables.sites[site].interpreted.hasFeatures = true }
    return true
  }

  /// Strips the options of the file that declares the options of the language, whose retention is known only now.
  private mutating func stripOwnOptions() {
    let message = optionsMessage(.file)
    guard message != .none, schema.messages[message].file == file, !report.hasErrors else { return }
    for owner in optionOwners {
      let declaration = schema.declaration(owner)
      let type = optionsMessage(owner.kind)
      guard type != .none else { continue }
      strip(declaration.site, type, declaration.options)
      var option = tables.sites[declaration.site].options.first
      while option != .none {
        let node = tables.options[option]
        let field = schema.field(number: tables.paths[Int32(node.path.start)], of: type)
        if field != .none, schema.fields[field].isSourceRetention {
          tables.options[option].isSourceRetention = true
        }
        option = node.next
      }
    }
  }

  /// Whether an earlier option of the same declaration has set the field at the end of a path.
  private func isSet(_ path: [Handle], before option: Handle, _ site: Handle) -> Bool {
    let extensionPass = tables.nameParts[tables.options[option].firstPart].isExtension
    var earlier = tables.sites[site].options.first
    while earlier != option, earlier != .none {
      let node = tables.options[earlier]
      earlier = node.next
      guard node.isInterpreted, tables.nameParts[node.firstPart].isExtension == extensionPass,
        tables.paths[Int32(node.path.start)] == schema.fields[path[0]].number
      else { continue }
      let isFound = tables.optionBytes.withUnsafeBufferPointer { bytes in
        has(path[...], bytes, node.bytes.range)
      }
      if isFound || tables.paths[node.path.range].elementsEqual(path.map { schema.fields[$0].number }) {
        return true
      }
    }
    return false
  }

  /// Notes the paths of all fields of an option that was written.
  private mutating func notePaths(_ path: [Int32], _ range: Range<Int>) {
    guard path.count < 100 else { return }
    for field in WireFields(writer.bytes, range) {
      let inner = path + [field.number]
      optionPaths.counts[inner, default: 0] += 0
      if !field.content.isEmpty { notePaths(inner, field.content) }
    }
  }

  private func has(_ path: ArraySlice<Handle>, _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>)
    -> Bool
  {
    guard let first = path.first else { return false }
    for field in WireFields(bytes, range) where field.number == schema.fields[first].number {
      if path.count == 1 || has(path.dropFirst(), bytes, field.content) { return true }
    }
    return false
  }

  /// How many earlier options of the same declaration set the repeated field at the end of a path.
  private func count(_ numbers: [Int32], before option: Handle, _ site: Handle) -> Int32 {
    var count: Int32 = 0
    var earlier = tables.sites[site].options.first
    while earlier != option, earlier != .none {
      let node = tables.options[earlier]
      earlier = node.next
      if node.isInterpreted, tables.paths[node.path.range].dropLast().elementsEqual(numbers) { count += 1 }
    }
    return count
  }

  /// Keeps what was written as the value of an option.
  mutating func record(_ option: Handle, path: [Int32]) {
    let start = tables.optionBytes.count
    tables.optionBytes.append(contentsOf: writer.bytes)
    let pathStart = tables.paths.count
    tables.paths.append(contentsOf: path)
    tables.options[option].bytes = ByteRange(from: start, to: tables.optionBytes.count)
    tables.options[option].path = ByteRange(from: pathStart, to: tables.paths.count)
    tables.options[option].isInterpreted = true
  }

  private func isInMessageSet(_ field: FieldNode) -> Bool {
    field.isExtension && schema.messages[field.extendee].isMessageSet
  }

  /// Writes what precedes the fields of a message. Returns what `endMessage` takes.
  mutating func beginMessage(_ field: FieldNode) -> Int {
    if field.type == .group {
      writer.tag(field.number, .startGroup)
      return 0
    }
    guard isInMessageSet(field) else { return writer.begin(field.number) }
    // An item of a message set: a group of the type's number and the message.
    writer.tag(1, .startGroup)
    writer.field(2, varint: UInt64(UInt32(bitPattern: field.number)))
    return writer.begin(3)
  }

  mutating func endMessage(_ field: FieldNode, _ start: Int) {
    if field.type == .group { return writer.tag(field.number, .endGroup) }
    writer.end(start)
    if isInMessageSet(field) { writer.tag(1, .endGroup) }
  }

  /// Whether a text is valid in a field that must have UTF-8.
  func isValid(_ text: some Sequence<UInt8>, for field: FieldNode) -> Bool {
    guard field.type == .string, field.declaration.features[.utf8Validation] == Features.verifiesUTF8 else {
      return true
    }
    return String(validating: text, as: UTF8.self) != nil
  }

  /// Whether a field with its zero value is absent.
  func isImplicit(_ field: FieldNode) -> Bool {
    field.label != .repeated && !field.type.isMessage && !field.isExtension && field.oneof == .none
      && !schema.messages[field.extendee].isMapEntry
      && field.declaration.features[.fieldPresence] == Features.implicit
  }

  /// Whether the field that was written from `start` on has its zero value.
  func hasZero(from start: Int) -> Bool {
    for field in WireFields(writer.bytes, start..<writer.count) {
      return field.value == 0 && field.content.isEmpty
    }
    return true
  }

  private mutating func writeValue(_ node: OptionNode, _ field: Handle) -> Bool {
    let found = schema.fields[field]
    let number = found.number
    switch found.type.valueType {
    case .int32, .int64, .uint32, .uint64: return writeInteger(node, found)
    case .float, .double:
      guard let value = number64(node) else {
        return valueError("Value must be number for \(found.type) option \"\(fieldName(found))\".", node)
      }
      writeFloat(value, found)
    case .bool:
      guard case .identifier(let name) = node.value else {
        return valueError("Value must be identifier for boolean option \"\(fieldName(found))\".", node)
      }
      guard name == Word.true || name == Word.false else {
        return valueError(
          "Value must be \"true\" or \"false\" for boolean option \"\(fieldName(found))\".", node)
      }
      writer.field(number, varint: name == Word.true ? 1 : 0)
    case .enum:
      guard case .identifier(let name) = node.value else {
        return valueError("Value must be identifier for enum-valued option \"\(fieldName(found))\".", node)
      }
      return writeEnumValue(name, node, found)
    case .string, .bytes:
      guard case .string(let range) = node.value else {
        return valueError("Value must be quoted string for string option \"\(fieldName(found))\".", node)
      }
      guard isValid(tables.texts[range.range], for: found) else {
        return valueError("String option \"\(fieldName(found))\" has text that is not UTF-8.", node)
      }
      tables.texts.withUnsafeBufferPointer {
        writer.field(number, bytes: UnsafeBufferPointer(rebasing: $0[range.range]))
      }
    default: return writeAggregate(node, found)
    }
    return true
  }

  private func fieldName(_ field: FieldNode) -> String { fullName(field.declaration.symbol) }

  private mutating func valueError(_ text: String, _ node: OptionNode) -> Bool {
    error(text, at: node.valuePlace)
    return false
  }

  private func number64(_ node: OptionNode) -> Double? {
    switch node.value {
    case .number(let value): value
    case .positive(let value): Double(value)
    case .negative(let value): Double(value)
    case .identifier(let name) where name == Word.inf: .infinity
    case .identifier(let name) where name == Word.nan: .nan
    default: nil
    }
  }

  mutating func writeFloat(_ value: Double, _ field: FieldNode) {
    if field.type == .float {
      writer.tag(field.number, .fixed32)
      writer.fixed32(Float(value).bitPattern)
    } else {
      writer.tag(field.number, .fixed64)
      writer.fixed64(value.bitPattern)
    }
  }

  private mutating func writeInteger(_ node: OptionNode, _ field: FieldNode) -> Bool {
    let type = field.type.valueType
    let bounds: (least: Int64, greatest: UInt64) =
      switch type {
      case .int32: (Int64(Int32.min), UInt64(Int32.max))
      case .int64: (.min, UInt64(Int64.max))
      case .uint32: (0, UInt64(UInt32.max))
      default: (0, .max)
      }
    switch node.value {
    case .positive(let value) where value <= bounds.greatest: writeInteger(UInt64(value), field)
    case .negative(let value) where bounds.least < 0 && value >= bounds.least:
      writeInteger(UInt64(bitPattern: value), field)
    case .positive where true, .negative where bounds.least < 0:
      return valueError(
        "Value out of range, \(bounds.least) to \(bounds.greatest), for \(type) option \"\(fieldName(field))\".",
        node)
    default:
      return valueError(
        "Value must be integer, from \(bounds.least) to \(bounds.greatest), for \(type) option \"\(fieldName(field))\".",
        node)
    }
    return true
  }

  /// Writes an integer whose 64 bits are given.
  mutating func writeInteger(_ value: UInt64, _ field: FieldNode) {
    switch field.type {
    case .fixed32, .sfixed32:
      writer.tag(field.number, .fixed32)
      writer.fixed32(UInt32(truncatingIfNeeded: value))
    case .fixed64, .sfixed64:
      writer.tag(field.number, .fixed64)
      writer.fixed64(value)
    case .sint32:
      let signed = Int32(truncatingIfNeeded: value)
      writer.field(field.number, varint: UInt64(UInt32(bitPattern: signed << 1 ^ signed >> 31)))
    case .sint64:
      let signed = Int64(bitPattern: value)
      writer.field(field.number, varint: UInt64(bitPattern: signed << 1 ^ signed >> 63))
    default: writer.field(field.number, varint: value)
    }
  }

  private mutating func writeEnumValue(_ name: Name, _ node: OptionNode, _ field: FieldNode) -> Bool {
    let type = schema.enums[field.typeIndex].declaration.symbol
    let value = schema.value(name, of: field.typeIndex)
    guard value != .none else {
      let sibling = schema.member(name, of: schema.symbols[type].parent)
      let isSibling = sibling != .none && schema.symbols[sibling].kind == .value
      return valueError(
        "Enum type \"\(fullName(type))\" has no value named \"\(names[name])\" for option \"\(fieldName(field))\"."
          + (isSibling ? " This appears to be a value from a sibling type." : ""),
        node)
    }
    if schema.values[value].hasFeatureSupport { sawFeatureSupport = true }
    reach.use(schema.enums[field.typeIndex].file, by: file)
    writer.field(field.number, int32: schema.values[value].number)
    return true
  }

  private mutating func writeAggregate(_ node: OptionNode, _ field: FieldNode) -> Bool {
    let name = names[field.declaration.name]
    guard case .aggregate(let range, let hasComments) = node.value else {
      return valueError(
        "Option \"\(fieldName(field))\" is a message. To set the entire message, use syntax like \"\(name) = { <proto text format> }\". To set fields within it, use syntax like \"\(name).foo = value\".",
        node)
    }
    var problem: String?
    // The source is moved out while the reader has its address.
    let source = tables.source
    source.withUnsafeBufferPointer { source in
      let text = UnsafeBufferPointer(rebasing: source[range])
      if hasComments {
        let cleaned = TextAggregate.withoutComments(text, &names)
        problem = cleaned.withUnsafeBufferPointer { writeText($0, field) }
      } else {
        problem = writeText(text, field)
      }
    }
    guard let problem else { return true }
    return valueError("Error while parsing option value for \"\(name)\": \(problem)", node)
  }

  /// Writes the message of a text. Returns what is wrong in the text.
  private mutating func writeText(_ text: UnsafeBufferPointer<UInt8>, _ field: FieldNode) -> String? {
    let start = beginMessage(field)
    var reader = TextAggregate(text)
    reader.read(field.typeIndex, &self)
    endMessage(field, start)
    return reader.problems.isEmpty ? nil : reader.problems.joined(separator: "; ")
  }

  // MARK: Results

  /// Joins the fields of a declaration's options.
  private mutating func assemble(_ owner: Element, _ message: Handle, _ site: Handle) {
    let start = schema.optionBytes.count
    var needsStripping = false
    var interpreted: [OptionNode] = []
    var option = tables.sites[site].options.first
    while option != .none {
      let node = tables.options[option]
      if node.isInterpreted { interpreted.append(node) }
      needsStripping = needsStripping || node.needsStripping
      option = node.next
    }
    if interpreted.count == 1 {
      schema.optionBytes.append(contentsOf: tables.optionBytes[interpreted[0].bytes.range])
    } else {
      merge(interpreted, message)
    }
    let range = ByteRange(from: start, to: schema.optionBytes.count)
    tables.sites[site].interpreted.bytes = range
    if owner.kind == .range {
      // All ranges of the statement have these options.
      var other = owner.index
      while other != .none, schema.ranges[other].declaration.site == site {
        schema.ranges[other].declaration.options = range
        other = schema.ranges[other].next
      }
    } else {
      schema.setOptions(owner, range)
    }
    if owner.kind == .message { noteMessageOptions(owner.index, range) }
    if owner.kind == .value {
      schema.values[owner.index].hasFeatureSupport = hasOption(4, of: range)
    }
    if needsStripping { strip(site, message, range) }
  }

  /// Joins options in the order of protoc, which is that of their numbers. Parts of one message become one field.
  private mutating func merge(_ options: [OptionNode], _ message: Handle) {
    let numbered = options.map { (number: tables.paths[Int32($0.path.start)], node: $0) }.enumerated()
      .sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }.map(\.element)
    var index = 0
    while index < numbered.count {
      let number = numbered[index].number
      let end = numbered[index...].firstIndex { $0.number != number } ?? numbered.count
      let field = end - index > 1 && message != .none ? schema.field(number: number, of: message) : .none
      let isMessage =
        field != .none && schema.fields[field].type == .message && schema.fields[field].label != .repeated
      writer.removeAll()
      tables.optionBytes.withUnsafeBufferPointer { bytes in
        let start = isMessage ? writer.begin(number) : 0
        for entry in numbered[index..<end] {
          let range = entry.node.bytes.range
          if !isMessage {
            writer.raw(UnsafeBufferPointer(rebasing: bytes[range]))
          } else {
            for part in WireFields(bytes, range) {
              writer.raw(UnsafeBufferPointer(rebasing: bytes[part.content]))
            }
          }
        }
        if isMessage { writer.end(start) }
      }
      schema.optionBytes.append(contentsOf: writer.bytes)
      index = end
    }
  }

  private mutating func noteMessageOptions(_ message: Handle, _ range: ByteRange) {
    if option(1, of: range) == 1 { schema.messages[message].isMessageSet = true }
  }
}
