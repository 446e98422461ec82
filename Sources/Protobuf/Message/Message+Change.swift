extension Message {
  /// Sets a field, an element of a list, or an entry of a map. Creates missing messages in the path; `[]` appends an element
  /// to a list.
  ///
  /// - Parameters:
  ///   - value: The value, of the type of the field.
  ///   - path: The path to the field.
  /// - Throws: ``FieldPathError`` if the type has no such field, or the field cannot have the value.
  public mutating func set(_ value: Value, at path: FieldPath) throws(FieldPathError) {
    try Change.set(value).apply(to: &self, path.steps[...])
  }

  /// Replaces the value at a path (a field, a whole list or map, or an element) by the value of a JSON text;
  /// `null` clears it. Creates missing messages in the path; `[]` appends an element to a list.
  ///
  /// - Parameters:
  ///   - json: The JSON text, in UTF-8.
  ///   - path: The path to the field.
  ///   - options: What is accepted besides.
  /// - Throws: ``FieldPathError`` if the type has no such field, or the field cannot have the value.
  public mutating func setJSON(
    _ json: [UInt8], at path: FieldPath, options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(FieldPathError) {
    try Change.json(json, options).apply(to: &self, path.steps[...])
  }

  /// Appends an element to a list.
  ///
  /// - Parameters:
  ///   - value: The element.
  ///   - path: The path to the list.
  /// - Throws: ``FieldPathError`` if the type has no such list, or its elements cannot have the value.
  public mutating func append(_ value: Value, at path: FieldPath) throws(FieldPathError) {
    try set(value, at: endOfList(path))
  }

  /// Appends the element of a JSON text to a list.
  ///
  /// - Parameters:
  ///   - json: The JSON text, in UTF-8.
  ///   - path: The path to the list.
  ///   - options: What is accepted besides.
  /// - Throws: ``FieldPathError`` if the type has no such list, or its elements cannot have the value.
  public mutating func appendJSON(
    _ json: [UInt8], at path: FieldPath, options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(FieldPathError) {
    try setJSON(json, at: endOfList(path), options: options)
  }

  /// The path of a new element of the list at a path.
  private func endOfList(_ path: FieldPath) throws(FieldPathError) -> FieldPath {
    switch try path.leaf(in: type) {
    case .field(let field, _, false) where field.isRepeated && !field.isMap: return path.appending(.each)
    case .field(let field, _, _): throw .notAList(field: field.pathName)
    case .message, .dynamic: throw .notAList(field: "\(path)")
    }
  }

  /// Clears a field, or removes an element of a list or a map; with `[]`, each one.
  ///
  /// - Parameter path: The path to the field.
  /// - Throws: ``FieldPathError`` if the type has no such field.
  public mutating func clear(at path: FieldPath) throws(FieldPathError) {
    try forEachPlace(of: path) { (message, path) throws(FieldPathError) in
      if try message.has(path) { try Change.clear.apply(to: &message, path.steps[...]) }
    }
  }

  /// Replaces the value at a path by a copy of another one, or clears it if the other one is not set. Between fields of one
  /// type the copy is exact; otherwise the value is copied through its JSON form.
  ///
  /// - Parameters:
  ///   - source: The path to the value; without `[]`.
  ///   - target: The path to the copy.
  /// - Throws: ``FieldPathError`` if the type has no such field, or the field cannot have the value.
  package mutating func copyValue(
    at source: FieldPath, to target: FieldPath
  ) throws(FieldPathError) {
    let match = try match(at: source)
    if let match, match.isSet, let field = match.field,
      case .field(let other, _, let isElement) = try target.leaf(in: type),
      field.hasType(of: other.node), match.isWhole == (other.isRepeated && !isElement)
    {
      return try Change.stored(match.stored).apply(to: &self, target.steps[...])
    }
    let json = try json(at: source)
    // A google.protobuf.Value would be set to null by the JSON of a field that is not set.
    if match?.isSet != true, json == Array("null".utf8) {
      try clear(at: target)
    } else {
      try setJSON(json, at: target)
    }
  }

  /// Calls `body` with each place to which a path leads, which may change it. The last element of a list comes first, so that
  /// elements can be removed.
  ///
  /// The content of an Any is read once for all places in it, and written if it has changed.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - body: Receives a message, which is this one or the content of an Any, and a path in it that has no `[]`.
  /// - Throws: ``FieldPathError`` if the type has no such field, and the errors of `body`.
  package mutating func forEachPlace(
    of path: FieldPath, _ body: (inout Message, FieldPath) throws(FieldPathError) -> Void
  ) throws(FieldPathError) {
    guard let each = path.steps.firstIndex(of: .each) else { return try body(&self, path) }
    let head = path.steps[..<each]
    let rest = path.steps[(each + 1)...]
    if let any = head.lastIndex(where: \.isContent) {
      let place = FieldPath(steps: Array(head[...any]))
      guard case .message(let before)? = try value(at: place) else { return }
      var content = before
      try content.forEachPlace(of: FieldPath(steps: Array(path.steps[(any + 1)...])), body)
      if !content.isIdentical(to: before) { try set(.message(content), at: place) }
      return
    }
    for key in try subscripts(at: FieldPath(steps: Array(head))) {
      try forEachPlace(of: FieldPath(steps: Array(head) + [.subscripted(key)] + rest), body)
    }
  }
}

extension FieldPath.Step {
  /// Whether it leads to the content of an Any.
  fileprivate var isContent: Bool { if case .any = self { true } else { false } }
}

/// A change of the value at the end of a path.
///
/// A value is taken out of the content that contains it while it is changed, so that it has one reference and is changed
/// in place: a list is not copied for each new element. On an error it returns unchanged.
private enum Change {
  typealias Step = FieldPath.Step

  case set(Value)
  case json([UInt8], JSONDecodingOptions)
  /// A value of a field with the same type.
  case stored(FieldStorage)
  case clear

  /// Follows a path to its end, creating missing messages. An error leaves the message unchanged.
  func apply(to message: inout Message, _ steps: ArraySlice<Step>) throws(FieldPathError) {
    guard !steps.isEmpty else { return message = try whole(message.type) }
    let storage =
      isKnownUniquelyReferenced(&message.storage) ? message.storage : message.storage.copy()
    try apply(to: storage, FieldPath.inFields(steps, storage.table))
    message.storage = storage
  }

  private func apply(to storage: MessageStorage, _ steps: ArraySlice<Step>) throws(FieldPathError) {
    let rest = steps.dropFirst()
    if storage.table.wellKnown == .any, case .any(let url)? = steps.first {
      return try applyToAny(storage, url, rest)
    }
    let field = try FieldPath.field(steps.first, of: storage.type, storage.table)
    guard let next = rest.first else { return try replace(field, of: storage) }
    guard !field.isMap else { return try applyToEntry(storage, field, next, rest.dropFirst()) }
    guard !field.isRepeated else { return try applyToElement(storage, field, next, rest.dropFirst()) }
    guard let type = field.messageType else {
      throw next == .each ? .notAList(field: field.pathName) : FieldPath.notAMessage(field, next)
    }
    var stored = storage.take(field)
    defer { storage[field] = stored }
    if case .single(var value) = stored {
      stored = .none
      defer { stored = .single(value) }
      try apply(inside: &value, field, rest)
    } else {
      stored = .none
      stored = .single(try newMessage(type, rest))
    }
    storage.clearOthers(of: field)
  }

  /// Changes a message that is the value of a field, an element or an entry.
  private func apply(
    inside value: inout Value, _ field: FieldNode, _ steps: ArraySlice<Step>
  ) throws(FieldPathError) {
    guard case .message(var nested) = value else {
      throw steps.first.map { FieldPath.notAMessage(field, $0) } ?? .notAMessage(field: field.pathName)
    }
    value = .bool(false)
    defer { value = .message(nested) }
    try apply(to: &nested, steps)
  }

  /// A message that has only what the rest of the path sets.
  private func newMessage(_ type: MessageNode, _ steps: ArraySlice<Step>) throws(FieldPathError) -> Value {
    var message = Message(type)
    try apply(to: &message, steps)
    return .message(message)
  }

  private func applyToElement(
    _ storage: MessageStorage, _ field: FieldNode, _ step: Step, _ rest: ArraySlice<Step>
  ) throws(FieldPathError) {
    try FieldPath.check(step, of: field)
    var values: [Value] = if case .list(let values) = storage.take(field) { values } else { [] }
    defer { storage[field] = values.isEmpty ? .none : .list(values) }
    guard case .subscripted(.integer(let index)) = step else {
      if rest.isEmpty {
        if let value = try value(of: field, named: field.pathName, in: storage.type) { values.append(value) }
      } else if let type = field.messageType {
        values.append(try newMessage(type, rest))
      } else {
        throw rest.first.map { FieldPath.notAMessage(field, $0) } ?? .notAMessage(field: field.pathName)
      }
      return
    }
    guard let position = FieldPath.position(index, count: values.count) else {
      throw .indexOutOfRange(field: field.pathName, index: index, count: values.count)
    }
    if !rest.isEmpty {
      try apply(inside: &values[position], field, rest)
    } else if let value = try value(of: field, named: field.pathName, in: storage.type) {
      values[position] = value
    } else {
      values.remove(at: position)
    }
  }

  private func applyToEntry(
    _ storage: MessageStorage, _ field: FieldNode, _ step: Step, _ rest: ArraySlice<Step>
  ) throws(FieldPathError) {
    if step == .each { throw .notAList(field: field.pathName) }
    let key = try FieldPath.mapKey(step, of: field)
    guard let valueField = field.mapValue, let entry = field.messageType else { return }
    var entries: [MapKey: Value] = if case .map(let entries) = storage.take(field) { entries } else { [:] }
    defer { storage[field] = entries.isEmpty ? .none : .map(entries) }
    guard let next = rest.first else {
      entries[key] = try value(of: valueField, named: field.pathName, in: entry)
      return
    }
    guard let type = valueField.messageType else { throw FieldPath.notAMessage(field, next) }
    if let index = entries.index(forKey: key) {
      try apply(inside: &entries.values[index], valueField, rest)
    } else {
      entries[key] = try newMessage(type, rest)
    }
  }

  /// Changes the content of an Any, which gets this type.
  private func applyToAny(
    _ storage: MessageStorage, _ url: String, _ rest: ArraySlice<Step>
  ) throws(FieldPathError) {
    let type = try FieldPath.contentType(url, storage.type)
    let fields = storage.table.fields
    if case .clear = self, rest.isEmpty {
      for field in fields { storage[field] = .none }
      return
    }
    let known = storage.typeURL.flatMap { AnyOutline.typeName($0) == type.name ? $0 : nil }
    var content = try known == nil ? Message(type) : storage.content(type)
    try apply(to: &content, rest)
    storage[fields[0]] = .single(.string(known ?? url))
    storage[fields[1]] = .single(.bytes(content.serialized()))
  }

  // MARK: Values

  private func replace(_ field: FieldNode, of storage: MessageStorage) throws(FieldPathError) {
    switch self {
    case .clear: storage[field] = .none
    case .set:
      if field.isRepeated { throw .needsSubscript(field: field.pathName) }
      guard let value = try value(of: field, named: field.pathName, in: storage.type) else { return }
      storage.clearOthers(of: field)
      storage[field] = .single(value)
    case .json(let json, let options):
      let bytes = try Self.bytes(json, field, asElement: false, options)
      replace(field, of: storage, by: try Self.decoded(bytes, field, in: storage.type))
    case .stored(let stored): replace(field, of: storage, by: stored)
    }
  }

  private func replace(_ field: FieldNode, of storage: MessageStorage, by stored: FieldStorage) {
    if case .single = stored { storage.clearOthers(of: field) }
    storage[field] = stored
  }

  /// The new message at the end of a path.
  private func whole(_ type: MessageType) throws(FieldPathError) -> Message {
    switch self {
    case .clear: return Message(type)
    case .set(.message(let message)) where message.type.name == type.name: return message
    case .set, .stored: throw .wrongType(field: "the message", expected: type.name)
    case .json(let json, let options):
      do throws(MessageParseError) {
        return try Message(type, json: json, options: options)
      } catch {
        throw .json(error)
      }
    }
  }

  /// The new value of a field that is not repeated, of an element, or of an entry; nil to remove it.
  ///
  /// - Parameters:
  ///   - field: The field; of an entry, that of its value.
  ///   - name: The name of the field in errors.
  ///   - type: The type that has the field.
  private func value(
    of field: FieldNode, named name: String, in type: MessageNode
  ) throws(FieldPathError) -> Value? {
    switch self {
    case .clear: return nil
    case .stored(let stored):
      guard case .single(let value) = stored else { return nil }
      return value
    case .set(let value):
      if let fitting = value.converted(to: field) { return fitting }
      switch (value, field.kind.isInteger) {
      case (.int32, true), (.int64, true), (.uint32, true), (.uint64, true):
        throw .outOfRange(field: name, expected: field.typeDescription)
      case (.bytes, _) where field.kind == .string: throw .notUTF8(field: name)
      default: throw .wrongType(field: name, expected: field.typeDescription)
      }
    case .json(let json, let options):
      let bytes = try Self.bytes(json, field, asElement: true, options)
      switch try Self.decoded(bytes, field, in: type) {
      case .list(let values): return values.first
      case .single(let value): return value
      case .none, .map: return field.defaultValue
      }
    }
  }

  /// A message with only the field, or with an element of it.
  private static func bytes(
    _ json: [UInt8], _ field: FieldNode, asElement: Bool, _ options: JSONDecodingOptions
  ) throws(FieldPathError) -> [UInt8] {
    do throws(MessageParseError) {
      return try json.withUnsafeBufferPointer { (json) throws(MessageParseError) in
        try JSONToWire.transcode(
          UnsafeRawBufferPointer(json), field: field, asElement: asElement, options: options)
      }
    } catch {
      throw .json(error)
    }
  }

  /// The value of a field that was serialized alone.
  private static func decoded(
    _ bytes: [UInt8], _ field: FieldNode, in type: MessageNode
  ) throws(FieldPathError) -> FieldStorage {
    let alone = MessageStorage(type)
    do throws(DecodeError) {
      try bytes.withUnsafeBufferPointer { (bytes) throws(DecodeError) in
        var reader = WireReader(UnsafeRawBufferPointer(bytes))
        try BinaryDecoder.decode(&reader, into: alone, depth: 0)
      }
    } catch {
      throw .encoding(error)
    }
    return alone[field]
  }
}
