extension Linker {
  /// Checks what options mean for declarations.
  mutating func validate() {
    for element in order {
      switch element.kind {
      case .file: validateFile()
      case .message: validateMessage(element.index)
      case .field: validateField(element.index)
      case .enum: validateEnum(element.index)
      case .value: validateValue(element.index)
      case .service: validateService(element.index)
      case .oneof, .range, .method: break
      }
    }
  }

  private var edition: Edition { schema.files[file].edition }

  private func isLite(_ file: Handle) -> Bool { file != .none && schema.files[file].isLite }

  // MARK: Files

  private mutating func validateFile() {
    let node = schema.files[file]
    if !edition.isLegacy {
      if node.declaration.features[.fieldPresence] == Features.legacyRequired {
        error("Required presence can't be specified by default.", at: tables.syntaxPlace)
      }
      if option(27, of: node.declaration.options) == 1 {
        error(
          "File option java_string_check_utf8 is not allowed under editions. Use the (pb.java).utf8_validation feature to control this behavior.",
          at: tables.syntaxPlace)
      }
    }
    if !node.isLite, let entry = node.imports.first(where: { !$0.isOption && isLite($0.file) }) {
      error(
        "Files that do not use optimize_for = LITE_RUNTIME cannot import files which do use this option.  This file is not lite, but it imports \"\(names[entry.name])\" which is.",
        at: entry.place)
    }
    if edition == .proto3 { validateProto3() }
  }

  private mutating func validateProto3() {
    validateProto3(fields: schema.files[file].extensions)
    validateProto3(messages: schema.files[file].messages)
  }

  private mutating func validateProto3(messages: Children) {
    var message = messages.first
    while message != .none {
      let node = schema.messages[message]
      validateProto3(messages: node.messages)
      validateProto3(fields: node.fields)
      validateProto3(fields: node.extensions)
      if node.extensionRanges.first != .none {
        error(
          "Extension ranges are not allowed in proto3.", at: schema.ranges[node.extensionRanges.first].place)
      }
      if node.isMessageSet {
        error(
          "MessageSet is not supported in proto3.", at: namePlace(Element(kind: .message, index: message)))
      }
      message = node.next
    }
  }

  private mutating func validateProto3(fields: Children) {
    var field = fields.first
    while field != .none {
      let node = schema.fields[field]
      let site = fieldSite(field)
      if node.isExtension, !isOptionsMessage(node.extendee) {
        error("Extensions in proto3 are only allowed for defining options.", at: site.extendeePlace)
      }
      if node.label == .required { error("Required fields are not allowed in proto3.", at: site.typePlace) }
      if site.defaultValue != nil {
        error("Explicit default values are not allowed in proto3.", at: site.defaultPlace)
      }
      if node.type == .enum, isClosed(node.typeIndex) {
        error(
          "Enum type \"\(fullName(schema.enums[node.typeIndex].declaration.symbol))\" is not an open enum, but is used in \"\(fullName(message: node.extendee))\" which is a proto3 message type.",
          at: site.typePlace)
      }
      if node.type == .group { error("Groups are not supported in proto3 syntax.", at: site.typePlace) }
      field = node.next
    }
  }

  private func isClosed(_ owner: Handle) -> Bool {
    schema.enums[owner].declaration.features[.enumType] == Features.closed
  }

  /// Whether the message is one of those of options in `google.protobuf`.
  private func isOptionsMessage(_ message: Handle) -> Bool {
    let name = fullName(message: message)
    return ["google.protobuf.", "proto2."].contains { prefix in
      name.hasPrefix(prefix) && Linker.extendable.contains(String(name.dropFirst(prefix.count)))
    }
  }

  private static let extendable: Set = [
    "FileOptions", "MessageOptions", "FieldOptions", "EnumOptions", "EnumValueOptions", "ServiceOptions",
    "MethodOptions", "OneofOptions", "ExtensionRangeOptions",
  ]

  // MARK: Messages

  private mutating func validateMessage(_ message: Handle) {
    let node = schema.messages[message]
    if option(11, of: node.declaration.options) != 1 {
      checkJSONNames(node, custom: false)
      if hasCustomJSONNames(node) { checkJSONNames(node, custom: true) }
    }
    let limit = node.isMessageSet ? Int64(Int32.max) : Int64(Parser.maxNumber)
    var declared: Set<[UInt8]> = []
    var range = node.extensionRanges.first
    while range != .none {
      let entry = schema.ranges[range]
      if Int64(entry.end) > limit + 1 {
        error("Extension numbers cannot be greater than \(limit).", at: entry.place)
      }
      guard checkDeclarations(range, entry, &declared) else { break }
      range = entry.next
    }
  }

  private func hasCustomJSONNames(_ message: MessageNode) -> Bool {
    var field = message.fields.first
    while field != .none {
      if fieldSite(field).jsonName != nil { return true }
      field = schema.fields[field].next
    }
    return false
  }

  /// Checks that no two fields have the same name in JSON.
  private mutating func checkJSONNames(_ message: MessageNode, custom: Bool) {
    schema.marks.begin()
    var field = message.fields.first
    while field != .none {
      let (name, isCustom) = jsonName(field, custom: custom)
      let current = field
      field = schema.fields[field].next
      let isBracketed =
        isCustom
        && names.withBytes(name) { $0.first == UInt8(ascii: "[") && $0.last == UInt8(ascii: "]") }
      let other = isBracketed ? nil : schema.marks.insert(name, current)
      guard isBracketed || other != nil else { continue }
      let shown = names[name]
      let fieldName = names[schema.fields[current].declaration.name]
      let place = namePlace(Element(kind: .field, index: current))
      if isBracketed {
        error(
          "The custom JSON name of field \"\(fieldName)\" (\"\(shown)\") is invalid: JSON names may not start with '[' and end with ']'.",
          at: place)
        continue
      }
      guard let other, report.isOpen else { continue }
      let isOtherCustom = jsonName(other, custom: custom).isCustom
      if custom, !isCustom, !isOtherCustom { continue }
      let text =
        "The \(isCustom ? "custom" : "default") JSON name of field \"\(fieldName)\" (\"\(shown)\") conflicts with the \(isOtherCustom ? "custom" : "default") JSON name of field \"\(names[schema.fields[other].declaration.name])\"."
      let isLenient = message.declaration.features[.jsonFormat] == Features.legacyBestEffort
      if isLenient, !isCustom || !isOtherCustom { warning(text, at: place) } else { error(text, at: place) }
    }
  }

  private mutating func jsonName(_ field: Handle, custom: Bool) -> (name: Name, isCustom: Bool) {
    let standard = defaultJSONName(schema.fields[field].declaration.name)
    guard custom, let range = fieldSite(field).jsonName else { return (standard, false) }
    let name = tables.texts.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { names.intern($0 + range.range.lowerBound, Int(range.count)) } ?? .empty
    }
    return name == standard ? (standard, false) : (name, true)
  }

  /// The name of a field in JSON if it has no other.
  private mutating func defaultJSONName(_ name: Name) -> Name {
    var text: [UInt8] = []
    var isPlain = true
    names.withBytes(name) { bytes in
      isPlain = !bytes.contains(UInt8(ascii: "_"))
      if !isPlain { text = JSONName.bytes(bytes) }
    }
    if isPlain { return name }
    return text.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { names.intern($0, bytes.count) } ?? .empty
    }
  }

  // MARK: Enums

  private mutating func validateEnum(_ owner: Handle) {
    let node = schema.enums[owner]
    checkPrefixes(owner, node)
    let first = node.values.first
    guard first != .none else { return }
    if !isClosed(owner), schema.values[first].number != 0 {
      error(
        "The first enum value must be zero for open enums.", at: numberPlace(schema.values[first].declaration)
      )
    }
    guard option(2, of: node.declaration.options) != 1 else { return }
    schema.marks.begin()
    var value = first
    while value != .none, report.isOpen {
      let entry = schema.values[value]
      if let other = schema.marks.insert(entry.number, value) {
        let next = nextNumber(after: entry.number, of: owner)
        let proposal = next < Int64(Int32.max) ? " The next available enum value is \(next)." : ""
        error(
          "\"\(fullName(entry.declaration.symbol))\" uses the same enum value as \"\(fullName(schema.values[other].declaration.symbol))\". If this is intended, set 'option allow_alias = true;' to the enum definition.\(proposal)",
          at: numberPlace(entry.declaration))
      }
      value = entry.next
    }
  }

  /// The first number after one that no value of an enum has.
  private func nextNumber(after number: Int32, of owner: Handle) -> Int64 {
    var numbers: Set<Int64> = []
    var value = schema.enums[owner].values.first
    while value != .none {
      numbers.insert(Int64(schema.values[value].number))
      value = schema.values[value].next
    }
    var next = Int64(number) + 1
    while numbers.contains(next) { next += 1 }
    return next
  }

  /// Checks that values stay different in languages that remove the name of the enum from theirs.
  private mutating func checkPrefixes(_ owner: Handle, _ node: EnumNode) {
    let prefix = names.withBytes(node.declaration.name) { JSONName.lowercasedWithoutUnderscores($0) }
    let isLenient = option(6, of: node.declaration.options) == 1 && edition == .proto2
    schema.marks.begin()
    var value = node.values.first
    while value != .none {
      let entry = schema.values[value]
      let key = valueName(value, prefix)
      var hash = names.seed
      for byte in key { hash = Names.hash(hash, byte) }
      while let other = schema.marks.insert(Int32(bitPattern: hash), value) {
        let known = schema.values[other]
        // The next number is that of a name with the same hash.
        hash &+= 1
        guard valueName(other, prefix) == key else { continue }
        if known.declaration.name != entry.declaration.name, known.number != entry.number {
          let text =
            "Enum name \(names[entry.declaration.name]) has the same name as \(names[known.declaration.name]) if you ignore case and strip out the enum name prefix (if any). (If you are using allow_alias, please assign the same number to each enum value name.)"
          let place = namePlace(Element(kind: .value, index: value))
          if isLenient { warning(text, at: place) } else { error(text, at: place) }
        }
        break
      }
      value = entry.next
    }
  }

  private func valueName(_ value: Handle, _ prefix: [UInt8]) -> [UInt8] {
    names.withBytes(schema.values[value].declaration.name) { JSONName.valueName($0, without: prefix) }
  }

  private mutating func validateValue(_ value: Handle) {
    let declaration = schema.values[value].declaration
    guard schema.values[value].hasFeatureSupport, let support = featureSupport(declaration.options, 4),
      let problem = support.problem(fullName(declaration.symbol))
    else { return }
    error(problem, at: namePlace(Element(kind: .value, index: value)))
  }

  private mutating func validateService(_ service: Handle) {
    guard schema.files[file].isLite else { return }
    let options = schema.files[file].declaration.options
    guard option(16, of: options) == 1 || option(17, of: options) == 1 else { return }
    error(
      "Files with optimize_for = LITE_RUNTIME cannot define services unless you set both options cc_generic_services and java_generic_services to false.",
      at: namePlace(Element(kind: .service, index: service)))
  }

  // MARK: Declarations of extensions

  /// `ExtensionRangeOptions.Declaration`
  private struct ExtensionDeclaration {
    var number: Int32 = 0
    var fullName: [UInt8]?
    var type: [UInt8]?
    var isReserved = false
    var isRepeated = false

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
      for field in WireFields(bytes, range) {
        switch field.number {
        case 1: number = Int32(truncatingIfNeeded: field.value)
        case 2: fullName = Array(bytes[field.content])
        case 3: type = Array(bytes[field.content])
        case 5: isReserved = field.value != 0
        case 6: isRepeated = field.value != 0
        default: break
        }
      }
    }
  }

  private func declarations(_ options: ByteRange) -> [ExtensionDeclaration] {
    schema.optionBytes.withUnsafeBufferPointer { bytes in
      WireFields(bytes, options.range).filter { $0.number == 2 }.map {
        ExtensionDeclaration(bytes, $0.content)
      }
    }
  }

  /// Checks the declarations in a range. False if the other ranges are not checked.
  private mutating func checkDeclarations(_ index: Handle, _ range: RangeNode, _ declared: inout Set<[UInt8]>)
    -> Bool
  {
    guard !range.declaration.options.isEmpty else { return true }
    let found = declarations(range.declaration.options)
    guard !found.isEmpty else { return true }
    if option(3, of: range.declaration.options) == 1 {
      error(
        "Cannot mark the extension range as UNVERIFIED when it has extension(s) declared.", at: range.place)
      return false
    }
    var numbers: Set<Int32> = []
    for entry in found {
      if entry.number < range.start || entry.number >= range.end {
        error("Extension declaration number \(entry.number) is not in the extension range.", at: range.place)
      }
      if !numbers.insert(entry.number).inserted {
        error("Extension declaration number \(entry.number) is declared multiple times.", at: range.place)
      }
      guard let name = entry.fullName, let type = entry.type else {
        if (entry.fullName == nil) != (entry.type == nil) || !entry.isReserved {
          error(
            "Extension declaration #\(entry.number) should have both \"full_name\" and \"type\" set.",
            at: range.place)
        }
        continue
      }
      if !declared.insert(name).inserted {
        error(
          "Extension field name \"\(String(decoding: name, as: UTF8.self))\" is declared multiple times.",
          at: range.place)
        return true
      }
      checkSymbol(name, at: range.place)
      if !Linker.isPrimitive(type) { checkSymbol(type, at: range.place) }
    }
    return true
  }

  private mutating func checkSymbol(_ symbol: [UInt8], at place: Place) {
    let text = String(decoding: symbol, as: UTF8.self)
    guard symbol.first == UInt8(ascii: ".") else {
      return error("\"\(text)\" must have a leading dot to indicate the fully-qualified scope.", at: place)
    }
    let parts = symbol.dropFirst().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { Lexer.isLetter($0) || Lexer.isDigit($0) } })
    else {
      return error("\"\(text)\" contains invalid identifiers.", at: place)
    }
  }

  private static func isPrimitive(_ type: [UInt8]) -> Bool {
    [
      "double", "float", "int64", "uint64", "int32", "fixed32", "fixed64", "bool", "string", "bytes",
      "uint32", "enum",
      "sfixed32", "sfixed64", "sint32", "sint64",
    ].contains(String(decoding: type, as: UTF8.self))
  }

  /// Checks that an extension is the one that its range declares.
  mutating func checkDeclaration(_ field: FieldNode, at place: Place) {
    let message = fullName(message: field.extendee)
    let owner = schema.messages[field.extendee].file
    guard fileName(owner) != Linker.descriptorFile else { return }
    let range = schema.extensionRange(containing: field.number, of: field.extendee)
    guard range != .none else { return }
    let options = schema.ranges[range].declaration.options
    let found = declarations(options)
    let name = fullName(field.declaration.symbol)
    guard let entry = found.first(where: { $0.number == field.number }) else {
      if !found.isEmpty || option(3, of: options) == 0 {
        error(
          "Missing extension declaration for field \(name) with number \(field.number) in extendee message \(message). An extension range must declare for all extension fields if its verification state is DECLARATION or there's any declaration in the range already. Otherwise, consider splitting up the range.",
          at: place)
      }
      return
    }
    if entry.isReserved {
      return error(
        "Cannot use number \(field.number) for extension field \(name), as it is reserved in the extension declarations for message \(message).",
        at: place)
    }
    if let type = entry.type, !type.isEmpty, !report.hasErrors {
      let prefix = Linker.isPrimitive(type) || type.first == UInt8(ascii: ".") ? "" : "."
      let expected = prefix + String(decoding: type, as: UTF8.self)
      let actual = typeText(field)
      if expected != actual {
        error(
          "\"\(message)\" extension field \(field.number) is expected to be type \"\(expected)\", not \"\(actual)\".",
          at: place)
      }
    }
    if let declared = entry.fullName, !declared.isEmpty {
      let text = String(decoding: declared, as: UTF8.self)
      if text != "." + name {
        error(
          "\"\(message)\" extension field \(field.number) is expected to have field name \"\(text)\", not \".\(name)\".",
          at: place)
      }
    }
    if entry.isRepeated != (field.label == .repeated) {
      error(
        "\"\(message)\" extension field \(field.number) is expected to be \(entry.isRepeated ? "repeated" : "optional").",
        at: place)
    }
  }

  private func typeText(_ field: FieldNode) -> String {
    switch field.type {
    case .message, .group: "." + fullName(message: field.typeIndex)
    case .enum: "." + fullName(schema.enums[field.typeIndex].declaration.symbol)
    default: "\(field.type)"
    }
  }
}

/// How names change in JSON and in other languages.
enum JSONName {
  /// A name in which a capital letter replaces an underscore and the letter after it.
  static func bytes(_ name: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(name.count)
    var capitalizes = false
    for byte in name {
      if byte == UInt8(ascii: "_") {
        capitalizes = true
      } else {
        text.append(capitalizes ? uppercased(byte) : byte)
        capitalizes = false
      }
    }
    return text
  }

  static func uppercased(_ byte: UInt8) -> UInt8 { (0x61...0x7a).contains(byte) ? byte - 0x20 : byte }
  static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte + 0x20 : byte }

  static func lowercasedWithoutUnderscores(_ name: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    name.filter { $0 != UInt8(ascii: "_") }.map(lowercased)
  }

  /// The name of an enum's value in Pascal case, without a prefix of these letters.
  static func valueName(_ name: UnsafeBufferPointer<UInt8>, without prefix: [UInt8]) -> [UInt8] {
    var rest = name[...]
    var matched = 0
    while matched < prefix.count, let byte = rest.first {
      if byte != UInt8(ascii: "_") {
        guard lowercased(byte) == prefix[matched] else { break }
        matched += 1
      }
      rest = rest.dropFirst()
    }
    rest = rest.drop { $0 == UInt8(ascii: "_") }
    if matched < prefix.count || rest.isEmpty { rest = name[...] }
    var text: [UInt8] = []
    var capitalizes = true
    for byte in rest {
      if byte == UInt8(ascii: "_") {
        capitalizes = true
      } else {
        text.append(capitalizes ? uppercased(byte) : lowercased(byte))
        capitalizes = false
      }
    }
    return text
  }
}
