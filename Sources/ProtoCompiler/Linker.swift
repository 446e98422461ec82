/// A declaration of any kind.
struct Element {
  enum Kind: UInt8, CaseIterable {
    case file, message, field, oneof, range, `enum`, value, service, method

    /// The message of its options.
    var options: Word {
      switch self {
      case .file: .FileOptions
      case .message: .MessageOptions
      case .field: .FieldOptions
      case .oneof: .OneofOptions
      case .range: .ExtensionRangeOptions
      case .enum: .EnumOptions
      case .value: .EnumValueOptions
      case .service: .ServiceOptions
      case .method: .MethodOptions
      }
    }

    /// The number of `features` in its options.
    var featuresNumber: Int32 {
      switch self {
      case .file, .range: 50
      case .message: 12
      case .field: 21
      case .oneof: 1
      case .enum: 7
      case .value: 2
      case .service: 34
      case .method: 35
      }
    }
  }

  var kind: Kind
  var index: Handle
  /// The message of an extension range.
  var owner = Handle.none
}

extension Schema {
  func declaration(_ element: Element) -> Declaration {
    switch element.kind {
    case .file: files[element.index].declaration
    case .message: messages[element.index].declaration
    case .field: fields[element.index].declaration
    case .oneof: oneofs[element.index].declaration
    case .range: ranges[element.index].declaration
    case .enum: enums[element.index].declaration
    case .value: values[element.index].declaration
    case .service: services[element.index].declaration
    case .method: methods[element.index].declaration
    }
  }

  private mutating func change(_ element: Element, _ body: (inout Declaration) -> Void) {
    switch element.kind {
    case .file: body(&files[element.index].declaration)
    case .message: body(&messages[element.index].declaration)
    case .field: body(&fields[element.index].declaration)
    case .oneof: body(&oneofs[element.index].declaration)
    case .range: body(&ranges[element.index].declaration)
    case .enum: body(&enums[element.index].declaration)
    case .value: body(&values[element.index].declaration)
    case .service: body(&services[element.index].declaration)
    case .method: body(&methods[element.index].declaration)
    }
  }

  mutating func setFeatures(_ element: Element, _ features: Features) {
    change(element) { $0.features = features }
  }

  mutating func setOptions(_ element: Element, _ options: ByteRange) {
    change(element) { $0.options = options }
  }
}

/// Which files and packages the file that is compiled sees, and which imports it used. The marks are numbers of files, so that they
/// need not be cleared.
struct Reach {
  private var files = ContiguousArray<Handle>()
  private var optionFiles = ContiguousArray<Handle>()
  private var usedFiles = ContiguousArray<Handle>()
  private var packages = ContiguousArray<Handle>()

  private static func mark(_ table: inout ContiguousArray<Handle>, _ entry: Handle, _ file: Handle) {
    while table.count <= Int(entry) { table.append(.none) }
    table[entry] = file
  }

  private static func has(_ table: ContiguousArray<Handle>, _ entry: Handle, _ file: Handle) -> Bool {
    Int(entry) < table.count && table[entry] == file
  }

  /// Marks a file and those that it imports publicly as seen by `reader`.
  mutating func add(_ entry: Handle, for reader: Handle, isOption: Bool, _ schema: borrowing Schema) {
    var queue = [entry]
    while let next = queue.popLast() {
      if isOption ? Reach.has(optionFiles, next, reader) : Reach.has(files, next, reader) { continue }
      if isOption { Reach.mark(&optionFiles, next, reader) } else { Reach.mark(&files, next, reader) }
      var package = schema.files[next].package
      while package != .none, !Reach.has(packages, package, reader) {
        Reach.mark(&packages, package, reader)
        package = schema.symbols[package].parent
      }
      for entry in schema.files[next].imports where entry.isPublic && entry.file != .none {
        queue.append(entry.file)
      }
    }
  }

  @inline(__always)
  func sees(_ entry: Handle, from reader: Handle) -> Bool {
    entry == reader || Reach.has(files, entry, reader)
  }

  func seesOptions(_ entry: Handle, from reader: Handle) -> Bool { Reach.has(optionFiles, entry, reader) }

  func sees(package: Handle, from reader: Handle) -> Bool { Reach.has(packages, package, reader) }

  @inline(__always)
  mutating func use(_ entry: Handle, by reader: Handle) {
    if !Reach.has(usedFiles, entry, reader) { Reach.mark(&usedFiles, entry, reader) }
  }

  func uses(_ entry: Handle, _ reader: Handle) -> Bool { Reach.has(usedFiles, entry, reader) }
}

/// Compiles a file after its imports: declares its names, finds what its references mean, interprets its options, checks it and
/// writes its descriptor.
///
/// The steps and their order are those of protoc, so that the first error is the same.
struct Linker: ~Copyable {
  var names: Names
  var schema: Schema
  var report: Report
  var tables: FileTables
  var reach: Reach
  let options: ProtoCompilerOptions
  /// Whether the file was asked for, not only imported.
  let isMain: Bool

  /// All declarations in the order in which protoc visits them.
  var order = ContiguousArray<Element>()
  /// The declarations with options, in the order of their interpretation.
  var optionOwners = ContiguousArray<Element>()
  /// Whether the options need no types, since none is declared and all are simple ones.
  var isSimple = false
  /// Whether two fields of the message that is linked could have the same number: `Schema.marks` has them.
  var checksNumbers = false
  /// The paths of fields that the options of a declaration with many options have set, and how often those of repeated fields.
  var optionPaths: (site: Handle, counts: [[Int32]: Int32]) = (.none, [:])
  /// Where the values of options are written.
  var writer = ByteWriter()
  /// Whether the option that is written sets a field that only sources have, one whose editions are limited, or one that some
  /// kinds of declarations only may have.
  var sawSourceRetention = false
  var sawFeatureSupport = false
  var sawTargets = false
  /// What the last lookup found in a file that is not imported.
  var undeclaredImport = Handle.none
  /// The name that the last lookup resolved to, which does not exist.
  var undefinedName: String?

  var file: Handle { tables.file }

  /// The file that declares the options of the language.
  static let descriptorFile = "google/protobuf/descriptor.proto"

  init(
    tables: consuming FileTables, names: consuming Names, schema: consuming Schema, report: consuming Report,
    reach: consuming Reach, options: ProtoCompilerOptions, isMain: Bool
  ) {
    self.tables = tables
    self.names = names
    self.schema = schema
    self.report = report
    self.reach = reach
    self.options = options
    self.isMain = isMain
  }

  /// Compiles the file up to its descriptor. After an error, `report` has errors.
  mutating func link() {
    guard declareFile() else { return }
    linkTypes()
    guard !report.hasErrors else { return detectMapConflicts() }
    collectOrder()
    if !optionOwners.isEmpty, Element.Kind.allCases.contains(where: { optionsMessage($0) == .none }) {
      isSimple = optionsMessage(.file) == .none && hasSimpleOptions()
      if !isSimple { readOptionTypes() }
    }
    interpretOptions(extensions: false)
    resolveFeatures()
    interpretOptions(extensions: true)
    if !report.hasErrors {
      schema.files[file].isLite = option(9, of: schema.files[file].declaration.options) == 3
      validate()
    }
    if report.hasErrors { return detectMapConflicts() }
    warnAboutUnusedImports()
    validateNames()
    if !report.hasErrors { validateLimits() }
    if !report.hasErrors { validateVisibility() }
    if !report.hasErrors { checkLifetimes() }
    if !report.hasErrors { validateMainFile() }
  }

  @inline(never)
  mutating func error(
    _ text: String, at place: Place, cause: ProtoDiagnostic.Cause? = nil, hint: String? = nil
  ) {
    report.add(text, at: place, in: tables.source, cause: cause, hint: hint)
  }

  mutating func warning(_ text: String, at place: Place) {
    report.add(text, .warning, at: place, in: tables.source)
  }

  /// The place of a declaration's name.
  func namePlace(_ element: Element) -> Place {
    if element.kind == .file {
      return tables.packagePlace == .unknown ? tables.syntaxPlace : tables.packagePlace
    }
    if element.kind == .range { return schema.ranges[element.index].place }
    let site = schema.declaration(element).site
    return site == .none ? .unknown : tables.sites[site].name
  }

  func numberPlace(_ declaration: Declaration) -> Place {
    declaration.site == .none ? .unknown : tables.sites[declaration.site].number
  }

  func fieldSite(_ field: Handle) -> FieldSite { tables.fields[field - tables.firstField] }

  func fullName(_ symbol: Handle) -> String {
    var bytes = ContiguousArray<UInt8>()
    schema.appendFullName(of: symbol, names, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  func fullName(message: Handle) -> String { fullName(schema.messages[message].declaration.symbol) }

  func fileName(_ file: Handle) -> String { file == .none ? "null" : names[schema.files[file].name] }

  // MARK: Options

  /// The value of the last field with a number in serialized options.
  func option(_ number: Int32, of options: ByteRange) -> UInt64? {
    guard !options.isEmpty else { return nil }
    return schema.optionBytes.withUnsafeBufferPointer { bytes in
      var value: UInt64?
      for field in WireFields(bytes, options.range) where field.number == number { value = field.value }
      return value
    }
  }

  func hasOption(_ number: Int32, of options: ByteRange) -> Bool {
    schema.optionBytes.withUnsafeBufferPointer { bytes in
      WireFields(bytes, options.range).contains { $0.number == number }
    }
  }

  // MARK: Order

  /// Lists all declarations of the file.
  private mutating func collectOrder() {
    let node = schema.files[file]
    order.append(Element(kind: .file, index: file))
    collect(messages: node.messages)
    collect(enums: node.enums)
    collect(fields: node.extensions)
    var service = node.services.first
    while service != .none {
      order.append(Element(kind: .service, index: service))
      var method = schema.services[service].methods.first
      while method != .none {
        order.append(Element(kind: .method, index: method))
        method = schema.methods[method].next
      }
      service = schema.services[service].next
    }
  }

  private mutating func collect(messages: Children) {
    var message = messages.first
    while message != .none {
      let node = schema.messages[message]
      order.append(Element(kind: .message, index: message))
      collect(enums: node.enums)
      var oneof = node.oneofs.first
      while oneof != .none {
        order.append(Element(kind: .oneof, index: oneof))
        oneof = schema.oneofs[oneof].next
      }
      collect(fields: node.fields)
      collect(messages: node.messages)
      collect(fields: node.extensions)
      var range = node.extensionRanges.first
      while range != .none {
        order.append(Element(kind: .range, index: range, owner: message))
        range = schema.ranges[range].next
      }
      message = node.next
    }
  }

  private mutating func collect(enums: Children) {
    var owner = enums.first
    while owner != .none {
      order.append(Element(kind: .enum, index: owner))
      var value = schema.enums[owner].values.first
      while value != .none {
        order.append(Element(kind: .value, index: value))
        value = schema.values[value].next
      }
      owner = schema.enums[owner].next
    }
  }

  private mutating func collect(fields: Children) {
    var field = fields.first
    while field != .none {
      order.append(Element(kind: .field, index: field))
      field = schema.fields[field].next
    }
  }
}
