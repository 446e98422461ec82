/// Selects values of messages: a ``FieldPath`` in which `[]` means all elements, a negative index counts from the end,
/// and fields of the content of Any, Struct and Value may follow.
///
/// Examples: `users[].name`, `users[-1]`, `labels.zone`, `labels["a b"]`, `details[].reason`.
package struct FieldSelector: Hashable, Sendable {
  /// A step of a selector.
  package enum Step: Hashable, Sendable {
    case path(FieldPath.Step)
    /// All elements of a list, or all values of a map in the order of their keys.
    case each
  }

  /// The steps; never empty, and the first is a field.
  package let steps: [Step]
  /// The selector as typed.
  package let text: String

  /// Parses a selector.
  ///
  /// - Throws: ``FieldPathError`` if the syntax is invalid, or if it has more than 100 steps.
  package init(_ text: String) throws(FieldPathError) {
    var parser = FieldPathParser(text)
    steps = try parser.selector(limit: nestingLimit)
    self.text = text
  }

  /// What a selector leads to in messages of a type.
  package enum Kind: Sendable {
    case list, bytes, string, other
    /// The content of an Any, a Struct or a Value, which only the message has.
    case dynamic
  }

  /// The field that a selector leads to.
  package struct Leaf {
    /// The message type of the field; for a value of a map, that of the map's entries.
    package let type: MessageType
    /// The field.
    package let field: Field
    /// Whether the selector leads to an element of the list, not to all of it.
    package let isElement: Bool
  }

  /// The field that the selector leads to; nil in the content of an Any or a Value, which only the message has.
  ///
  /// - Throws: ``FieldPathError`` if messages of the type have no such field.
  package func leaf(in type: MessageType) throws(FieldPathError) -> Leaf? {
    try Self.leaf(type.node, steps[...])
  }

  /// What the selector leads to.
  ///
  /// - Throws: ``FieldPathError`` if messages of the type have no such field.
  package func kind(in type: MessageType) throws(FieldPathError) -> Kind {
    guard let leaf = try leaf(in: type) else { return .dynamic }
    let field = leaf.field.node
    if field.isRepeated, !leaf.isElement { return field.isMap ? .other : .list }
    switch field.kind {
    case .bytes: return .bytes
    case .string: return .string
    default: return field.messageType == nil ? .other : .dynamic
    }
  }

  /// A selected value.
  package struct Match {
    let field: FieldNode
    let stored: FieldStorage
    /// Whether the message has the value: false for the default of an unset field, and for an empty list or map.
    package var isSet = true

    /// The value; nil for a list or a map.
    package var value: Value? {
      guard case .single(let value) = stored else { return nil }
      return value
    }

    /// The value as JSON.
    package func json(_ options: JSONEncodingOptions) throws(DecodeError) -> [UInt8] {
      try WireToJSON.transcode(field: field, value: stored, options: options)
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
  }

  /// The selected values of a message; nil for each one that the message lacks.
  ///
  /// - Throws: ``FieldPathError``, or ``MessageParseError`` for an Any of an unknown type.
  package func matches(in message: Message) throws -> [Match?] {
    var walk = Walk()
    try walk.message(message.storage, message.storage.type, steps[...])
    return walk.found
  }
}

extension FieldSelector {
  /// The way of the rest of a selector through types.
  private static func leaf(_ type: MessageNode, _ steps: ArraySlice<Step>) throws(FieldPathError) -> Leaf? {
    let storage = MessageStorage(type)
    switch storage.table.wellKnown {
    case .any, .value: return nil
    case .structure, .listValue:
      return try leaf(type, storage.table.fields[0], steps, isElement: false)
    default:
      guard case .path(let step)? = steps.first else { throw .notIndexable(field: type.name) }
      return try leaf(type, FieldPlace.field(step, of: storage), steps.dropFirst(), isElement: false)
    }
  }

  private static func leaf(
    _ type: MessageNode, _ field: FieldNode, _ steps: ArraySlice<Step>, isElement: Bool
  ) throws(FieldPathError) -> Leaf? {
    guard let step = steps.first else {
      return Leaf(type: MessageType(type), field: Field(field, type.pool), isElement: isElement)
    }
    if field.isRepeated, !isElement {
      try check(step, of: field)
      guard let value = field.mapValue, let entry = field.messageType else {
        return try leaf(type, field, steps.dropFirst(), isElement: true)
      }
      return try leaf(entry, value, steps.dropFirst(), isElement: false)
    }
    guard let nested = field.messageType else { throw notAMessage(field, step) }
    return try leaf(nested, steps)
  }

  /// Throws unless a step can follow a list or a map.
  private static func check(_ step: Step, of field: FieldNode) throws(FieldPathError) {
    switch step {
    case .each: return
    case .path(.subscripted(let key)) where field.isMap:
      guard FieldPlace.mapKey(key, of: field) != nil else {
        throw .wrongKeyType(field: field.pathName, expected: field.mapKey?.kind.protoName ?? "")
      }
    case .path(.subscripted(.integer)): return
    case .path(.subscripted): throw .wrongKeyType(field: field.pathName, expected: "a number")
    case .path(.field) where field.mapKey?.kind == .string: return
    default: throw .needsSubscript(field: field.pathName)
    }
  }

  private static func notAMessage(_ field: FieldNode, _ step: Step) -> FieldPathError {
    switch step {
    case .each, .path(.subscripted): .notIndexable(field: field.pathName)
    default: .notAMessage(field: field.pathName)
    }
  }
}

extension FieldSelector {
  /// The way of the rest of a selector through a message.
  private struct Walk {
    var found: [Match?] = []

    /// Continues in a message; nil if it is not set.
    mutating func message(
      _ storage: MessageStorage?, _ type: MessageNode, _ steps: ArraySlice<Step>
    ) throws {
      let known = storage ?? MessageStorage(type)
      let fields = known.table.fields
      switch known.table.wellKnown {
      case .any:
        guard let storage else { return found.append(nil) }
        try any(storage, steps)
      case .value: try value(storage, fields, steps)
      case .structure, .listValue:
        try field(fields[0], storage?[fields[0]] ?? .none, steps, isSet: storage != nil)
      default:
        guard case .path(let step)? = steps.first else { throw FieldPathError.notIndexable(field: type.name) }
        let next = try FieldPlace.field(step, of: known)
        try field(next, storage?[next] ?? .none, steps.dropFirst(), isSet: storage != nil)
      }
    }

    /// Continues in the content of an Any, by the fields of its type. Another Any may have another type, so a
    /// field that the type lacks is missing.
    private mutating func any(_ storage: MessageStorage, _ steps: ArraySlice<Step>) throws {
      let fields = storage.table.fields
      guard case .single(.string(let url)) = storage[fields[0]] else { return found.append(nil) }
      if steps.first == .path(.field("@type")), steps.count == 1 {
        return found.append(Match(field: fields[0], stored: .single(.string(url))))
      }
      let pool = storage.type.pool
      let name = AnyOutline.typeName(url)
      guard let type = try pool.messageType(named: name) else {
        throw MessageParseError(pool.unknownType(name), format: .json)
      }
      var bytes: [UInt8] = []
      if case .single(.bytes(let content)) = storage[fields[1]] { bytes = content }
      let content = try bytes.withUnsafeBytes { try Message(type, bytes: $0) }
      if content.storage.table.wellKnown != nil {
        guard steps.first == .path(.field("value")) else { return found.append(nil) }
        return try single(fields[1], .message(content), steps.dropFirst())
      }
      do {
        try message(content.storage, type, steps)
      } catch FieldPathError.unknownField {
        found.append(nil)
      }
    }

    /// Continues in the Struct or the list of a `google.protobuf.Value`.
    private mutating func value(
      _ storage: MessageStorage?, _ fields: [FieldNode], _ steps: ArraySlice<Step>
    ) throws {
      for field in [fields[4], fields[5]] {
        guard case .single(.message(let content))? = storage?[field] else { continue }
        switch (steps.first, field.number == 6) {
        case (.each, _), (.path(.subscripted(.integer)), true), (.path(.subscripted(.string)), false),
          (.path(.field), false):
          return try message(content.storage, content.storage.type, steps)
        default: break
        }
      }
      found.append(nil)
    }

    /// Continues after a field; `isSet` is whether its message is.
    private mutating func field(
      _ field: FieldNode, _ stored: FieldStorage, _ steps: ArraySlice<Step>, isSet: Bool
    ) throws {
      guard field.isRepeated else {
        if case .single(let value) = stored {
          guard steps.isEmpty else { return try single(field, value, steps) }
          return found.append(Match(field: field, stored: stored, isSet: !stored.isAbsent(field)))
        }
        guard steps.isEmpty else {
          guard let type = field.messageType else {
            throw FieldSelector.notAMessage(field, steps[steps.startIndex])
          }
          return try message(nil, type, steps)
        }
        let value = isSet && !field.hasPresence ? field.defaultValue : nil
        return found.append(value.map { Match(field: field, stored: .single($0), isSet: false) })
      }
      guard let step = steps.first else {
        if case .none = stored {
          let empty: FieldStorage = field.isMap ? .map([:]) : .list([])
          return found.append(Match(field: field, stored: empty, isSet: false))
        }
        return found.append(Match(field: field, stored: stored, isSet: !stored.isAbsent(field)))
      }
      try FieldSelector.check(step, of: field)
      let rest = steps.dropFirst()
      if let valueField = field.mapValue {
        var entries: [MapKey: Value] = [:]
        if case .map(let stored) = stored { entries = stored }
        if step == .each {
          for (_, value) in entries.sorted(by: { $0.key < $1.key }) { try single(valueField, value, rest) }
          return
        }
        guard let key = Self.key(step, of: field), let value = entries[key] else { return found.append(nil) }
        return try single(valueField, value, rest)
      }
      var values: [Value] = []
      if case .list(let stored) = stored { values = stored }
      if step == .each {
        for value in values { try single(field, value, rest) }
        return
      }
      guard case .path(.subscripted(.integer(let index))) = step,
        let position = Int(exactly: index < 0 ? index + Int64(values.count) : index),
        values.indices.contains(position)
      else { return found.append(nil) }
      try single(field, values[position], rest)
    }

    private static func key(_ step: Step, of field: FieldNode) -> MapKey? {
      switch step {
      case .path(.subscripted(let key)): FieldPlace.mapKey(key, of: field)
      case .path(.field(let name)): MapKey(.string(name))
      default: nil
      }
    }

    /// Continues after a value of a field that is not repeated, or an element.
    private mutating func single(_ field: FieldNode, _ value: Value, _ steps: ArraySlice<Step>) throws {
      guard let step = steps.first else { return found.append(Match(field: field, stored: .single(value))) }
      guard case .message(let nested) = value else { throw FieldSelector.notAMessage(field, step) }
      try message(nested.storage, nested.storage.type, steps)
    }
  }
}
