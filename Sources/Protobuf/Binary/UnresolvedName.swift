/// A name that a message uses and that its schema lacks.
package enum UnresolvedName: Hashable, Sendable {
  /// The full name of a type or of an extension.
  case symbol(String)
  /// The extension of a type with this number.
  case extensionNumber(of: String, number: UInt32)
}

extension MessageType {
  /// Whether messages of the type can use names that the schema lacks: whether a type that it reaches is `Any`, or has
  /// extension ranges. Assumed for types with very many fields.
  package var mayLackNames: Bool {
    var seen: Set<String> = [name]
    var rest = [self]
    while let next = rest.popLast() {
      guard next.name != "google.protobuf.Any", seen.count < 500 else { return true }
      guard let table = try? next.node.table() else { continue }
      if !table.extensionRanges.isEmpty { return true }
      for field in table.fields {
        guard let inner = field.isMap ? field.mapValue?.messageType : field.messageType else { continue }
        if seen.insert(inner.name).inserted { rest.append(MessageType(inner)) }
      }
    }
    return false
  }

  /// The names that a serialized message uses and that the schema lacks: of types in an `Any`, and of numbers in extension
  /// ranges. Of invalid bytes, those before the error.
  ///
  /// - Parameters:
  ///   - serialized: The bytes of the message.
  ///   - limit: The largest number of names.
  ///   - isWanted: Whether a name is part of the result.
  package func unresolvedNames(
    in serialized: RawSpan, limit: Int, where isWanted: @escaping (UnresolvedName) -> Bool
  ) -> [UnresolvedName] {
    // Not `withoutActuallyEscaping`, which puts the length of the path of this file into the program.
    var search = UnresolvedNameSearch(limit: limit, isWanted: isWanted)
    serialized.withUnsafeBytes { bytes in
      try? search.message(pointerToPlan(), WireReader(bytes), depth: 0)
    }
    return search.names
  }
}

extension UnresolvedName {
  /// The names in a message in JSON that a schema may lack: types of `@type`, and extensions. Empty for invalid text.
  package static func all(inJSON text: [UInt8]) -> [UnresolvedName] {
    guard let value = try? JSONValue(parsing: text) else { return [] }
    var names: [UnresolvedName] = []
    add(value, to: &names)
    return names
  }

  /// The names in a message in text format, or in paths, that a schema may lack: types of an `Any`, and extensions, as in
  /// `[pkg.name].field`. What else is in brackets without quotes may be among them.
  package static func all(inBracketsOf text: String) -> [UnresolvedName] {
    text.split(separator: "[", omittingEmptySubsequences: false).dropFirst().compactMap { rest in
      guard let end = rest.firstIndex(of: "]"), rest[..<end].contains("."), !rest[..<end].contains("\"")
      else {
        return nil
      }
      return .symbol(AnyOutline.typeName(String(rest[..<end])))
    }
  }

  private static func add(_ value: JSONValue, to names: inout [UnresolvedName]) {
    switch value {
    case .array(let elements): for element in elements { add(element, to: &names) }
    case .object(let members):
      for member in members {
        if member.name == "@type", case .string(let url) = member.value {
          names.append(.symbol(AnyOutline.typeName(url)))
        } else if let name = UnresolvedName(inBrackets: member.name) {
          names.append(name)
        }
        add(member.value, to: &names)
      }
    case .null, .bool, .number, .string: break
    }
  }

  /// The extension that the key of a field names: `[pkg.name]`. Nil for other keys.
  fileprivate init?(inBrackets key: String) {
    guard key.hasPrefix("["), key.hasSuffix("]") else { return nil }
    self = .symbol(String(key.dropFirst().dropLast()))
  }
}

extension MessageParseError {
  /// The name that the schema lacks, if that is the error and the server of a schema may have it.
  package var missingName: UnresolvedName? {
    switch reason {
    case .unknownAnyType(let name, _), .unknownExtension(let name, _): .symbol(name)
    case .unknownField(let name, _, _): UnresolvedName(inBrackets: name)
    default: nil
    }
  }
}

extension FieldPathError {
  /// The name that the schema lacks, if that is the error and the server of a schema may have it.
  package var missingName: UnresolvedName? {
    switch self {
    case .unknownField(let name, _, _): UnresolvedName(inBrackets: name)
    case .json(let error): error.missingName
    default: nil
    }
  }
}

/// Follows the fields of a serialized message to names that the schema lacks.
private struct UnresolvedNameSearch {
  let limit: Int
  let isWanted: (UnresolvedName) -> Bool
  var names: [UnresolvedName] = []

  private mutating func add(_ name: UnresolvedName) {
    if names.count < limit, !names.contains(name), isWanted(name) { names.append(name) }
  }

  mutating func message(_ plan: PlanPointer, _ reader: WireReader, depth: Int) throws(DecodeError) {
    guard depth <= nestingLimit else { throw reader.failure(.tooDeep) }
    if plan.pointee.wellKnown == .any { return try any(plan, reader, depth: depth) }
    var reader = reader
    while !reader.isAtEnd {
      let tag = try reader.tag()
      if plan.pointee.isMessageSet, tag == MessageSet.itemStart {
        try item(plan, reader.group(tag.number, depth: depth + 1), depth: depth)
      } else if let field = plan.pointee.field(tag.number) {
        try value(field, tag, &reader, depth: depth)
      } else if let field = try plan.pointee.extensionPlan(tag.number) {
        try value(field, tag, &reader, depth: depth)
      } else {
        addExtension(tag.number, of: plan)
        try reader.skip(tag, depth: depth)
      }
    }
  }

  private mutating func addExtension(_ number: UInt32, of plan: PlanPointer) {
    guard plan.pointee.table.mayExtend(number) else { return }
    add(.extensionNumber(of: plan.pointee.table.name, number: number))
  }

  /// Reads the value of a field; continues in a message.
  private mutating func value(
    _ field: FieldPointer, _ tag: Tag, _ reader: inout WireReader, depth: Int
  ) throws(DecodeError) {
    guard field.pointee.kind.isMessage, tag == field.pointee.elementTag else {
      return try reader.skip(tag, depth: depth)
    }
    let content =
      field.pointee.kind == .group
      ? try reader.group(tag.number, depth: depth + 1) : try reader.nested()
    guard field.pointee.isMap else {
      return try message(field.planOfMessage(), content, depth: depth + 1)
    }
    let (_, value) = field.partsOfMap()
    guard value.pointee.kind.isMessage else { return }
    var entry = content
    while !entry.isAtEnd {
      let tag = try entry.tag()
      if tag == value.pointee.elementTag {
        try self.value(value, tag, &entry, depth: depth + 1)
      } else {
        try entry.skip(tag, depth: depth + 1)
      }
    }
  }

  private mutating func item(
    _ plan: PlanPointer, _ group: WireReader, depth: Int
  ) throws(DecodeError) {
    guard let (number, content) = try MessageSet.item(group, depth: depth + 1) else { return }
    guard let field = try plan.pointee.extensionPlan(number) else { return addExtension(number, of: plan) }
    guard field.pointee.kind == .message, !field.pointee.isRepeated else { return }
    try message(field.planOfMessage(), content, depth: depth + 2)
  }

  private mutating func any(_ plan: PlanPointer, _ reader: WireReader, depth: Int) throws(DecodeError) {
    var reader = reader
    var url = ""
    var content: WireReader?
    while !reader.isAtEnd {
      switch try reader.tag() {
      case Tag(1, .lengthDelimited): url = String(decoding: try reader.lengthDelimited(), as: UTF8.self)
      case Tag(2, .lengthDelimited): content = try reader.nested()
      case let tag: try reader.skip(tag, depth: depth)
      }
    }
    let name = AnyOutline.typeName(url)
    let type = try? plan.pointee.type.takeUnretainedValue().pool.messageType(named: name)
    guard let type else { return add(.symbol(name)) }
    if let content { try message(type.pointerToPlan(), content, depth: depth + 1) }
  }
}
