import RPCurlBase

extension FieldPath {
  /// What a path leads to in messages of a type.
  package enum Leaf: Sendable {
    /// A message: the whole one, or the content of an Any.
    case message(MessageType)
    /// A field.
    ///
    /// - Parameters:
    ///   - of: The message type of the field; for a value of a map, that of the map's entries.
    ///   - isElement: Whether it is an element of the list, not all of it.
    case field(Field, of: MessageType, isElement: Bool)
    /// The content of an Any or a Value, which only the message has.
    case dynamic

    /// Whether both are of one type.
    package func isSame(as other: Leaf) -> Bool {
      switch (self, other) {
      case (.message(let one), .message(let other)): one.name == other.name
      case (.field(let one, let type, let isElement), .field(let other, let otherType, let isOtherElement)):
        one.fullName == other.fullName && type.name == otherType.name && isElement == isOtherElement
      default: false
      }
    }
  }

  /// The kinds of values that are printed in different ways.
  package enum Kind: Sendable {
    case list, bytes, string, other
    /// The content of an Any, a Struct or a Value, which only the message has.
    case dynamic
  }

  /// What the path leads to.
  ///
  /// - Throws: ``FieldPathError`` if messages of the type have no such field.
  package func leaf(in type: MessageType) throws(FieldPathError) -> Leaf {
    try Self.leaf(type.node, steps[...])
  }

  /// The kind of the values that the path leads to.
  ///
  /// - Throws: ``FieldPathError`` if messages of the type have no such field.
  package func kind(in type: MessageType) throws(FieldPathError) -> Kind {
    guard case .field(let field, _, let isElement) = try leaf(in: type) else { return .dynamic }
    if field.isRepeated, !isElement { return field.isMap ? .other : .list }
    switch field.kind {
    case .bytes: return .bytes
    case .string: return .string
    default: return field.messageType == nil ? .other : .dynamic
    }
  }

  /// Throws if the type is a Struct or a Value, where names are keys, and the first name is not that of a field or a oneof.
  package func requireField(in type: MessageType) throws(FieldPathError) {
    guard case .field(let name)? = steps.first, let table = try? type.node.table(),
      table.wellKnown == .structure || table.wellKnown == .value,
      !table.oneofs.contains(where: { $0.name == name })
    else { return }
    _ = try Self.field(steps.first, of: type.node, table)
  }

  /// The type of the messages that the path leads to; nil for other values, and for lists and maps.
  ///
  /// - Throws: ``FieldPathError`` if messages of the type have no such field.
  package func messageType(in type: MessageType) throws(FieldPathError) -> MessageType? {
    switch try leaf(in: type) {
    case .message(let type): type
    case .field(let field, _, let isElement): field.isRepeated && !isElement ? nil : field.messageType
    case .dynamic: nil
    }
  }

  static func leaf(_ type: MessageNode, _ steps: ArraySlice<Step>) throws(FieldPathError) -> Leaf {
    guard let first = steps.first else { return .message(MessageType(type)) }
    let table = MessageStorage(type).table
    if table.wellKnown == .any, !isTypeURL(first) {
      guard let content = try contentType(first, type, table) else { return .dynamic }
      return try leaf(content, steps.dropFirst())
    }
    if table.wellKnown == .value, first == .each { return .dynamic }
    let steps = inFields(steps, table)
    return try leaf(type, field(steps.first, of: type, table), steps.dropFirst(), isElement: false)
  }

  /// The way of the rest of a path after a field.
  static func leaf(
    _ type: MessageNode, _ field: FieldNode, _ steps: ArraySlice<Step>, isElement: Bool
  ) throws(FieldPathError) -> Leaf {
    guard let step = steps.first else {
      return .field(Field(field, type.pool), of: MessageType(type), isElement: isElement)
    }
    guard field.isRepeated, !isElement else {
      guard let nested = field.messageType else { throw notAMessage(field, step) }
      return try leaf(nested, steps)
    }
    try check(step, of: field)
    guard let value = field.mapValue, let entry = field.messageType else {
      return try leaf(type, field, steps.dropFirst(), isElement: true)
    }
    if value.messageType == nil, case .field(let name)? = steps.first,
      case .field(let rest)? = steps.dropFirst().first
    {
      throw needsSubscript(field, "\(name).\(rest)")
    }
    return try leaf(entry, value, steps.dropFirst(), isElement: false)
  }
}

// The rules of a single step, which are the same for types, for reading and for writing.
extension FieldPath {
  /// The rest of a path in terms of the fields of a Struct, a Value or a ListValue, whose JSON form is an object, a value or
  /// an array: `a` in a Struct is `fields["a"]`. Names of their fields come first.
  static func inFields(_ steps: ArraySlice<Step>, _ table: MessageTable) -> ArraySlice<Step> {
    guard let kind = table.wellKnown, let first = steps.first else { return steps }
    if case .field(let name) = first, table.field(named: name) != nil { return steps }
    switch (kind, first) {
    case (.structure, .field), (.structure, .subscripted), (.structure, .each):
      return [.field("fields")] + steps
    case (.value, .field), (.value, .subscripted(.string)): return [.field("struct_value")] + steps
    case (.value, .subscripted), (.value, .each): return [.field("list_value")] + steps
    case (.listValue, .subscripted), (.listValue, .each): return [.field("values")] + steps
    default: return steps
    }
  }

  /// The field of a step in messages of a type.
  static func field(
    _ step: Step?, of type: MessageNode, _ table: MessageTable
  ) throws(FieldPathError) -> FieldNode {
    switch step {
    case .field(let name):
      if let field = table.field(named: table.wellKnown == .any && name == "@type" ? "type_url" : name) {
        return field
      }
      throw .unknownField(
        name: name, type: type.name, nearest: EditDistance.nearest(to: name, among: table.fields.map(\.name)))
    case .extension(let name):
      do throws(SchemaError) {
        if let found = try type.pool.extensionField(named: name),
          try type.pool.extensionField(of: type.name, number: found.number) === found
        {
          return found
        }
      } catch {
        throw .schema(error)
      }
      throw .unknownField(name: "[\(name)]", type: type.name, nearest: [])
    case .any: throw .notAnAny(type: type.name)
    case .subscripted(.string(let name)) where table.wellKnown == .any:
      throw .unknownField(name: "[\(JSONValue.quoted(name))]", type: type.name, nearest: [])
    case .subscripted, .each: throw .notIndexable(field: type.name)
    case nil: throw .syntax(offset: 0, expected: "a field name")
    }
  }

  /// Whether a step of an Any is its type URL; other names are fields of its content.
  static func isTypeURL(_ step: Step) -> Bool {
    guard case .field(let name) = step else { return false }
    return ["@type", "type_url", "typeUrl"].contains(name)
  }

  /// The type that a step of an Any names; nil for a field of its content, whose type only a message has.
  static func contentType(
    _ step: Step, _ any: MessageNode, _ table: MessageTable
  ) throws(FieldPathError) -> MessageNode? {
    switch step {
    case .any(let url): return try contentType(url, any)
    case .field: return nil
    case .extension(let name) where (try? any.pool.extensionField(named: name)) ?? nil != nil: return nil
    case .extension, .subscripted, .each:
      _ = try field(step, of: any, table)
      return nil
    }
  }

  /// The type with this URL in the schema of another.
  static func contentType(_ url: String, _ other: MessageNode) throws(FieldPathError) -> MessageNode {
    let name = AnyOutline.typeName(url)
    do throws(SchemaError) {
      if let type = try other.pool.messageType(named: name) { return type }
    } catch {
      throw .schema(error)
    }
    throw .json(MessageParseError(other.pool.unknownType(name), format: .json))
  }

  /// Throws unless a step can follow a list or a map.
  static func check(_ step: Step, of field: FieldNode) throws(FieldPathError) {
    switch step {
    case .each: return
    case .subscripted where field.isMap, .field where field.mapKey?.kind == .string:
      _ = try mapKey(step, of: field)
    case .subscripted(.integer): return
    case .subscripted: throw .wrongKeyType(field: field.pathName, expected: "a number")
    case .field(let name), .extension(let name): throw needsSubscript(field, name)
    case .any: throw needsSubscript(field)
    }
  }

  /// The key of a map that a step names.
  static func mapKey(_ step: Step, of field: FieldNode) throws(FieldPathError) -> MapKey {
    guard let keyField = field.mapKey else { throw .notIndexable(field: field.pathName) }
    let value: Value? =
      switch step {
      case .field(let name) where keyField.kind == .string: .string(name)
      case .subscripted(.integer(let value)): .int64(value)
      case .subscripted(.unsigned(let value)): .uint64(value)
      case .subscripted(.string(let value)): .string(value)
      case .subscripted(.bool(let value)): .bool(value)
      default: nil
      }
    guard let value else { throw needsSubscript(field) }
    guard let key = value.converted(to: keyField).flatMap({ MapKey($0) }) else {
      throw .wrongKeyType(field: field.pathName, expected: keyField.kind.protoName)
    }
    return key
  }

  /// The position of an index in a list; nil if it is out of range. A negative index counts from the end.
  static func position(_ index: Int64, count: Int) -> Int? {
    guard let position = Int(exactly: index < 0 ? index + Int64(count) : index),
      (0..<count).contains(position)
    else { return nil }
    return position
  }

  /// The error that shows how an element is written.
  ///
  /// - Parameter name: What is in the place of the subscript.
  static func needsSubscript(_ field: FieldNode, _ name: String = "") -> FieldPathError {
    let key = field.mapKey.map { exampleKey($0.kind.protoName, name) } ?? "[0]"
    return .needsSubscript(field: field.pathName, example: key)
  }

  /// A key of a map in brackets.
  ///
  /// - Parameters:
  ///   - type: The type of keys.
  ///   - name: What it may be.
  static func exampleKey(_ type: String, _ name: String = "") -> String {
    switch type {
    case "string": "[\(JSONValue.quoted(name.isEmpty ? "key" : name))]"
    case "bool": name == "false" ? "[false]" : "[true]"
    default: Int64(name).map { "[\($0)]" } ?? "[0]"
    }
  }

  static func notAMessage(_ field: FieldNode, _ step: Step) -> FieldPathError {
    switch step {
    case .each, .subscripted: .notIndexable(field: field.pathName)
    case .field, .extension, .any: .notAMessage(field: field.pathName)
    }
  }
}

extension MessageTable {
  /// Finds a field by its original or its JSON name.
  func field(named name: String) -> FieldNode? {
    // The original name takes precedence over the JSON name of another field.
    if let field = field(otherTextName: name), field.name.hasBytes(of: name) { return field }
    var name = name
    return name.withUTF8 { field(named: UnsafeRawBufferPointer($0)) }
  }
}

extension MessageType {
  /// The field of the value at a path, set or not; for a map's entry the field of its value.
  ///
  /// - Parameter path: The path to the field.
  /// - Throws: ``FieldPathError`` if the type has no such field.
  public func field(at path: FieldPath) throws(FieldPathError) -> Field {
    switch try path.leaf(in: self) {
    case .field(let field, _, _): return field
    case .message: throw .syntax(offset: path.description.utf8.count, expected: "a field name")
    case .dynamic: throw .unknownField(name: "\(path)", type: "google.protobuf.Any", nearest: [])
    }
  }
}

extension FieldNode {
  /// The type of its values, for error messages.
  var typeDescription: String {
    let name = messageType?.name ?? enumType?.name ?? kind.protoName
    return isMap ? "a map" : name
  }
}
