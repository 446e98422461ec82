extension Linker {
  /// Declares all names of the file. False if the rest cannot be compiled.
  mutating func declareFile() -> Bool {
    let node = schema.files[file]
    if node.edition < .proto2 {
      error(
        "Edition \(node.edition.text) is earlier than the minimum supported edition PROTO2",
        at: tables.syntaxPlace)
    } else if node.edition > .newest, node.edition != .unstable {
      error(
        "Edition \(node.edition.text) is later than the maximum supported edition \(Edition.newest.text)",
        at: tables.syntaxPlace)
      return false
    }
    guard declarePackage() else { return false }
    checkImports()
    schema.files[file].declaration.symbol = schema.files[file].package
    let messages = schema.files[file].messages
    declare(messages: messages, in: schema.files[file].package)
    declare(enums: schema.files[file].enums, in: schema.files[file].package)
    declareServices()
    declare(fields: schema.files[file].extensions, in: schema.files[file].package)
    register(Element(kind: .file, index: file), schema.files[file].declaration)
    return true
  }

  /// Makes the symbols of the package and of those that contain it.
  private mutating func declarePackage() -> Bool {
    let reference = schema.files[file].package
    schema.files[file].package = Schema.root
    guard reference != .none else { return true }
    let found = tables.references[reference]
    if tables.text(reference, names).utf8.count - 1 > 511 {
      error("Package name is too long", at: tables.packagePlace)
      return false
    }
    if found.count > 101 {
      error("Exceeds Maximum Package Depth", at: tables.packagePlace)
      return false
    }
    var scope = Schema.root
    for index in found.first..<found.first + found.count {
      let name = tables.words[index]
      let existing = schema.member(name, of: scope)
      if existing == .none {
        let package = schema.makeSymbol(
          Symbol(kind: .package, name: name, parent: scope, file: file, index: .none))
        _ = schema.declare(package)
        scope = package
      } else {
        if schema.symbols[existing].kind != .package {
          error(
            "\"\(fullName(existing))\" is already defined (as something other than a package) in file \"\(fileName(schema.symbols[existing].file))\".",
            at: tables.packagePlace)
        }
        scope = existing
      }
    }
    schema.files[file].package = scope
    return true
  }

  /// Marks what the file sees.
  private mutating func checkImports() {
    schema.marks.begin()
    // Normal imports come first, as in protoc.
    for isOption in [false, true] {
      for entry in schema.files[file].imports where entry.isOption == isOption {
        if schema.marks.insert(entry.name) != nil, report.isOpen {
          // Errors refer to the last statement.
          let last = schema.files[file].imports.last { $0.name == entry.name } ?? entry
          error("Import \"\(names[entry.name])\" was listed twice.", at: last.place)
        }
        if entry.file != .none { reach.add(entry.file, for: file, isOption: isOption, schema) }
      }
    }
    reach.add(file, for: file, isOption: false, schema)
  }

  private mutating func declare(_ symbol: Handle, at place: Place) -> Bool {
    guard let existing = schema.declare(symbol) else { return true }
    let other = schema.symbols[existing]
    if other.file == file {
      let parent = schema.symbols[symbol].parent
      let scope = parent > Schema.hiddenRoot ? " in \"\(fullName(parent))\"" : ""
      error("\"\(names[schema.symbols[symbol].name])\" is already defined\(scope).", at: place)
    } else {
      error("\"\(fullName(symbol))\" is already defined in file \"\(fileName(other.file))\".", at: place)
    }
    return false
  }

  /// Notes a declaration whose options must be interpreted.
  private mutating func register(_ element: Element, _ declaration: Declaration) {
    guard declaration.site != .none, tables.sites[declaration.site].options.count > 0 else { return }
    optionOwners.append(element)
  }

  private mutating func makeSymbol(
    _ kind: Symbol.Kind, _ declaration: Declaration, in parent: Handle, _ index: Handle
  ) -> Handle {
    schema.makeSymbol(Symbol(kind: kind, name: declaration.name, parent: parent, file: file, index: index))
  }

  private func place(_ declaration: Declaration) -> Place {
    declaration.site == .none ? .unknown : tables.sites[declaration.site].name
  }

  // MARK: Messages

  private mutating func declare(messages: Children, in scope: Handle) {
    var message = messages.first
    while message != .none {
      declareMessage(message, in: scope)
      message = schema.messages[message].next
    }
  }

  private mutating func declareMessage(_ message: Handle, in scope: Handle) {
    let own = makeSymbol(.message, schema.messages[message].declaration, in: scope, message)
    schema.messages[message].declaration.symbol = own
    let node = schema.messages[message]
    checkName(own, place(node.declaration))
    // The members of another declaration with the same name have the names of those of this one.
    let existing = schema.member(node.declaration.name, of: scope)
    let symbol = existing == .none ? own : existing
    var oneof = node.oneofs.first
    while oneof != .none {
      let symbol = makeSymbol(.oneof, schema.oneofs[oneof].declaration, in: symbol, oneof)
      schema.oneofs[oneof].declaration.symbol = symbol
      let declaration = schema.oneofs[oneof].declaration
      checkName(symbol, place(declaration))
      register(Element(kind: .oneof, index: oneof), declaration)
      _ = declare(symbol, at: place(declaration))
      oneof = schema.oneofs[oneof].next
    }
    declare(fields: node.fields, in: symbol)
    declare(enums: node.enums, in: symbol)
    declareExtensionRanges(node)
    declare(fields: node.extensions, in: symbol)
    checkReservedRanges(node)
    register(Element(kind: .message, index: message), node.declaration)
    declare(messages: node.messages, in: symbol)
    _ = declare(own, at: place(node.declaration))
    checkReserved(schema.messages[message])
  }

  private mutating func declareExtensionRanges(_ message: MessageNode) {
    var range = message.extensionRanges.first
    var lastSite = Handle.none
    while range != .none {
      let node = schema.ranges[range]
      if node.start <= 0 { error("Extension numbers must be positive integers.", at: node.place) }
      if node.start >= node.end {
        error("Extension range end number must be greater than start number.", at: node.place)
      }
      // Ranges of one statement have the same options, which are interpreted once.
      if node.declaration.site != lastSite {
        register(Element(kind: .range, index: range, owner: tableIndex(message)), node.declaration)
        lastSite = node.declaration.site
      }
      range = node.next
    }
  }

  private func tableIndex(_ message: MessageNode) -> Handle {
    schema.symbols[message.declaration.symbol].index
  }

  private mutating func checkReservedRanges(_ message: MessageNode) {
    var range = message.reservedRanges.first
    while range != .none {
      let node = schema.ranges[range]
      if node.start <= 0 { error("Reserved numbers must be positive integers.", at: node.place) }
      if node.start >= node.end {
        error("Reserved range end number must be greater than start number.", at: node.place)
      }
      range = node.next
    }
  }

  /// Checks that ranges, reserved names and fields do not overlap.
  private mutating func checkReserved(_ message: MessageNode) {
    if message.fields.count > 65535 {
      error(
        "\(message.fields.count) fields in \(fullName(message.declaration.symbol)) exceeds the limit of 65535",
        at: place(message.declaration))
    }
    guard
      message.reservedRanges.count > 0 || message.reservedNames.count > 0 || message.extensionRanges.count > 0
    else { return }
    let reserved = RangeSearch(message.reservedRanges, schema)
    let extensions = RangeSearch(message.extensionRanges, schema)
    checkOverlaps(reserved, "Reserved range")
    checkReservedNames(message.reservedNames, "Field name", at: place(message.declaration))
    var field = message.fields.first
    while field != .none, report.isOpen {
      let node = schema.fields[field]
      let number = Int(node.number)
      for range in extensions.overlapping(number, number) {
        error(
          "Extension range \(range.start) to \(range.end) includes field \"\(names[node.declaration.name])\" (\(number)).",
          at: range.place)
      }
      for range in reserved.overlapping(number, number) {
        error(
          "Field \"\(names[node.declaration.name])\" uses reserved number \(number).", at: range.place)
      }
      if schema.marks[node.declaration.name] != .none {
        error("Field name \"\(names[node.declaration.name])\" is reserved.", at: place(node.declaration))
      }
      field = node.next
    }
    for range in extensions.ranges where report.isOpen {
      for other in reserved.overlapping(range.start, range.end) {
        error(
          "Extension range \(range.start) to \(range.end) overlaps with reserved range \(other.start) to \(other.end).",
          at: range.place)
      }
      checkOverlaps(of: range, extensions, "Extension range")
    }
  }

  private mutating func checkOverlaps(_ ranges: RangeSearch, _ kind: String) {
    for range in ranges.ranges where report.isOpen { checkOverlaps(of: range, ranges, kind) }
  }

  private mutating func checkOverlaps(of range: RangeSearch.Entry, _ ranges: RangeSearch, _ kind: String) {
    for other in ranges.overlapping(range.start, range.end) where other.range > range.range {
      error(
        "\(kind) \(other.start) to \(other.end) overlaps with already-defined range \(range.start) to \(range.end).",
        at: range.place)
    }
  }

  /// Marks the reserved names.
  private mutating func checkReservedNames(_ children: Children, _ kind: String, at place: Place) {
    schema.marks.begin()
    var entry = children.first
    while entry != .none {
      let name = schema.reservedNames[entry].name
      if schema.marks.insert(name) != nil {
        error("\(kind) \"\(names[name])\" is reserved multiple times.", at: place)
      }
      entry = schema.reservedNames[entry].next
    }
  }

  // MARK: Fields

  private mutating func declare(fields: Children, in scope: Handle) {
    var field = fields.first
    while field != .none {
      declareField(field, in: scope)
      field = schema.fields[field].next
    }
  }

  private mutating func declareField(_ field: Handle, in scope: Handle) {
    let symbol = makeSymbol(.field, schema.fields[field].declaration, in: scope, field)
    schema.fields[field].declaration.symbol = symbol
    let node = schema.fields[field]
    let site = fieldSite(field)
    checkName(symbol, place(node.declaration))
    if node.label == .required, node.isExtension {
      error("The extension \(fullName(symbol)) cannot be required.", at: site.typePlace)
    }
    if site.defaultValue != nil, node.label == .repeated {
      error("Repeated fields can't have default values.", at: site.defaultPlace)
    }
    if node.number <= 0 {
      error("Field numbers must be positive integers.", at: numberPlace(node.declaration))
    } else if !node.isExtension, node.number > Parser.maxNumber {
      error("Field numbers cannot be greater than \(Parser.maxNumber).", at: numberPlace(node.declaration))
    }
    register(Element(kind: .field, index: field), node.declaration)
    _ = declare(symbol, at: place(node.declaration))
  }

  // MARK: Enums and services

  private mutating func declare(enums: Children, in scope: Handle) {
    var owner = enums.first
    while owner != .none {
      declareEnum(owner, in: scope)
      owner = schema.enums[owner].next
    }
  }

  private mutating func declareEnum(_ owner: Handle, in scope: Handle) {
    let symbol = makeSymbol(.enum, schema.enums[owner].declaration, in: scope, owner)
    schema.enums[owner].declaration.symbol = symbol
    let node = schema.enums[owner]
    checkName(symbol, place(node.declaration))
    if node.values.count == 0 { error("Enums must contain at least one value.", at: place(node.declaration)) }
    var value = node.values.first
    while value != .none {
      declareValue(value, of: owner, in: scope)
      value = schema.values[value].next
    }
    let reserved = RangeSearch(node.reservedRanges, schema, endIsPart: true)
    for range in reserved.ranges where range.start > range.end {
      error("Reserved range end number must be greater than start number.", at: range.place)
    }
    register(Element(kind: .enum, index: owner), node.declaration)
    _ = declare(symbol, at: place(node.declaration))
    guard !reserved.ranges.isEmpty || node.reservedNames.count > 0 else { return }
    checkOverlaps(reserved, "Reserved range")
    checkReservedNames(node.reservedNames, "Enum value", at: place(node.declaration))
    value = node.values.first
    while value != .none, report.isOpen {
      let entry = schema.values[value]
      for range in reserved.overlapping(Int(entry.number), Int(entry.number)) {
        error(
          "Enum value \"\(names[entry.declaration.name])\" uses reserved number \(entry.number).",
          at: range.place)
      }
      if schema.marks[entry.declaration.name] != .none {
        error("Enum value \"\(names[entry.declaration.name])\" is reserved.", at: place(entry.declaration))
      }
      value = entry.next
    }
  }

  private mutating func declareValue(_ value: Handle, of owner: Handle, in scope: Handle) {
    let symbol = makeSymbol(.value, schema.values[value].declaration, in: scope, value)
    schema.values[value].declaration.symbol = symbol
    let declaration = schema.values[value].declaration
    checkName(symbol, place(declaration))
    register(Element(kind: .value, index: value), declaration)
    guard !declare(symbol, at: place(declaration)), report.isOpen else { return }
    var first = schema.enums[owner].values.first
    while schema.values[first].declaration.name != declaration.name { first = schema.values[first].next }
    guard first == value else { return }
    let outer = scope > Schema.hiddenRoot ? "\"\(fullName(scope))\"" : "the global scope"
    error(
      "Note that enum values use C++ scoping rules, meaning that enum values are siblings of their type, not children of it.  Therefore, \"\(names[declaration.name])\" must be unique within \(outer), not just within \"\(names[schema.enums[owner].declaration.name])\".",
      at: place(declaration))
  }

  private mutating func declareServices() {
    let scope = schema.files[file].package
    var service = schema.files[file].services.first
    while service != .none {
      let symbol = makeSymbol(.service, schema.services[service].declaration, in: scope, service)
      schema.services[service].declaration.symbol = symbol
      let node = schema.services[service]
      checkName(symbol, place(node.declaration))
      let existing = schema.member(node.declaration.name, of: scope)
      let owner = existing == .none ? symbol : existing
      var method = node.methods.first
      while method != .none {
        let methodSymbol = makeSymbol(.method, schema.methods[method].declaration, in: owner, method)
        schema.methods[method].declaration.symbol = methodSymbol
        let declaration = schema.methods[method].declaration
        checkName(methodSymbol, place(declaration))
        register(Element(kind: .method, index: method), declaration)
        _ = declare(methodSymbol, at: place(declaration))
        method = schema.methods[method].next
      }
      register(Element(kind: .service, index: service), node.declaration)
      _ = declare(symbol, at: place(node.declaration))
      service = node.next
    }
  }

  /// Checks that a full name is not longer than protoc allows.
  private mutating func checkName(_ symbol: Handle, _ place: Place) {
    // Only a name or a file that long can make one.
    guard tables.source.count > 65535 - 600 else { return }
    var (length, part) = (-1, symbol)
    while part > Schema.hiddenRoot {
      length += names.count(schema.symbols[part].name) + 1
      part = schema.symbols[part].parent
    }
    if length > 65535 { error("Name too long.", at: place) }
  }

  // MARK: Map conflicts

  /// Reports the cause if the message of a map's entries has the name of another declaration.
  mutating func detectMapConflicts() {
    var message = schema.files[file].messages.first
    while message != .none {
      detectMapConflicts(message)
      message = schema.messages[message].next
    }
  }

  private mutating func detectMapConflicts(_ message: Handle) {
    let node = schema.messages[message]
    var seen: [Name: Bool] = [:]
    var nested = node.messages.first
    while nested != .none {
      let inner = schema.messages[nested]
      if let isMapEntry = seen[inner.declaration.name] {
        if isMapEntry || inner.isMapEntry {
          error(
            "Expanded map entry type \(names[inner.declaration.name]) conflicts with an existing nested message type.",
            at: place(node.declaration))
          break
        }
      } else {
        seen[inner.declaration.name] = inner.isMapEntry
      }
      detectMapConflicts(nested)
      nested = inner.next
    }
    func check(_ name: Name, _ kind: String, _ linker: inout Linker) {
      guard seen[name] == true else { return }
      linker.error(
        "Expanded map entry type \(linker.names[name]) conflicts with an existing \(kind).",
        at: linker.place(node.declaration))
    }
    guard seen.values.contains(true) else { return }
    var field = node.fields.first
    while field != .none {
      check(schema.fields[field].declaration.name, "field", &self)
      field = schema.fields[field].next
    }
    var owner = node.enums.first
    while owner != .none {
      check(schema.enums[owner].declaration.name, "enum type", &self)
      owner = schema.enums[owner].next
    }
    var oneof = node.oneofs.first
    while oneof != .none {
      check(schema.oneofs[oneof].declaration.name, "oneof type", &self)
      oneof = schema.oneofs[oneof].next
    }
  }
}

/// Ranges of numbers, sorted so that those which contain a number are found without a look at all.
struct RangeSearch {
  struct Entry {
    let range: Handle
    let start: Int
    /// The last number.
    let end: Int
    let place: Place
  }

  /// In the order of the source.
  let ranges: [Entry]
  /// By their starts, each with the greatest end up to it.
  private var sorted: [(range: Int, start: Int, greatestEnd: Int)] = []

  init(_ children: Children, _ schema: borrowing Schema, endIsPart: Bool = false) {
    var ranges: [Entry] = []
    var range = children.first
    while range != .none {
      let node = schema.ranges[range]
      let end = Int(node.end) - (endIsPart ? 0 : 1)
      ranges.append(Entry(range: range, start: Int(node.start), end: end, place: node.place))
      range = node.next
    }
    self.ranges = ranges
    var greatest = Int.min
    for index in ranges.indices.sorted(by: { ranges[$0].start < ranges[$1].start }) {
      greatest = max(greatest, ranges[index].end)
      sorted.append((index, ranges[index].start, greatest))
    }
  }

  /// The ranges that overlap with another, in the order of the source.
  func overlapping(_ start: Int, _ end: Int) -> [Entry] {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle].start <= end { low = middle + 1 } else { high = middle }
    }
    var found: [Int] = []
    while low > 0, sorted[low - 1].greatestEnd >= start {
      low -= 1
      if ranges[sorted[low].range].end >= start { found.append(sorted[low].range) }
    }
    return found.sorted().map { ranges[$0] }
  }
}
