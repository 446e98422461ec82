import RPCurlProtobuf

/// Writes the set of the descriptors of files, in the order of field numbers and with the content of protoc's.
struct DescriptorWriter: ~Copyable {
  private var writer = ByteWriter(capacity: 4096)

  /// The set of all files that were added.
  mutating func takeSet() -> SchemaBytes { writer.take() }

  /// Adds a serialized `FileDescriptorProto`.
  mutating func add(_ descriptor: [UInt8]) {
    descriptor.withUnsafeBufferPointer { writer.field(1, bytes: $0) }
  }

  /// Adds the `FileDescriptorProto` of the file that was linked.
  mutating func add(_ linker: inout Linker) {
    let start = writer.begin(1)
    let node = linker.schema.files[linker.file]
    name(1, node.name, linker)
    if node.package != Schema.root { fullName(2, node.package, linker, prefix: "") }
    writeImports(node, linker)
    messages(4, node.messages, linker)
    enums(5, node.enums, linker)
    services(node.services, linker)
    fields(7, node.extensions, linker)
    options(8, node.declaration, linker)
    if linker.options.sourceInfo { SourceInfo.write(linker, &writer) }
    writeImportKinds(node)
    if node.edition == .proto3 {
      writer.field(12, "proto3")
    } else if !node.edition.isLegacy {
      writer.field(12, "editions")
      writer.field(14, int32: node.edition.rawValue)
    }
    for entry in node.imports where entry.isOption { name(15, entry.name, linker) }
    writer.end(start)
  }

  private mutating func writeImports(_ node: FileNode, _ linker: borrowing Linker) {
    for entry in node.imports where !entry.isOption { name(3, entry.name, linker) }
  }

  private mutating func writeImportKinds(_ node: FileNode) {
    let imports = node.imports.filter { !$0.isOption }
    for (index, entry) in imports.enumerated() where entry.isPublic {
      writer.field(10, varint: UInt64(index))
    }
    for (index, entry) in imports.enumerated() where entry.isWeak { writer.field(11, varint: UInt64(index)) }
  }

  // MARK: Names and options

  @inline(__always)
  private mutating func name(_ number: Int32, _ name: Name, _ linker: borrowing Linker) {
    linker.names.withBytes(name) { writer.field(number, bytes: $0) }
  }

  private mutating func fullName(
    _ number: Int32, _ symbol: Handle, _ linker: borrowing Linker, prefix: StaticString = "."
  ) {
    let start = writer.begin(number)
    if prefix.utf8CodeUnitCount > 0 { writer.byte(UInt8(ascii: ".")) }
    appendFullName(symbol, linker)
    writer.end(start)
  }

  private mutating func appendFullName(_ symbol: Handle, _ linker: borrowing Linker) {
    let found = linker.schema.symbols[symbol]
    if found.parent > Schema.hiddenRoot {
      appendFullName(found.parent, linker)
      writer.byte(UInt8(ascii: "."))
    }
    linker.names.withBytes(found.name) { writer.raw($0) }
  }

  @inline(__always)
  private mutating func options(_ number: Int32, _ declaration: Declaration, _ linker: borrowing Linker) {
    if declaration.options.isEmpty,
      declaration.site == .none || linker.tables.sites[declaration.site].options.count == 0
    {
      return
    }
    writeOptions(number, declaration, linker)
  }

  private mutating func writeOptions(_ number: Int32, _ declaration: Declaration, _ linker: borrowing Linker)
  {
    var range = declaration.options
    let site = declaration.site
    if site != .none {
      let interpreted = linker.tables.sites[site].interpreted
      if interpreted.isStrippedCompletely { return }
      if let stripped = interpreted.stripped, !linker.options.retainsOptions { range = stripped }
    }
    let start = writer.begin(number)
    linker.schema.optionBytes.withUnsafeBufferPointer {
      writer.raw(UnsafeBufferPointer(rebasing: $0[range.range]))
    }
    if linker.options.isTolerant, site != .none { writeUninterpreted(site, linker) }
    writer.end(start)
  }

  /// Writes the options that were not interpreted, for want of an import.
  private mutating func writeUninterpreted(_ site: Handle, _ linker: borrowing Linker) {
    var option = linker.tables.sites[site].options.first
    while option != .none {
      let node = linker.tables.options[option]
      option = node.next
      guard node.isLeftUninterpreted else { continue }
      let start = writer.begin(999)
      for number in node.firstPart..<node.firstPart + node.partCount {
        let part = linker.tables.nameParts[number]
        var text = linker.tables.text(part.reference, linker.names)
        let partStart = writer.begin(2)
        text.withUTF8 { writer.field(1, bytes: $0) }
        writer.field(2, varint: part.isExtension ? 1 : 0)
        writer.end(partStart)
      }
      writeValue(node.value, linker)
      writer.end(start)
    }
  }

  private mutating func writeValue(_ value: OptionNode.Value, _ linker: borrowing Linker) {
    switch value {
    case .none: break
    case .identifier(let value): name(3, value, linker)
    case .positive(let value): writer.field(4, varint: value)
    case .negative(let value): writer.field(5, varint: UInt64(bitPattern: value))
    case .number(let value):
      writer.tag(6, .fixed64)
      writer.fixed64(value.bitPattern)
    case .string(let range):
      linker.tables.texts.withUnsafeBufferPointer {
        writer.field(7, bytes: UnsafeBufferPointer(rebasing: $0[range.range]))
      }
    case .aggregate(let range, _):
      linker.tables.source.withUnsafeBufferPointer {
        writer.field(8, bytes: UnsafeBufferPointer(rebasing: $0[range]))
      }
    }
  }

  // MARK: Messages

  private mutating func messages(_ number: Int32, _ children: Children, _ linker: borrowing Linker) {
    var message = children.first
    while message != .none {
      let node = linker.schema.messages[message]
      let start = writer.begin(number)
      name(1, node.declaration.name, linker)
      fields(2, node.fields, linker)
      messages(3, node.messages, linker)
      enums(4, node.enums, linker)
      ranges(5, node.extensionRanges, linker)
      fields(6, node.extensions, linker)
      options(7, node.declaration, linker)
      oneofs(node.oneofs, linker)
      ranges(9, node.reservedRanges, linker)
      reservedNames(10, node.reservedNames, linker)
      if node.visibility != .unset { writer.field(11, varint: UInt64(node.visibility.rawValue)) }
      writer.end(start)
      message = node.next
    }
  }

  private mutating func fields(_ number: Int32, _ children: Children, _ linker: borrowing Linker) {
    var field = children.first
    while field != .none {
      let node = linker.schema.fields[field]
      let start = writer.begin(number)
      writeField(node, linker.fieldSite(field), linker)
      writer.end(start)
      field = node.next
    }
  }

  private mutating func writeField(_ node: FieldNode, _ site: FieldSite, _ linker: borrowing Linker) {
    let isLegacy = linker.schema.files[node.file].edition.isLegacy
    name(1, node.declaration.name, linker)
    if node.isExtension { fullName(2, linker.schema.messages[node.extendee].declaration.symbol, linker) }
    writer.field(3, int32: node.number)
    writer.field(4, varint: UInt64(node.label == .required && !isLegacy ? 1 : node.label.rawValue))
    writer.field(
      5, varint: UInt64(node.type == .group && !isLegacy ? FieldType.message.rawValue : node.type.rawValue))
    if node.type.isMessage {
      fullName(6, linker.schema.messages[node.typeIndex].declaration.symbol, linker)
    } else if node.type == .enum {
      fullName(6, linker.schema.enums[node.typeIndex].declaration.symbol, linker)
    }
    if let range = site.defaultValue { text(7, range, linker) }
    options(8, node.declaration, linker)
    if node.oneof != .none { writer.field(9, int32: linker.schema.oneofs[node.oneof].position) }
    if let range = site.jsonName { text(10, range, linker) } else { jsonName(node.declaration.name, linker) }
    if node.isProto3Optional { writer.field(17, varint: 1) }
  }

  private mutating func text(_ number: Int32, _ range: ByteRange, _ linker: borrowing Linker) {
    linker.tables.texts.withUnsafeBufferPointer {
      writer.field(number, bytes: UnsafeBufferPointer(rebasing: $0[range.range]))
    }
  }

  private mutating func jsonName(_ name: Name, _ linker: borrowing Linker) {
    let start = writer.begin(10)
    linker.names.withBytes(name) { bytes in
      var capitalizes = false
      for byte in bytes {
        if byte == UInt8(ascii: "_") {
          capitalizes = true
        } else {
          writer.byte(capitalizes ? JSONName.uppercased(byte) : byte)
          capitalizes = false
        }
      }
    }
    writer.end(start)
  }

  private mutating func oneofs(_ children: Children, _ linker: borrowing Linker) {
    var oneof = children.first
    while oneof != .none {
      let node = linker.schema.oneofs[oneof]
      let start = writer.begin(8)
      name(1, node.declaration.name, linker)
      options(2, node.declaration, linker)
      writer.end(start)
      oneof = node.next
    }
  }

  private mutating func ranges(_ number: Int32, _ children: Children, _ linker: borrowing Linker) {
    var range = children.first
    while range != .none {
      let node = linker.schema.ranges[range]
      let start = writer.begin(number)
      writer.field(1, int32: node.start)
      writer.field(2, int32: node.end)
      options(3, node.declaration, linker)
      writer.end(start)
      range = node.next
    }
  }

  private mutating func reservedNames(_ number: Int32, _ children: Children, _ linker: borrowing Linker) {
    var entry = children.first
    while entry != .none {
      name(number, linker.schema.reservedNames[entry].name, linker)
      entry = linker.schema.reservedNames[entry].next
    }
  }

  // MARK: Enums and services

  private mutating func enums(_ number: Int32, _ children: Children, _ linker: borrowing Linker) {
    var owner = children.first
    while owner != .none {
      let node = linker.schema.enums[owner]
      let start = writer.begin(number)
      name(1, node.declaration.name, linker)
      var value = node.values.first
      while value != .none {
        let entry = linker.schema.values[value]
        let valueStart = writer.begin(2)
        name(1, entry.declaration.name, linker)
        writer.field(2, int32: entry.number)
        options(3, entry.declaration, linker)
        writer.end(valueStart)
        value = entry.next
      }
      options(3, node.declaration, linker)
      ranges(4, node.reservedRanges, linker)
      reservedNames(5, node.reservedNames, linker)
      if node.visibility != .unset { writer.field(6, varint: UInt64(node.visibility.rawValue)) }
      writer.end(start)
      owner = node.next
    }
  }

  private mutating func services(_ children: Children, _ linker: borrowing Linker) {
    var service = children.first
    while service != .none {
      let node = linker.schema.services[service]
      let start = writer.begin(6)
      name(1, node.declaration.name, linker)
      var method = node.methods.first
      while method != .none {
        let entry = linker.schema.methods[method]
        let methodStart = writer.begin(2)
        name(1, entry.declaration.name, linker)
        fullName(2, linker.schema.messages[entry.input].declaration.symbol, linker)
        fullName(3, linker.schema.messages[entry.output].declaration.symbol, linker)
        if entry.hasOptionsBlock { writeOptions(4, entry.declaration, linker) }
        if entry.isClientStreaming { writer.field(5, varint: 1) }
        if entry.isServerStreaming { writer.field(6, varint: 1) }
        writer.end(methodStart)
        method = entry.next
      }
      options(3, node.declaration, linker)
      writer.end(start)
      service = node.next
    }
  }
}
