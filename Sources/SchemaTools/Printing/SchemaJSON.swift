import RPCurlProtobuf

/// Declarations as JSON, for `--json` of the schema commands. Members without a value are omitted.
package enum SchemaJSON {
  /// The entry of a name in a list.
  package static func object(_ symbol: DescriptorPool.Symbol) -> JSONValue {
    .members([
      ("name", .string(symbol.name)), ("kind", .string(symbol.kind.rawValue)),
      ("file", symbol.file.isEmpty ? nil : .string(symbol.file)),
    ])
  }

  /// A file with all its declarations.
  package static func object(_ file: FileDeclaration, proto: String) -> JSONValue {
    let syntax =
      switch file.syntax {
      case .proto2: "proto2"
      case .proto3: "proto3"
      case .edition(let number): "edition \(ProtoPrinter.editionName(number))"
      }
    return .members([
      ("kind", .string("file")), ("name", .string(file.name)), ("syntax", .string(syntax)),
      ("package", .string(file.package)), ("comment", comment(file.comments)),
      ("imports", .strings(file.imports.map(\.name))), ("options", options(file.options)),
      ("services", .strings(file.services.map(\.fullName))),
      ("messages", .strings(file.messages.map(\.fullName))),
      ("enums", .strings(file.enums.map(\.fullName))),
      ("extensions", .strings(file.extensions.map(\.fullName))),
      ("proto", .string(proto)),
    ])
  }

  /// A declaration.
  package static func object(_ declaration: Declaration, of file: FileDeclaration, proto: String) -> JSONValue
  {
    let particular: [(String, JSONValue?)] =
      switch declaration {
      case .service(let service): [("methods", .array(service.methods.map { .members(members($0)) }))]
      case .method(let method, _): members(method)
      case .message(let message): members(message)
      case .field(let field, let message): members(field, of: message, entries(of: message))
      case .extensionField(let field): members(field, of: nil, [:])
      case .oneof(let oneof, let message): [("fields", fields(of: oneof, message))]
      case .enumeration(let type): members(type)
      case .enumValue(let value, let type):
        [("enum", .string(type.fullName)), ("number", .number("\(value.number)"))]
      }
    let own = Set(["name", "comment", "options"])
    return .members(
      [
        ("kind", .string(declaration.kind.rawValue)), ("name", .string(declaration.name)),
        ("file", .string(file.name)), ("comment", comment(declaration.comments)),
        ("options", options(declaration.options)),
      ] + particular.filter { !own.contains($0.0) } + [("proto", .string(proto))])
  }

  // MARK: Parts

  private static func comment(_ comments: Comments) -> JSONValue? {
    comments.summary.isEmpty ? nil : .string(comments.summary)
  }

  /// The options as ProtoJSON, with `[pkg.name]` for custom options.
  private static func options(_ options: DescriptorOptions) -> JSONValue? {
    guard let message = try? options.message(),
      let json = try? message.json(options: JSONEncodingOptions(protoNames: true))
    else { return nil }
    return try? JSONValue(parsing: json)
  }

  private static func members(_ method: ServiceDeclaration.Method) -> [(String, JSONValue?)] {
    [
      ("name", .string(method.path)), ("input", .string(method.input)), ("output", .string(method.output)),
      ("clientStreaming", .bool(method.clientStreaming)), ("serverStreaming", .bool(method.serverStreaming)),
      ("comment", comment(method.comments)), ("options", options(method.options)),
    ]
  }

  private static func members(_ message: MessageDeclaration) -> [(String, JSONValue?)] {
    [
      ("fields", fields(message.fields, of: message)),
      ("oneofs", .strings(message.writtenOneofs.map(\.name))),
      ("messages", .strings(message.messages.filter { !$0.isMapEntry }.map(\.fullName))),
      ("enums", .strings(message.enums.map(\.fullName))),
      ("extensions", .strings(message.extensions.map(\.fullName))),
      (
        "extensionRanges",
        .ranges(message.extensionRanges.map { ($0.numbers.lowerBound, $0.numbers.upperBound - 1) })
      ),
      ("reservedNumbers", .ranges(message.reservedNumbers.map { ($0.lowerBound, $0.upperBound - 1) })),
      ("reservedNames", .strings(message.reservedNames)),
    ]
  }

  private static func members(
    _ field: FieldDeclaration, of message: MessageDeclaration?, _ entries: [String: MessageDeclaration]
  ) -> [(String, JSONValue?)] {
    let entry = entries[field.typeName]
    let oneof =
      field.isProto3Optional
      ? nil
      : field.oneofIndex.flatMap { index in
        message.flatMap { $0.oneofs.indices.contains(index) ? $0.oneofs[index].name : nil }
      }
    let label =
      entry != nil
      ? "map" : field.label != .optional ? "\(field.label)" : field.isProto3Optional ? "optional" : nil
    return [
      ("name", .string(field.name)),
      ("jsonName", .string(field.effectiveJSONName)), ("number", .number("\(field.number)")),
      ("label", label.map { .string($0) }), ("type", .string(type(field))),
      ("key", entry?.fields.first.map { .string(type($0)) }),
      ("value", entry?.fields.last.map { .string(type($0)) }),
      ("oneof", oneof.map { .string($0) }), ("extends", field.extendee.map { .string($0) }),
      ("default", field.defaultText.map { .string($0) }), ("comment", comment(field.comments)),
      ("options", options(field.options)),
    ]
  }

  private static func type(_ field: FieldDeclaration) -> String {
    field.typeName.isEmpty ? field.kind.protoName : field.typeName
  }

  private static func fields(of oneof: MessageDeclaration.Oneof, _ message: MessageDeclaration) -> JSONValue {
    let index = message.oneofs.firstIndex { $0.name == oneof.name }
    return fields(message.fields.filter { $0.oneofIndex == index }, of: message)
  }

  private static func fields(_ fields: [FieldDeclaration], of message: MessageDeclaration) -> JSONValue {
    let entries = entries(of: message)
    return .array(fields.map { .members(members($0, of: message, entries)) })
  }

  /// The map entry messages of `message`, by full name.
  private static func entries(of message: MessageDeclaration?) -> [String: MessageDeclaration] {
    let entries = (message?.messages ?? []).filter(\.isMapEntry)
    return Dictionary(entries.map { ($0.fullName, $0) }) { first, _ in first }
  }

  private static func members(_ type: EnumDeclaration) -> [(String, JSONValue?)] {
    [
      (
        "values",
        .array(
          type.values.map { value in
            .members([
              ("name", .string(value.name)), ("number", .number("\(value.number)")),
              ("comment", comment(value.comments)), ("options", options(value.options)),
            ])
          })
      ),
      (
        "reservedNumbers",
        .ranges(type.reservedNumbers.map { (Int64($0.lowerBound), Int64($0.upperBound)) })
      ),
      ("reservedNames", .strings(type.reservedNames)),
    ]
  }
}

extension JSONValue {
  fileprivate static func members(_ members: [(String, JSONValue?)]) -> JSONValue {
    .object(members.compactMap { name, value in value.map { Member(name: name, value: $0) } })
  }

  /// An array of strings; nil if there are none.
  fileprivate static func strings(_ names: [String]) -> JSONValue? {
    names.isEmpty ? nil : .array(names.map { .string($0) })
  }

  /// An array of `[first, last]`; nil if there are none.
  fileprivate static func ranges(_ ranges: [(Int64, Int64)]) -> JSONValue? {
    ranges.isEmpty ? nil : .array(ranges.map { .array([.number("\($0.0)"), .number("\($0.1)")]) })
  }
}
