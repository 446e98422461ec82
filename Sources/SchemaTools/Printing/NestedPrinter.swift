import RPCurlProtobuf

/// Writes fields, extensions and messages of one scope in an order that reproduces the descriptor.
///
/// Maps and groups declare messages, which have a place among the others. So a message that follows such a
/// one in the descriptor is written after its field, and before the next such field. Otherwise fields are
/// first.
struct NestedPrinter {
  /// A field, or a oneof with all its fields.
  private struct Unit {
    var oneof: Int?
    var fields: [FieldDeclaration]
  }

  private let message: MessageDeclaration?
  private let messages: [MessageDeclaration]
  private var units: ArraySlice<Unit> = []
  /// Consecutive extensions of one message.
  private var extensions: ArraySlice<Unit> = []
  private let generated: Set<String>
  /// The places at which fields declare messages.
  private let places: (units: [String: Int], extensions: [String: Int])

  init(_ message: MessageDeclaration) {
    self.init(
      fields: message.fields, extensions: message.extensions, messages: message.messages, message: message)
  }

  init(
    fields: [FieldDeclaration], extensions: [FieldDeclaration], messages: [MessageDeclaration],
    message: MessageDeclaration? = nil
  ) {
    self.message = message
    self.messages = messages
    let groups = (fields + extensions).filter { $0.kind == .group }.map(\.typeName)
    let declared = Set(groups + messages.filter(\.isMapEntry).map(\.fullName))
    generated = declared.intersection(messages.map(\.fullName))
    var oneofs: [Int: Int] = [:]
    for field in fields {
      guard let oneof = field.oneofIndex, !field.isProto3Optional else {
        units.append(Unit(oneof: nil, fields: [field]))
        continue
      }
      if let known = oneofs[oneof] {
        units[known].fields.append(field)
      } else {
        oneofs[oneof] = units.endIndex
        units.append(Unit(oneof: oneof, fields: [field]))
      }
    }
    for field in extensions {
      if let last = self.extensions.last?.fields.last, last.extendee == field.extendee,
        !generated.contains(last.typeName)
      {
        self.extensions[self.extensions.endIndex - 1].fields.append(field)
      } else {
        self.extensions.append(Unit(oneof: nil, fields: [field]))
      }
    }
    self.places = (Self.places(of: generated, units), Self.places(of: generated, self.extensions))
  }

  mutating func print(with printer: inout ProtoPrinter) {
    for nested in messages {
      printPlainFields(with: &printer)
      guard generated.contains(nested.fullName) else {
        printer.separated { $0.message(nested) }
        continue
      }
      if let index = places.units[nested.fullName] {
        while units.startIndex <= index, !units.isEmpty { print(units.removeFirst(), with: &printer) }
      } else if let index = places.extensions[nested.fullName] {
        while extensions.startIndex <= index, !extensions.isEmpty { printExtension(with: &printer) }
      }
    }
    while !units.isEmpty { print(units.removeFirst(), with: &printer) }
    while !extensions.isEmpty { printExtension(with: &printer) }
  }

  private static func places(of generated: Set<String>, _ units: ArraySlice<Unit>) -> [String: Int] {
    var places: [String: Int] = [:]
    for index in units.indices {
      for field in units[index].fields where generated.contains(field.typeName) {
        if places[field.typeName] == nil { places[field.typeName] = index }
      }
    }
    return places
  }

  /// Fields that declare no message can be anywhere, so they are first.
  private mutating func printPlainFields(with printer: inout ProtoPrinter) {
    while let unit = units.first, !unit.fields.contains(where: { generated.contains($0.typeName) }) {
      print(units.removeFirst(), with: &printer)
    }
  }

  private func print(_ unit: Unit, with printer: inout ProtoPrinter) {
    if let oneof = unit.oneof, let message, message.oneofs.indices.contains(oneof) {
      printer.oneof(message.oneofs[oneof], unit.fields)
    } else {
      for field in unit.fields { printer.field(field) }
    }
  }

  private mutating func printExtension(with printer: inout ProtoPrinter) {
    let unit = extensions.removeFirst()
    printer.separated { $0.extend(unit.fields) }
  }
}
