import RPCurlProtobuf

/// Writes declarations in the protobuf language, so that a compiler produces the same descriptors.
///
/// The output contains no control characters except line feeds, for any schema.
package struct ProtoPrinter {
  let file: FileDeclaration
  private let pool: DescriptorPool
  var scope: NameScope
  /// The full names of the messages that group fields have declared.
  private var groups: Set<String> = []
  private var indentation = 0
  private var text = ""

  /// Makes a printer for the declarations of `file`, which is from `pool`.
  package init(_ file: FileDeclaration, in pool: DescriptorPool) {
    self.file = file
    self.pool = pool
    scope = NameScope(file, pool: pool.core)
  }

  /// The whole file.
  package func print() -> String {
    var printer = self
    printer.header()
    for type in file.enums { printer.separated { $0.enumeration(type) } }
    var body = NestedPrinter(fields: [], extensions: file.extensions, messages: file.messages)
    body.print(with: &printer)
    for service in file.services { printer.separated { $0.service(service) } }
    return printer.text
  }

  /// One declaration of the file.
  package func print(_ declaration: Declaration) -> String {
    var printer = self
    printer.enter(declaration)
    switch declaration {
    case .service(let service): printer.service(service)
    case .method(let method, _): printer.method(method)
    case .message(let message): printer.message(message)
    case .field(let field, _): printer.field(field)
    case .oneof(let oneof, let message):
      let index = message.oneofs.firstIndex { $0.name == oneof.name }
      printer.oneof(oneof, message.fields.filter { $0.oneofIndex == index })
    case .enumeration(let type): printer.enumeration(type)
    case .enumValue(let value, _): printer.value(value)
    case .extensionField(let field): printer.extend([field])
    }
    return printer.text
  }

  /// Sets the scope to that of the declaration.
  private mutating func enter(_ declaration: Declaration) {
    var full = declaration.name
    switch declaration {
    case .field, .oneof: break
    case .message, .enumeration, .extensionField: break
    case .service, .method, .enumValue: return
    }
    full = full.lastIndex(of: ".").map { String(full[..<$0]) } ?? ""
    var messages = file.messages
    while let next = messages.first(where: { full == $0.fullName || full.hasPrefix($0.fullName + ".") }) {
      scope = scope.entering(next)
      messages = next.messages
    }
  }

  // MARK: Layout

  mutating func line(_ line: String) {
    for part in line.split(separator: "\n", omittingEmptySubsequences: false) {
      if !part.isEmpty { text += String(repeating: "  ", count: indentation) + part }
      text += "\n"
    }
  }

  mutating func block(_ opening: String, _ body: (inout ProtoPrinter) -> Void) {
    line("\(opening) {")
    indentation += 1
    body(&self)
    indentation -= 1
    // An empty block.
    if text.hasSuffix("\(opening) {\n") {
      text.removeLast()
      text += "}\n"
    } else {
      line("}")
    }
  }

  /// Writes an empty line before the content, unless it is the first in its block.
  mutating func separated(_ body: (inout ProtoPrinter) -> Void) {
    if !text.isEmpty, !text.hasSuffix("{\n"), !text.hasSuffix("\n\n") { text += "\n" }
    body(&self)
  }

  private mutating func comment(_ comment: String) {
    guard !comment.isEmpty else { return }
    // A carriage return with a line feed is one character.
    var lines = comment.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    if lines.last?.isEmpty == true { lines.removeLast() }
    for part in lines { line("//" + ProtoText.safe(part)) }
  }

  /// The comments before a declaration.
  private mutating func comments(_ comments: Comments) {
    for detached in comments.detached {
      comment(detached)
      text += "\n"
    }
    comment(comments.leading)
    comment(comments.trailing)
  }

  /// Options as statements.
  private mutating func statements(
    _ options: DescriptorOptions, emptyFeatures: [String]? = nil, more: [String] = []
  ) {
    var unknown = false
    let settings = settings(options, emptyFeatures, &unknown) + more
    for setting in settings { line("option \(setting);") }
    if unknown { line("// and options that the schema does not define") }
  }

  private func settings(
    _ options: DescriptorOptions, _ emptyFeatures: [String]?, _ unknown: inout Bool
  ) -> [String] {
    let features = emptyFeatures ?? SourceFeatures.empty(in: file)
    return OptionPrinter(scope: scope, emptyFeatures: features).print(options, unknown: &unknown)
  }

  /// Options in brackets, after a declaration.
  private func brackets(_ options: DescriptorOptions, first: [String] = []) -> String {
    var unknown = false
    let settings = first + settings(options, nil, &unknown)
    let note = unknown ? " /* and options that the schema does not define */" : ""
    guard !settings.isEmpty else { return note }
    let joined = settings.joined(separator: ", ")
    guard joined.utf8.count > 80 || joined.contains("\n") else { return " [\(joined)]\(note)" }
    let lines = settings.map { "  " + $0.split(separator: "\n").joined(separator: "\n  ") }
    return " [\n\(lines.joined(separator: ",\n"))\n]\(note)"
  }

  // MARK: Files

  private mutating func header() {
    comments(file.comments)
    switch file.syntax {
    case .proto2: line("syntax = \"proto2\";")
    case .proto3: line("syntax = \"proto3\";")
    case .edition(let number): line("edition = \"\(Self.editionName(number))\";")
    }
    if !file.package.isEmpty {
      separated { printer in
        printer.comments(printer.file.packageComments)
        printer.line("package \(ProtoText.safe(printer.file.package));")
      }
    }
    if !file.imports.isEmpty {
      separated { printer in
        for entry in printer.file.imports {
          let kind = entry.kind == .plain ? "" : "\(entry.kind.rawValue) "
          printer.line("import \(kind)\(ProtoText.literal(entry.name));")
        }
      }
    }
    let features = SourceFeatures(file)?.settings(in: pool) ?? []
    guard !file.options.serialized.isEmpty || !features.isEmpty else { return }
    let isEmpty = SourceFeatures.isEmpty(50, in: file.options)
    separated {
      $0.statements(
        $0.file.options, emptyFeatures: features.isEmpty ? ["features = {}"] : features,
        more: isEmpty ? [] : features)
    }
  }

  /// The name of an edition: its year.
  static func editionName(_ number: Int32) -> String {
    switch number {
    case 1000: "2023"
    case 1001: "2024"
    case 1002: "2026"
    case 9999: "UNSTABLE"
    default: "\(number)"
    }
  }

  private var isEdition: Bool {
    if case .edition = file.syntax { true } else { false }
  }

  private func names(_ names: [String]) -> String {
    names.map { isEdition ? ProtoText.safe($0) : ProtoText.literal($0) }.joined(separator: ", ")
  }

  private static func visibility(_ number: Int32) -> String {
    number == 1 ? "local " : number == 2 ? "export " : ""
  }

  // MARK: Messages

  mutating func message(_ message: MessageDeclaration) {
    comments(message.comments)
    block("\(Self.visibility(message.visibility))message \(ProtoText.safe(message.name))") { printer in
      printer.members(of: message)
    }
  }

  private mutating func members(of message: MessageDeclaration) {
    let outer = scope
    scope = scope.entering(message)
    statements(message.options, more: conflictSettings(message))
    var body = NestedPrinter(message)
    body.print(with: &self)
    for type in message.enums { separated { $0.enumeration(type) } }
    // Messages of the oldest format have larger numbers.
    let top: Int64 = WireFields(message.options).flag(1) ? (1 << 31) - 2 : (1 << 29) - 1
    for range in message.extensionRanges {
      line("extensions \(Self.range(range.numbers, top))\(brackets(range.options));")
    }
    if !message.reservedNumbers.isEmpty {
      let ranges = message.reservedNumbers.map { Self.range($0, top) }
      line("reserved \(ranges.joined(separator: ", "));")
    }
    if !message.reservedNames.isEmpty { line("reserved \(names(message.reservedNames));") }
    scope = outer
  }

  private static func range(_ numbers: Range<Int64>, _ top: Int64) -> String {
    let last = numbers.upperBound - 1
    if last <= numbers.lowerBound { return "\(numbers.lowerBound)" }
    return "\(numbers.lowerBound) to \(last == top ? "max" : "\(last)")"
  }

  /// The option without which compilers refuse fields that have the same name in JSON. In proto2 and where the format of JSON is
  /// that of proto2, they refuse only names that are written.
  private func conflictSettings(_ message: MessageDeclaration) -> [String] {
    let features = FeatureValues(file.syntax).overridden(by: file.options, of: .file)
      .overridden(by: message.options, of: .message)
    var names: [String: Bool] = [:]
    let conflicts = message.fields.contains { field in
      let standard = ProtoText.jsonName(of: field.name)
      let name = ProtoText.literal(field.jsonNameBytes ?? Array(standard.utf8))
      let isWritten = field.jsonName != nil && field.jsonName != standard
      guard let other = names.updateValue(isWritten, forKey: name) else { return false }
      return features.jsonFormat != 2 || isWritten && other
    }
    guard conflicts, !WireFields(message.options).flag(11) else { return [] }
    return ["deprecated_legacy_json_field_conflicts = true"]
  }

  mutating func oneof(_ oneof: MessageDeclaration.Oneof, _ fields: [FieldDeclaration]) {
    comments(oneof.comments)
    block("oneof \(ProtoText.safe(oneof.name))") { printer in
      printer.statements(oneof.options)
      for field in fields { printer.field(field) }
    }
  }

  // MARK: Fields

  /// Several extensions of one message.
  mutating func extend(_ fields: [FieldDeclaration]) {
    guard let extendee = fields.first?.extendee else { return }
    block("extend \(scope.type(extendee))") { printer in
      for field in fields { printer.field(field) }
    }
  }

  mutating func field(_ field: FieldDeclaration) {
    comments(field.comments)
    // A map or a group declares a message in the same scope.
    let declared = scope.nested(field.typeName)
    let options = brackets(field.options, first: settings(of: field))
    if let declared, declared.isMapEntry, let map = mapType(declared) {
      return line("\(map) \(ProtoText.safe(field.name)) = \(field.number)\(options);")
    }
    let label = label(of: field)
    if field.kind == .group, let group = declared, groups.insert(group.fullName).inserted {
      return block("\(label)group \(ProtoText.safe(group.name)) = \(field.number)\(options)") {
        $0.members(of: group)
      }
    }
    // In a descriptor, a group's type may be declared elsewhere, such as a message around it; the language
    // does not allow that.
    let note = field.kind == .group ? " // encoded as a group" : ""
    line("\(label)\(type(of: field)) \(ProtoText.safe(field.name)) = \(field.number)\(options);\(note)")
  }

  private func label(of field: FieldDeclaration) -> String {
    switch field.label {
    case .repeated: "repeated "
    case .required: "required "
    case .optional:
      if field.isProto3Optional || file.syntax == .proto2 && field.oneofIndex == nil {
        "optional "
      } else {
        ""
      }
    }
  }

  private func type(of field: FieldDeclaration) -> String {
    guard field.typeName.isEmpty else { return scope.type(field.typeName) }
    let name = field.kind.protoName
    return file.syntax == .edition(9999) ? Self.unstableNames[name] ?? name : name
  }

  /// The types of integers in the edition for tests, where the usual names mean a fixed size.
  private static let unstableNames = [
    "fixed64": "uint64", "fixed32": "uint32", "sfixed32": "int32", "sfixed64": "int64", "int32": "varint32",
    "int64": "varint64", "uint32": "uvarint32", "uint64": "uvarint64", "sint32": "zigzag32",
    "sint64": "zigzag64",
  ]

  private func mapType(_ entry: MessageDeclaration) -> String? {
    guard let key = entry.fields.first(where: { $0.number == 1 }),
      let value = entry.fields.first(where: { $0.number == 2 })
    else { return nil }
    return "map<\(type(of: key)), \(type(of: value))>"
  }

  /// Settings that are written like options, but are not.
  private func settings(of field: FieldDeclaration) -> [String] {
    var settings: [String] = []
    if let bytes = field.defaultBytes { settings.append("default = \(defaultValue(bytes, of: field))") }
    if let name = field.jsonNameBytes, field.extendee == nil,
      field.jsonName != ProtoText.jsonName(of: field.name)
    {
      settings.append("json_name = \(ProtoText.literal(text: name))")
    }
    return settings
  }

  private func defaultValue(_ bytes: [UInt8], of field: FieldDeclaration) -> String {
    switch field.kind {
    case .string: ProtoText.literal(text: bytes)
    case .bytes: ProtoText.literal(DefaultValue.unescape(bytes) ?? [])
    default: ProtoText.safe(String(decoding: bytes, as: UTF8.self))
    }
  }

  // MARK: Enums

  mutating func enumeration(_ type: EnumDeclaration) {
    comments(type.comments)
    block("\(Self.visibility(type.visibility))enum \(ProtoText.safe(type.name))") { printer in
      printer.statements(type.options)
      for value in type.values { printer.value(value) }
      if !type.reservedNumbers.isEmpty {
        let ranges = type.reservedNumbers.map { range in
          range.count == 1
            ? "\(range.lowerBound)"
            : "\(range.lowerBound) to \(range.upperBound == .max ? "max" : "\(range.upperBound)")"
        }
        printer.line("reserved \(ranges.joined(separator: ", "));")
      }
      if !type.reservedNames.isEmpty { printer.line("reserved \(printer.names(type.reservedNames));") }
    }
  }

  mutating func value(_ value: EnumDeclaration.Value) {
    comments(value.comments)
    line("\(ProtoText.safe(value.name)) = \(value.number)\(brackets(value.options));")
  }

  // MARK: Services

  mutating func service(_ service: ServiceDeclaration) {
    comments(service.comments)
    block("service \(ProtoText.safe(service.name))") { printer in
      printer.statements(service.options)
      for method in service.methods { printer.method(method) }
    }
  }

  mutating func method(_ method: ServiceDeclaration.Method) {
    comments(method.comments)
    let input = (method.clientStreaming ? "stream " : "") + scope.type(method.input)
    let output = (method.serverStreaming ? "stream " : "") + scope.type(method.output)
    let head = "rpc \(ProtoText.safe(method.name))(\(input)) returns (\(output))"
    guard method.hasBody else { return line("\(head);") }
    block(head) { $0.statements(method.options) }
  }
}
