extension MessageType {
  /// The field of the value at a path, set or not; for a map's entry the field of its value.
  public func field(at path: FieldPath) throws(FieldPathError) -> Field {
    var type = node
    var described: FieldNode?
    for step in path.steps {
      if case .subscripted = step {
        guard let field = described, field.isRepeated else {
          throw .notIndexable(field: described?.pathName ?? "")
        }
        described = field.mapValue ?? field
      } else {
        if let field = described {
          // The message of an entry is not a part of the API.
          guard !field.isMap else { throw .needsSubscript(field: field.pathName) }
          guard let nested = field.messageType else { throw .notAMessage(field: field.pathName) }
          type = nested
        }
        described = try FieldPlace.field(step, of: MessageStorage(type))
      }
    }
    guard let described else { throw .syntax(offset: 0, expected: "a field name") }
    return Field(described, pool)
  }
}

extension Message {
  /// The keys of the map at a path, in ascending order.
  public func mapKeys(at path: FieldPath) throws(FieldPathError) -> [Value] {
    let field = try type.field(at: path).node
    guard let kind = field.mapKey?.kind else { throw .wrongType(field: field.pathName, expected: "a map") }
    guard let place = try FieldPlace(of: path, in: self), case .field(_, .map(let entries)) = place.target
    else { return [] }
    return entries.keys.sorted().map { $0.value(kind: kind) }
  }

  /// The field of a oneof in this message that is set; `nil` if none is.
  ///
  /// - Throws: ``FieldPathError`` if the type has no oneof with this name.
  public func setField(ofOneof name: String) throws(FieldPathError) -> Field? {
    let names: [String]
    do throws(SchemaError) {
      names = try type.oneofNames()
    } catch {
      throw .schema(error)
    }
    guard let index = names.firstIndex(of: name) else {
      throw .unknownField(name: name, type: type.name, nearest: EditDistance.nearest(to: name, among: names))
    }
    return setFields.first { $0.oneofIndex == index }
  }
}

extension MessageType {
  /// Finds a method in the schema of this type.
  package func schemaMethod(service: String, method: String) throws(SchemaError) -> MethodDescriptor? {
    try pool.service(named: service)?.method(named: method)
  }

  /// Finds a service in the schema of this type, by its full name.
  package func schemaService(named name: String) throws(SchemaError) -> ServiceDescriptor? {
    try pool.service(named: name)
  }

  /// Finds an enum in the schema of this type, by its full name.
  package func schemaEnum(named name: String) throws(SchemaError) -> EnumType? {
    try pool.enumType(named: name).map { EnumType($0, pool) }
  }
}
