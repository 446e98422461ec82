extension Message {
  /// The value at a path; if it is not set, the default of a field without presence, otherwise nil, as for an index that is
  /// out of range.
  ///
  /// Lists and maps have no `Value`: name an element, or use ``json(at:options:)`` for the whole.
  ///
  /// - Parameter path: The path to the field.
  /// - Throws: ``FieldPathError`` if the type has no such field.
  public func value(at path: FieldPath) throws(FieldPathError) -> Value? {
    guard let match = try match(at: path) else { return nil }
    return try Self.value(match, path)
  }

  /// The values at a path with `[]`, in the order of the list, or of the keys of the map; nil for each one that
  /// ``value(at:)`` does not find.
  ///
  /// - Parameter path: The path to the field.
  /// - Throws: ``FieldPathError`` if the type has no such field, or a value is a list or a map.
  package func values(at path: FieldPath) throws(FieldPathError) -> [Value?] {
    var values: [Value?] = []
    for match in try path.matches(in: self) {
      values.append(try match.map { (match) throws(FieldPathError) in try Self.value(match, path) })
    }
    return values
  }

  private static func value(_ match: FieldPath.Match, _ path: FieldPath) throws(FieldPathError) -> Value {
    guard let value = match.value else { throw .needsSubscript(field: match.field?.pathName ?? "\(path)") }
    return value
  }

  /// Whether the value at a path is set: a field with presence is set, one without is not zero, a list or map
  /// is not empty, an element exists. With `[]`, whether one of the values is.
  ///
  /// - Parameter path: The path to the field.
  /// - Throws: ``FieldPathError`` if the type has no such field.
  public func has(_ path: FieldPath) throws(FieldPathError) -> Bool {
    try path.matches(in: self).contains { $0?.isSet == true }
  }

  /// The number of elements of the list or map at a path.
  ///
  /// - Parameter path: The path to the list, the map or the text.
  /// - Throws: ``FieldPathError`` if the type has no such field, or its values have no length.
  public func length(_ path: FieldPath) throws(FieldPathError) -> Int {
    // A list that the message lacks is empty.
    guard let match = try match(at: path) else { return 0 }
    switch match.stored {
    case .list(let values): return values.count
    case .map(let entries): return entries.count
    case .none, .single: throw .notAList(field: path.description)
    }
  }

  /// The value at a path as JSON; `null` if it is not set. With `[]`, the array of the values.
  ///
  /// - Parameters:
  ///   - path: The path to the field.
  ///   - options: The form of the text.
  /// - Throws: ``FieldPathError`` if the type has no such field, or JSON has no form for its value.
  public func json(
    at path: FieldPath, options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(FieldPathError) -> [UInt8] {
    var out: [UInt8] = []
    for match in try path.matches(in: self) {
      if !out.isEmpty { out.append(UInt8(ascii: ",")) }
      do throws(DecodeError) {
        out += try match?.json(options) ?? Array("null".utf8)
      } catch {
        throw .encoding(error)
      }
    }
    return path.hasEach ? [UInt8(ascii: "[")] + out + [UInt8(ascii: "]")] : out
  }

  /// The keys of the map at a path, in ascending order.
  ///
  /// - Parameter path: The path to the map.
  /// - Throws: ``FieldPathError`` if the type has no such map.
  public func mapKeys(at path: FieldPath) throws(FieldPathError) -> [Value] {
    let field = try type.field(at: path).node
    guard let kind = field.mapKey?.kind else { throw .wrongType(field: field.pathName, expected: "a map") }
    guard case .map(let entries)? = try match(at: path)?.stored else { return [] }
    return entries.keys.sorted().map { $0.value(kind: kind) }
  }
}
