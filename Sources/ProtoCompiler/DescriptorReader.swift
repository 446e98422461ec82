/// Reads a serialized `FileDescriptorProto`, whose names become declarations as those of a source do.
struct DescriptorReader {
  var names: Names
  var schema: Schema
  let bytes: UnsafeBufferPointer<UInt8>
  private let file: Handle
  private let root: Handle
  private let firstField: Handle
  private var depth = 0
  /// References from fields and methods that are found after all names are declared: a range of the bytes and a target.
  private var pending: [(target: Target, text: Range<Int>)] = []

  private enum Target {
    case type(Handle)
    case extendee(Handle)
    case input(Handle)
    case output(Handle)
  }

  init(
    _ bytes: UnsafeBufferPointer<UInt8>, file: Handle, root: Handle, names: consuming Names,
    schema: consuming Schema
  ) {
    self.bytes = bytes
    self.file = file
    self.root = root
    self.names = names
    firstField = schema.fields.nextIndex
    self.schema = schema
  }

  /// Declares what a descriptor has, in the packages under `root`.
  static func read(
    _ descriptor: [UInt8], _ file: Handle, root: Handle, _ names: inout Names, _ schema: inout Schema
  ) {
    descriptor.withUnsafeBufferPointer { bytes in
      var reader = DescriptorReader(bytes, file: file, root: root, names: take(&names), schema: take(&schema))
      reader.read()
      names = reader.names
      schema = reader.schema
    }
  }

  /// The imports of a descriptor: their names, and whether they are public.
  static func imports(_ bytes: UnsafeBufferPointer<UInt8>) -> [(name: String, isPublic: Bool)] {
    var found: [(name: String, isPublic: Bool)] = []
    for field in WireFields(bytes) where field.number == 3 {
      found.append((String(decoding: bytes[field.content], as: UTF8.self), false))
    }
    for field in WireFields(bytes) where field.number == 10 && field.value < UInt64(found.count) {
      found[Int(field.value)].isPublic = true
    }
    return found
  }

  private mutating func name(_ range: Range<Int>) -> Name {
    guard let base = bytes.baseAddress else { return .empty }
    return names.intern(base + range.lowerBound, range.count)
  }

  private mutating func read() {
    var package = root
    for field in WireFields(bytes) {
      switch field.number {
      case 2: package = declarePackage(field.content)
      case 8: schema.files[file].declaration.options = copy(field.content)
      case 12:
        if bytes[field.content].elementsEqual("proto3".utf8) { schema.files[file].edition = .proto3 }
      case 14: schema.files[file].edition = Edition(rawValue: Int32(truncatingIfNeeded: field.value))
      default: break
      }
    }
    schema.files[file].package = package
    schema.files[file].declaration.symbol = package
    let features = resolved(
      schema.files[file].declaration.options, .file, Features.defaults(schema.files[file].edition))
    schema.files[file].declaration.features = features
    for field in WireFields(bytes) {
      switch field.number {
      case 4: readMessage(field.content, in: package, parent: .none, features)
      case 5: readEnum(field.content, in: package, parent: .none, features)
      case 6: readService(field.content, in: package)
      case 7: readField(field.content, in: package, parent: .none, features, isExtension: true)
      default: break
      }
    }
    resolve()
  }

  private mutating func declarePackage(_ range: Range<Int>) -> Handle {
    var scope = root
    for part in bytes[range].split(separator: UInt8(ascii: ".")) {
      let name = name(part.startIndex..<part.endIndex)
      let existing = schema.member(name, of: scope)
      if existing != .none {
        scope = existing
        continue
      }
      let symbol = schema.makeSymbol(
        Symbol(kind: .package, name: name, parent: scope, file: file, index: .none))
      _ = schema.declare(symbol)
      scope = symbol
    }
    return scope
  }

  private mutating func copy(_ range: Range<Int>) -> ByteRange {
    let start = schema.optionBytes.count
    schema.optionBytes.append(contentsOf: bytes[range])
    return ByteRange(from: start, to: schema.optionBytes.count)
  }

  private func resolved(_ options: ByteRange, _ kind: Element.Kind, _ parent: Features) -> Features {
    guard !options.isEmpty else { return parent }
    return schema.optionBytes.withUnsafeBufferPointer { bytes in
      var features = parent
      for field in WireFields(bytes, options.range)
      where field.number == kind.featuresNumber && field.type == .length {
        features = features.merged(Features.explicit(bytes, field.content).features)
      }
      return features
    }
  }

  private func option(_ number: Int32, _ options: ByteRange) -> UInt64? {
    guard !options.isEmpty else { return nil }
    return schema.optionBytes.withUnsafeBufferPointer { bytes in
      WireFields(bytes, options.range).first { $0.number == number }?.value
    }
  }

  private mutating func declare(_ kind: Symbol.Kind, _ name: Name, in scope: Handle, _ index: Handle)
    -> Handle
  {
    let symbol = schema.makeSymbol(Symbol(kind: kind, name: name, parent: scope, file: file, index: index))
    _ = schema.declare(symbol)
    return symbol
  }

  /// The name and the options of a declaration, and its number.
  private mutating func readDeclaration(_ range: Range<Int>, options number: Int32) -> Declaration {
    var declaration = Declaration()
    for field in WireFields(bytes, range) {
      if field.number == 1, field.type == .length { declaration.name = name(field.content) }
      if field.number == number, field.type == .length { declaration.options = copy(field.content) }
    }
    return declaration
  }

  private mutating func readMessage(
    _ range: Range<Int>, in scope: Handle, parent: Handle, _ inherited: Features
  ) {
    // Deeper ones are not declared, as those of a source.
    guard depth < Parser.depthLimit else { return }
    depth += 1
    defer { depth -= 1 }
    var declaration = readDeclaration(range, options: 7)
    declaration.features = resolved(declaration.options, .message, inherited)
    let message = schema.messages.nextIndex
    declaration.symbol = declare(.message, declaration.name, in: scope, message)
    var node = MessageNode(declaration: declaration, file: file, parent: parent)
    node.isMapEntry = option(7, declaration.options) == 1
    node.isMessageSet = option(1, declaration.options) == 1
    for field in WireFields(bytes, range) where field.number == 11 {
      node.visibility = Visibility(rawValue: UInt8(truncatingIfNeeded: field.value)) ?? .unset
    }
    if parent == .none {
      schema.messages.append(node, to: &schema.files[file].messages)
    } else {
      var children = schema.messages[parent].messages
      schema.messages.append(node, to: &children)
      schema.messages[parent].messages = children
    }
    for field in WireFields(bytes, range) where field.number == 8 { readOneof(field.content, message) }
    for field in WireFields(bytes, range) {
      switch field.number {
      case 2:
        readField(
          field.content, in: declaration.symbol, parent: message, declaration.features, isExtension: false)
      case 3: readMessage(field.content, in: declaration.symbol, parent: message, declaration.features)
      case 4: readEnum(field.content, in: declaration.symbol, parent: message, declaration.features)
      case 5: schema.ranges.append(readRange(field.content), to: &schema.messages[message].extensionRanges)
      case 6:
        readField(
          field.content, in: declaration.symbol, parent: message, declaration.features, isExtension: true)
      case 9: schema.ranges.append(readRange(field.content), to: &schema.messages[message].reservedRanges)
      case 10:
        schema.reservedNames.append(
          ReservedName(name: name(field.content)), to: &schema.messages[message].reservedNames)
      default: break
      }
    }
  }

  private mutating func readRange(_ range: Range<Int>) -> RangeNode {
    var node = RangeNode()
    for field in WireFields(bytes, range) {
      switch field.number {
      case 1: node.start = Int32(truncatingIfNeeded: field.value)
      case 2: node.end = Int32(truncatingIfNeeded: field.value)
      case 3: node.declaration.options = copy(field.content)
      default: break
      }
    }
    return node
  }

  private mutating func readOneof(_ range: Range<Int>, _ message: Handle) {
    var declaration = readDeclaration(range, options: 2)
    declaration.features = resolved(
      declaration.options, .oneof, schema.messages[message].declaration.features)
    declaration.symbol = declare(
      .oneof, declaration.name, in: schema.messages[message].declaration.symbol, schema.oneofs.nextIndex)
    let position = schema.messages[message].oneofs.count
    schema.oneofs.append(
      OneofNode(declaration: declaration, message: message, position: position),
      to: &schema.messages[message].oneofs)
  }

  private mutating func readField(
    _ range: Range<Int>, in scope: Handle, parent: Handle, _ inherited: Features, isExtension: Bool
  ) {
    var declaration = readDeclaration(range, options: 8)
    let index = schema.fields.nextIndex
    declaration.symbol = declare(.field, declaration.name, in: scope, index)
    var node = FieldNode(
      declaration: declaration, file: file, parent: parent, extendee: isExtension ? .none : parent,
      isExtension: isExtension)
    for field in WireFields(bytes, range) {
      switch field.number {
      case 2: pending.append((.extendee(index), field.content))
      case 3: node.number = Int32(truncatingIfNeeded: field.value)
      case 4: node.label = Label(rawValue: UInt8(truncatingIfNeeded: field.value)) ?? .optional
      case 5: node.type = FieldType(rawValue: UInt8(truncatingIfNeeded: field.value)) ?? .unknown
      case 6: pending.append((.type(index), field.content))
      case 9 where parent != .none: node.oneof = oneof(Int32(truncatingIfNeeded: field.value), of: parent)
      default: break
      }
    }
    let base = node.oneof == .none ? inherited : schema.oneofs[node.oneof].declaration.features
    node.declaration.features = resolved(declaration.options, .field, base)
    if !schema.files[file].edition.isLegacy {
      if node.declaration.features[.fieldPresence] == Features.legacyRequired { node.label = .required }
      if node.type == .message, node.declaration.features[.messageEncoding] == Features.delimited {
        node.type = .group
      }
    }
    if !declaration.options.isEmpty {
      node.isSourceRetention = option(17, declaration.options) == 2
      node.hasFeatureSupport = option(22, declaration.options) != nil
      node.hasTargets = option(19, declaration.options) != nil
    }
    if node.label == .required, !isExtension { schema.messages[parent].hasRequiredField = true }
    if isExtension, parent == .none {
      schema.fields.append(node, to: &schema.files[file].extensions)
    } else if isExtension {
      schema.fields.append(node, to: &schema.messages[parent].extensions)
    } else {
      schema.fields.append(node, to: &schema.messages[parent].fields)
    }
  }

  private func oneof(_ position: Int32, of message: Handle) -> Handle {
    var oneof = schema.messages[message].oneofs.first
    while oneof != .none, schema.oneofs[oneof].position != position { oneof = schema.oneofs[oneof].next }
    return oneof
  }

  private mutating func readEnum(_ range: Range<Int>, in scope: Handle, parent: Handle, _ inherited: Features)
  {
    var declaration = readDeclaration(range, options: 3)
    declaration.features = resolved(declaration.options, .enum, inherited)
    let owner = schema.enums.nextIndex
    declaration.symbol = declare(.enum, declaration.name, in: scope, owner)
    var node = EnumNode(declaration: declaration, file: file, parent: parent)
    for field in WireFields(bytes, range) where field.number == 6 {
      node.visibility = Visibility(rawValue: UInt8(truncatingIfNeeded: field.value)) ?? .unset
    }
    if parent == .none {
      schema.enums.append(node, to: &schema.files[file].enums)
    } else {
      schema.enums.append(node, to: &schema.messages[parent].enums)
    }
    for field in WireFields(bytes, range) where field.number == 2 {
      var value = readDeclaration(field.content, options: 3)
      value.features = declaration.features
      value.symbol = declare(.value, value.name, in: scope, schema.values.nextIndex)
      var entry = EnumValueNode(declaration: value, owner: owner)
      entry.hasFeatureSupport = option(4, value.options) != nil
      for inner in WireFields(bytes, field.content) where inner.number == 2 && inner.type == .varint {
        entry.number = Int32(truncatingIfNeeded: inner.value)
      }
      schema.values.append(entry, to: &schema.enums[owner].values)
    }
  }

  private mutating func readService(_ range: Range<Int>, in scope: Handle) {
    var declaration = readDeclaration(range, options: 3)
    let service = schema.services.nextIndex
    declaration.symbol = declare(.service, declaration.name, in: scope, service)
    schema.services.append(
      ServiceNode(declaration: declaration, file: file), to: &schema.files[file].services)
    for field in WireFields(bytes, range) where field.number == 2 {
      var entry = readDeclaration(field.content, options: 4)
      entry.symbol = declare(.method, entry.name, in: declaration.symbol, schema.methods.nextIndex)
      schema.methods.append(
        MethodNode(declaration: entry, service: service), to: &schema.services[service].methods)
    }
  }

  /// Finds the types that fields refer to by their full names. A field whose type is not found is not one of messages or enums.
  private mutating func resolve() {
    defer {
      for field in firstField..<schema.fields.nextIndex where schema.fields[field].typeIndex == .none {
        let type = schema.fields[field].type
        if type.isMessage || type == .enum { schema.fields[field].type = .unknown }
      }
    }
    for (target, text) in pending {
      var symbol = root
      for part in bytes[text].split(separator: UInt8(ascii: ".")) where symbol != .none {
        symbol = schema.member(name(part.startIndex..<part.endIndex), of: symbol)
      }
      guard symbol != .none, schema.symbols[symbol].isType else { continue }
      let found = schema.symbols[symbol]
      switch target {
      case .type(let field):
        let type = schema.fields[field].type
        guard type == .unknown || (type == .enum) == (found.kind == .enum) else { continue }
        schema.fields[field].typeIndex = found.index
        // A descriptor of another compiler may lack the type.
        if schema.fields[field].type == .unknown {
          schema.fields[field].type = found.kind == .enum ? .enum : .message
        }
      case .extendee(let field) where found.kind == .message:
        schema.fields[field].extendee = found.index
        _ = schema.register(field, of: found.index, number: schema.fields[field].number)
      default: break
      }
    }
  }
}
