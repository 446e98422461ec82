extension FieldPath {
  /// A value that a path leads to.
  package struct Match {
    /// The field of the value; nil for a message that is not the value of a field.
    let field: FieldNode?
    let stored: FieldStorage
    /// Whether the message has the value: false for the default of an unset field, and for an empty list or map.
    package var isSet = true
    /// What the path leads to in the content of an Any, which only the message has; nil for other values.
    package fileprivate(set) var leaf: Leaf?

    /// The value; nil for a list or a map.
    package var value: Value? {
      guard case .single(let value) = stored else { return nil }
      return value
    }

    /// Whether it is a whole list or map.
    var isWhole: Bool { value == nil }

    /// The value as JSON.
    package func json(_ options: JSONEncodingOptions) throws(DecodeError) -> [UInt8] {
      try repairedJSON(options).json
    }

    /// The value as JSON, and whether a string that is not UTF-8 was written with replacement characters.
    package func repairedJSON(
      _ options: JSONEncodingOptions
    ) throws(DecodeError) -> (json: [UInt8], isRepaired: Bool) {
      if let field { return try WireToJSON.transcode(field: field, value: stored, options: options) }
      guard case .single(.message(let message)) = stored else { return (Array("null".utf8), false) }
      return try WireToJSON.transcode(message, options: options)
    }

    /// The elements of a list; nil for other values.
    package var elements: [Match]? {
      guard case .list(let values) = stored else { return nil }
      return values.map { Match(field: field, stored: .single($0)) }
    }

    /// The content of bytes or of a string, also of a wrapper or a Value; nil for other values.
    package var content: [UInt8]? {
      guard case .single(let value) = stored else { return nil }
      switch value {
      case .bytes(let bytes): return bytes
      case .string(let text): return Array(text.utf8)
      case .message(let message): return Self.content(of: message.storage)
      default: return nil
      }
    }

    private static func content(of storage: MessageStorage) -> [UInt8]? {
      let fields = storage.table.fields
      switch storage.table.wellKnown {
      case .wrapper where fields[0].kind == .bytes || fields[0].kind == .string:
        let stored = storage[fields[0]]
        if case .none = stored { return [] }
        return Match(field: fields[0], stored: stored).content
      case .value:
        return Match(field: fields[2], stored: storage[fields[2]]).content
      default: return nil
      }
    }

    /// The subscripts of all elements of a list, the last one first, or of a map, also of those in a Struct or a Value; none
    /// for other values.
    var subscripts: [Subscript] {
      switch stored {
      case .list(let values): return values.indices.reversed().map { .integer(Int64($0)) }
      case .map(let entries): return entries.keys.sorted().map { Subscript($0) }
      case .single(.message(let message)):
        let (storage, fields) = (message.storage, message.storage.table.fields)
        let content: [FieldNode] =
          switch storage.table.wellKnown {
          case .structure, .listValue: [fields[0]]
          case .value: [fields[4], fields[5]]
          default: []
          }
        return content.flatMap { Match(field: $0, stored: storage[$0]).subscripts }
      case .none, .single: return []
      }
    }
  }

  /// The values of a message at the path; nil for each one that the message lacks.
  ///
  /// - Throws: ``FieldPathError`` if the message has no such field.
  package func matches(in message: Message) throws(FieldPathError) -> [Match?] {
    var walk = Walk()
    try walk.message(message.storage, message.storage.type, steps[...])
    return walk.found
  }
}

extension Message {
  /// The value at a path that has no `[]`; nil if the message lacks it.
  func match(at path: FieldPath) throws(FieldPathError) -> FieldPath.Match? {
    guard let each = path.steps.firstIndex(of: .each) else { return try path.matches(in: self).first ?? nil }
    throw .needsSubscript(field: FieldPath(steps: Array(path.steps[..<each])).description)
  }

  /// The subscripts of all elements of the list, the last one first, or of the map at a path.
  package func subscripts(at path: FieldPath) throws(FieldPathError) -> [FieldPath.Subscript] {
    try match(at: path)?.subscripts ?? []
  }
}

/// The way of a path through a message.
private struct Walk {
  typealias Step = FieldPath.Step

  var found: [FieldPath.Match?] = []

  /// Continues in a message; nil if it is not set.
  mutating func message(
    _ storage: MessageStorage?, _ type: MessageNode, _ steps: ArraySlice<Step>
  ) throws(FieldPathError) {
    guard let first = steps.first else {
      let value = storage.map { FieldStorage.single(.message(Message(storage: $0))) }
      return found.append(value.map { FieldPath.Match(field: nil, stored: $0) })
    }
    let table = storage?.table ?? MessageStorage(type).table
    if table.wellKnown == .any, !FieldPath.isTypeURL(first) { return try any(storage, type, first, steps) }
    if table.wellKnown == .value, first == .each { return try value(storage, table.fields, steps) }
    let steps = FieldPath.inFields(steps, table)
    let next = try FieldPath.field(steps.first, of: type, table)
    try field(next, storage?[next] ?? .none, steps.dropFirst(), of: type, isSet: storage != nil)
  }

  /// Continues in the content of an Any, by its type or by the fields of its type. Another Any may have another type, so
  /// another type, or a field that the type lacks, is absent.
  private mutating func any(
    _ storage: MessageStorage?, _ type: MessageNode, _ first: Step, _ steps: ArraySlice<Step>
  ) throws(FieldPathError) {
    let wanted = try FieldPath.contentType(first, type, MessageStorage(type).table)
    if let wanted { _ = try FieldPath.leaf(wanted, steps.dropFirst()) }
    guard let storage, let url = storage.typeURL,
      wanted == nil || AnyOutline.typeName(url) == wanted?.name
    else { return found.append(nil) }
    if let wanted { return try message(storage.content(wanted).storage, wanted, steps.dropFirst()) }
    let content = try storage.content(FieldPath.contentType(url, type))
    if content.storage.table.wellKnown != nil {
      // In JSON, it is the member "value".
      guard first == .field("value") else { return found.append(nil) }
      return try self.content(content, steps.dropFirst())
    }
    do throws(FieldPathError) {
      try self.content(content, steps)
    } catch  where error.isOfType {
      found.append(nil)
    }
  }

  /// Continues in a message that an Any contains, whose type the values get.
  private mutating func content(_ content: Message, _ steps: ArraySlice<Step>) throws(FieldPathError) {
    let first = found.count
    try message(content.storage, content.storage.type, steps)
    guard let leaf = try? FieldPath.leaf(content.storage.type, steps) else { return }
    if case .dynamic = leaf { return }
    for index in found.indices.dropFirst(first) { found[index]?.leaf = leaf }
  }

  /// Continues with each element of the Struct or the list of a `google.protobuf.Value`.
  private mutating func value(
    _ storage: MessageStorage?, _ fields: [FieldNode], _ steps: ArraySlice<Step>
  ) throws(FieldPathError) {
    for field in [fields[4], fields[5]] {
      guard case .single(.message(let content))? = storage?[field] else { continue }
      return try message(content.storage, content.storage.type, steps)
    }
    found.append(nil)
  }

  /// Continues after a field; `isSet` is whether its message is.
  private mutating func field(
    _ field: FieldNode, _ stored: FieldStorage, _ steps: ArraySlice<Step>, of type: MessageNode, isSet: Bool
  ) throws(FieldPathError) {
    guard field.isRepeated else {
      if case .single(let value) = stored {
        guard steps.isEmpty else { return try single(field, value, steps) }
        return found.append(FieldPath.Match(field: field, stored: stored, isSet: !stored.isAbsent(field)))
      }
      if let step = steps.first {
        guard let type = field.messageType else { throw FieldPath.notAMessage(field, step) }
        return try message(nil, type, steps)
      }
      let value = isSet && !field.hasPresence ? field.defaultValue : nil
      return found.append(value.map { FieldPath.Match(field: field, stored: .single($0), isSet: false) })
    }
    guard let step = steps.first else {
      if case .none = stored {
        let empty: FieldStorage = field.isMap ? .map([:]) : .list([])
        return found.append(FieldPath.Match(field: field, stored: empty, isSet: false))
      }
      return found.append(FieldPath.Match(field: field, stored: stored, isSet: !stored.isAbsent(field)))
    }
    try FieldPath.check(step, of: field)
    let element = field.mapValue ?? field
    for value in try Self.elements(field, stored, step) {
      guard let value else {
        // The rest of the path must exist in the type.
        _ = try FieldPath.leaf(type, element, steps.dropFirst(), isElement: true)
        found.append(nil)
        continue
      }
      try single(element, value, steps.dropFirst())
    }
  }

  /// The elements of a list or a map at a step; nil for one that it lacks.
  private static func elements(
    _ field: FieldNode, _ stored: FieldStorage, _ step: Step
  ) throws(FieldPathError) -> [Value?] {
    if field.isMap {
      guard case .map(let entries) = stored else { return step == .each ? [] : [nil] }
      if step == .each { return entries.sorted { $0.key < $1.key }.map(\.value) }
      return [entries[try FieldPath.mapKey(step, of: field)]]
    }
    var values: [Value] = []
    if case .list(let stored) = stored { values = stored }
    if step == .each { return values }
    guard case .subscripted(.integer(let index)) = step,
      let position = FieldPath.position(index, count: values.count)
    else { return [nil] }
    return [values[position]]
  }

  /// Continues after a value of a field that is not repeated, or an element.
  private mutating func single(
    _ field: FieldNode, _ value: Value, _ steps: ArraySlice<Step>
  ) throws(FieldPathError) {
    guard let step = steps.first else {
      return found.append(FieldPath.Match(field: field, stored: .single(value)))
    }
    guard case .message(let nested) = value else { throw FieldPath.notAMessage(field, step) }
    try message(nested.storage, nested.storage.type, steps)
  }
}

extension MessageStorage {
  /// The type URL of an Any; nil if it is empty.
  var typeURL: String? {
    guard case .single(.string(let url)) = self[table.fields[0]], !url.isEmpty else { return nil }
    return url
  }

  /// The content of an Any; nil if its type is not in the schema, or if it is not a message of its type.
  var knownContent: Message? {
    guard let url = typeURL, let type = try? pool.messageType(named: AnyOutline.typeName(url)) else {
      return nil
    }
    return try? content(type)
  }

  /// The content of an Any, of a type.
  func content(_ type: MessageNode) throws(FieldPathError) -> Message {
    var bytes: [UInt8] = []
    if case .single(.bytes(let content)) = self[table.fields[1]] { bytes = content }
    do throws(DecodeError) {
      return try Message(MessageType(type), serialized: bytes)
    } catch {
      throw .encoding(error)
    }
  }
}
