import RPCurlProtobuf

@testable import RPCurlSchemaTools

/// Serialized descriptors, made of the fields of `descriptor.proto`.
enum Descriptors {
  // MARK: Wire format

  private static func varint(_ value: UInt64) -> [UInt8] {
    var (bytes, rest): ([UInt8], UInt64) = ([], value)
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  /// A field with an integer, an enum or a Bool.
  static func number(_ number: UInt64, _ value: UInt64) -> [UInt8] { varint(number << 3) + varint(value) }

  /// A field with bytes or a message.
  static func bytes(_ number: UInt64, _ value: [UInt8]) -> [UInt8] {
    varint(number << 3 | 2) + varint(UInt64(value.count)) + value
  }

  /// A field with a string.
  static func text(_ number: UInt64, _ value: String) -> [UInt8] { bytes(number, Array(value.utf8)) }

  // MARK: Descriptors

  /// A set of files.
  static func set(_ files: [UInt8]...) -> [UInt8] { files.flatMap { bytes(1, $0) } }

  /// A file; `content` has its declarations and options.
  static func file(
    _ content: [UInt8]..., name: String = "a.proto", package: String = "p", syntax: String = "proto3"
  ) -> [UInt8] {
    var file = text(1, name) + text(2, package) + content.flatMap { $0 }
    if syntax == "edition" {
      file += text(12, "editions") + number(14, 1000)
    } else {
      file += text(12, syntax)
    }
    return file
  }

  /// A message of a file; `content` has its members and options.
  static func message(_ name: String, _ content: [UInt8]...) -> [UInt8] {
    bytes(4, text(1, name) + content.flatMap { $0 })
  }

  /// A message in a message.
  static func nested(_ name: String, _ content: [UInt8]...) -> [UInt8] {
    bytes(3, text(1, name) + content.flatMap { $0 })
  }

  /// A field of a message; `content` has further members, such as the type's name.
  static func field(
    _ name: String, _ number: UInt64, _ kind: FieldKind, label: UInt64 = 1, _ content: [UInt8]...
  ) -> [UInt8] {
    bytes(2, fieldContent(name, number, kind, label) + content.flatMap { $0 })
  }

  /// An extension of a file.
  static func extensionField(
    _ name: String, _ number: UInt64, _ kind: FieldKind, of extendee: String, _ content: [UInt8]...
  ) -> [UInt8] {
    bytes(7, fieldContent(name, number, kind, 1) + text(2, ".\(extendee)") + content.flatMap { $0 })
  }

  private static func fieldContent(_ name: String, _ number: UInt64, _ kind: FieldKind, _ label: UInt64)
    -> [UInt8]
  {
    text(1, name) + self.number(3, number) + self.number(4, label) + self.number(5, UInt64(kind.rawValue))
  }

  /// The name of a field's type.
  static func type(_ name: String) -> [UInt8] { text(6, ".\(name)") }

  /// An enum of a file; `content` has its values and options.
  static func enumeration(_ name: String, _ content: [UInt8]...) -> [UInt8] {
    bytes(5, text(1, name) + content.flatMap { $0 })
  }

  /// A value of an enum.
  static func value(_ name: String, _ number: UInt64) -> [UInt8] {
    bytes(2, text(1, name) + self.number(2, number))
  }

  /// A range of numbers in field `number`, such as those that are reserved; `end` is part of it in enums only.
  static func range(_ number: UInt64, _ start: UInt64, _ end: UInt64) -> [UInt8] {
    bytes(number, self.number(1, start) + self.number(2, end))
  }

  /// A service of a file.
  static func service(_ name: String, _ methods: [UInt8]...) -> [UInt8] {
    bytes(6, text(1, name) + methods.flatMap { $0 })
  }

  /// A method of a service.
  static func method(_ name: String, _ input: String, _ output: String, _ content: [UInt8]...) -> [UInt8] {
    bytes(2, text(1, name) + text(2, ".\(input)") + text(3, ".\(output)") + content.flatMap { $0 })
  }

  // MARK: Comparison

  /// A schema of one set.
  static func pool(_ set: [UInt8]) throws -> DescriptorPool {
    let pool = DescriptorPool()
    try pool.add(SchemaBytes(set), source: "set")
    return pool
  }

  /// The rules except those of FILE only, which the removal of any declaration breaks, too.
  static let rules = Set(Rule.allCases.filter { $0.categories != [.file] })

  /// The differences by all rules except those of FILE only.
  static func findings(
    _ old: [UInt8], _ new: [UInt8], _ rules: Set<Rule> = rules
  ) throws -> [SchemaFinding] {
    try SchemaComparison.findings(from: pool(old), to: pool(new), rules: rules)
  }

  /// The names of the broken rules.
  static func rules(_ old: [UInt8], _ new: [UInt8]) throws -> Set<Rule> {
    Set(try findings(old, new).compactMap(\.rule))
  }
}
