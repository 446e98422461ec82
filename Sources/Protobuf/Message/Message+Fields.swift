import RPCurlBase

extension Message {
  /// The field of a oneof in this message that is set; `nil` if none is.
  ///
  /// - Parameter name: The name of the oneof.
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
    try pool.method(named: method, of: service)
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
