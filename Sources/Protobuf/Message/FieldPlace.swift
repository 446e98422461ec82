/// The value at a path in a message.
struct FieldPlace {
  enum Target {
    /// A field and its stored value.
    case field(FieldNode, FieldStorage)
    /// An element of a list or the value of a map's entry, with its field; nil if it is absent.
    case element(FieldNode, Value?)
  }

  let target: Target

  /// Nil if a message in the path is not set.
  ///
  /// - Parameter lenient: Whether an index beyond the end of a list is no error.
  init?(of path: FieldPath, in message: Message, lenient: Bool = false) throws(FieldPathError) {
    var storage: MessageStorage? = message.storage
    var type = message.storage.type
    var steps = path.steps[...]
    while let step = steps.popFirst() {
      let field = try FieldPlace.field(step, of: storage ?? MessageStorage(type))
      var target = Target.field(field, storage?[field] ?? .none)
      var description = field
      if case .subscripted(let key)? = steps.first {
        steps.removeFirst()
        (target, description) = try FieldPlace.element(
          key, of: field, storage?[field] ?? .none, lenient: lenient)
      } else if !steps.isEmpty, field.isRepeated {
        throw .needsSubscript(field: field.pathName)
      }
      guard let next = steps.first else {
        if storage == nil, description !== field || !field.isRepeated { return nil }
        self.target = target
        return
      }
      if case .subscripted = next { throw .notIndexable(field: field.pathName) }
      guard let nestedType = description.messageType else { throw .notAMessage(field: field.pathName) }
      type = nestedType
      switch target {
      case .field(_, .single(.message(let nested))), .element(_, .message(let nested)?):
        storage = nested.storage
      default: storage = nil
      }
    }
    return nil
  }

  private static func element(
    _ key: FieldPath.Subscript, of field: FieldNode, _ stored: FieldStorage, lenient: Bool
  ) throws(FieldPathError) -> (Target, FieldNode) {
    guard field.isRepeated else { throw .notIndexable(field: field.pathName) }
    if let valueField = field.mapValue {
      guard let mapKey = mapKey(key, of: field) else {
        throw .wrongKeyType(field: field.pathName, expected: field.mapKey?.kind.protoName ?? "")
      }
      guard case .map(let entries) = stored else { return (.element(valueField, nil), valueField) }
      return (.element(valueField, entries[mapKey]), valueField)
    }
    guard case .integer(let index) = key else {
      throw .wrongKeyType(field: field.pathName, expected: "a number")
    }
    var values: [Value] = []
    if case .list(let list) = stored { values = list }
    if index >= 0, index < values.count { return (.element(field, values[Int(index)]), field) }
    guard lenient else { throw .indexOutOfRange(field: field.pathName, index: index, count: values.count) }
    return (.element(field, nil), field)
  }

  /// The field of a step.
  static func field(_ step: FieldPath.Step, of storage: MessageStorage) throws(FieldPathError) -> FieldNode {
    switch step {
    case .field(var name):
      if let field = name.withUTF8({ storage.table.field(named: UnsafeRawBufferPointer($0)) }) {
        return field
      }
      throw .unknownField(
        name: name, type: storage.type.name,
        nearest: EditDistance.nearest(to: name, among: storage.table.fields.map(\.name)))
    case .extension(let name):
      let pool = storage.type.pool
      let found: FieldNode?
      do throws(SchemaError) {
        found = try pool.extensionField(named: name)
        if let found, try pool.extensionField(of: storage.type.name, number: found.number) === found {
          return found
        }
      } catch {
        throw .schema(error)
      }
      throw .unknownField(name: "(\(name))", type: storage.type.name, nearest: [])
    case .subscripted: throw .syntax(offset: 0, expected: "a field name")
    }
  }

  /// A map's key from a subscript; nil if its type is wrong.
  static func mapKey(_ key: FieldPath.Subscript, of field: FieldNode) -> MapKey? {
    guard let keyField = field.mapKey else { return nil }
    let value: Value =
      switch key {
      case .integer(let value): .int64(value)
      case .unsigned(let value): .uint64(value)
      case .string(let value): .string(value)
      case .bool(let value): .bool(value)
      }
    return value.converted(to: keyField).flatMap { MapKey($0) }
  }
}

extension FieldNode {
  /// The type of its values, for error messages.
  var typeDescription: String {
    let name = messageType?.name ?? enumType?.name ?? kind.protoName
    return isMap ? "a map" : name
  }
}
