extension Message {
  /// The value at a path; if it is not set, the default of a field without presence, otherwise nil.
  ///
  /// Lists and maps have no `Value`: name an element, or use ``json(at:options:)`` for the whole.
  public func value(at path: FieldPath) throws(FieldPathError) -> Value? {
    guard let place = try FieldPlace(of: path, in: self) else { return nil }
    switch place.target {
    case .field(let field, let stored):
      if field.isRepeated { throw .needsSubscript(field: field.pathName) }
      if case .single(let value) = stored { return value }
      return field.hasPresence ? nil : field.defaultValue
    case .element(_, let value): return value
    }
  }

  /// Whether the value at a path is set: a field with presence is set, one without is not zero, a list or map
  /// is not empty, an element exists.
  public func has(_ path: FieldPath) throws(FieldPathError) -> Bool {
    guard let place = try FieldPlace(of: path, in: self, lenient: true) else { return false }
    switch place.target {
    case .field(let field, let stored): return !stored.isAbsent(field)
    case .element(_, let value): return value != nil
    }
  }

  /// The number of elements of the list or map at a path.
  public func length(_ path: FieldPath) throws(FieldPathError) -> Int {
    // An unset parent has empty lists.
    guard let place = try FieldPlace(of: path, in: self) else { return 0 }
    guard case .field(let field, let stored) = place.target, field.isRepeated else {
      throw .notAList(field: path.description)
    }
    switch stored {
    case .list(let values): return values.count
    case .map(let entries): return entries.count
    default: return 0
    }
  }

  /// Sets a field, an element of a list, or an entry of a map. Creates missing messages in the path, but no
  /// list elements.
  public mutating func set(_ value: Value, at path: FieldPath) throws(FieldPathError) {
    try change(path) { (field, target) throws(FieldPathError) in
      guard let fitting = value.converted(to: target) else {
        throw .wrongType(field: field.pathName, expected: target.typeDescription)
      }
      return .set(fitting)
    }
  }

  /// Clears a field, or removes an element of a list or a map.
  public mutating func clear(at path: FieldPath) throws(FieldPathError) {
    if try !has(path) { return }
    try change(path, whole: true) { (_, _) throws(FieldPathError) in .clear }
  }

  /// Appends an element to a list.
  public mutating func append(_ value: Value, at path: FieldPath) throws(FieldPathError) {
    try change(path, whole: true) { (field, _) throws(FieldPathError) in
      guard field.isRepeated, !field.isMap else { throw .notAList(field: field.pathName) }
      guard let fitting = value.converted(to: field) else {
        throw .wrongType(field: field.pathName, expected: field.typeDescription)
      }
      return .append(fitting)
    }
  }

  /// The value at a path as JSON; `null` if it is not set.
  public func json(
    at path: FieldPath, options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(FieldPathError) -> [UInt8] {
    guard let place = try FieldPlace(of: path, in: self) else { return Array("null".utf8) }
    do throws(DecodeError) {
      switch place.target {
      case .field(let field, let stored):
        var stored = stored
        if case .none = stored {
          if field.isMap {
            stored = .map([:])
          } else if field.isRepeated {
            stored = .list([])
          } else if !field.hasPresence, let value = field.defaultValue {
            stored = .single(value)
          }
        }
        return try WireToJSON.transcode(field: field, value: stored, options: options)
      case .element(let field, let value):
        return try WireToJSON.transcode(
          field: field, value: value.map { .single($0) } ?? .none, options: options)
      }
    } catch {
      throw .encoding(error)
    }
  }

  /// Replaces the value at a path (a field, a whole list or map, or an element) by the value of a JSON text;
  /// `null` clears it.
  public mutating func setJSON(
    _ json: [UInt8], at path: FieldPath, options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(FieldPathError) {
    try change(path, whole: true) { (field, target) throws(FieldPathError) in
      let isElement =
        target !== field || { if case .subscripted? = path.steps.last { true } else { false } }()
      do throws(MessageParseError) {
        let bytes = try json.withUnsafeBufferPointer { (json) throws(MessageParseError) in
          try JSONToWire.transcode(
            UnsafeRawBufferPointer(json), field: target, asElement: isElement, options: options)
        }
        return .decode(bytes)
      } catch {
        throw .json(error)
      }
    }
  }
}

extension Message {
  /// Appends the element of a JSON text to a list.
  public mutating func appendJSON(
    _ json: [UInt8], at path: FieldPath, options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(FieldPathError) {
    try change(path, whole: true) { (field, target) throws(FieldPathError) in
      guard field.isRepeated, !field.isMap else { throw .notAList(field: field.pathName) }
      do throws(MessageParseError) {
        let bytes = try json.withUnsafeBufferPointer { (json) throws(MessageParseError) in
          try JSONToWire.transcode(
            UnsafeRawBufferPointer(json), field: target, asElement: true, options: options)
        }
        return .merge(bytes)
      } catch {
        throw .json(error)
      }
    }
  }
}

/// The change at the end of a path.
private enum Change {
  case set(Value)
  case append(Value)
  case clear
  /// Replace the value by the content of these bytes: a message with only the field, or the element's field.
  case decode([UInt8])
  /// Append the elements in these bytes, a message with only the field.
  case merge([UInt8])
}

extension Message {
  /// Follows a path to its end, creating missing messages, and applies a change.
  ///
  /// - Parameters:
  ///   - whole: Whether the path may end at a list or a map.
  ///   - decide: Receives the field at the end of the path and the field of the value there: for a map's
  ///     entry, that of its value.
  private mutating func change(
    _ path: FieldPath, whole: Bool = false, _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) {
    // Changes a copy: an error leaves the message unchanged.
    var copy = self
    copy.makeUnique()
    try Message.change(copy.storage, path.steps[...], whole: whole, decide)
    self = copy
  }

  private static func change(
    _ storage: MessageStorage, _ steps: ArraySlice<FieldPath.Step>, whole: Bool,
    _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) {
    guard let step = steps.first else { return }
    let field = try FieldPlace.field(step, of: storage)
    var rest = steps.dropFirst()
    guard case .subscripted(let key)? = rest.first else {
      if rest.isEmpty {
        if field.isRepeated, !whole { throw .needsSubscript(field: field.pathName) }
        return try apply(try decide(field, field), field, storage)
      }
      if field.isRepeated { throw .needsSubscript(field: field.pathName) }
      guard let type = field.messageType else { throw .notAMessage(field: field.pathName) }
      storage.clearOthers(of: field)
      var nested = Message(type)
      if case .single(.message(let earlier)) = storage[field] { nested = earlier }
      nested.makeUnique()
      try change(nested.storage, rest, whole: whole, decide)
      storage[field] = .single(.message(nested))
      return
    }
    rest = rest.dropFirst()
    guard field.isRepeated else { throw .notIndexable(field: field.pathName) }
    if field.isMap {
      try changeEntry(storage, field, key, rest, whole: whole, decide)
    } else {
      try changeElement(storage, field, key, rest, whole: whole, decide)
    }
  }

  private static func changeElement(
    _ storage: MessageStorage, _ field: FieldNode, _ key: FieldPath.Subscript,
    _ rest: ArraySlice<FieldPath.Step>,
    whole: Bool, _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) {
    guard case .integer(let index) = key else {
      throw .wrongKeyType(field: field.pathName, expected: "a number")
    }
    var values: [Value] = []
    if case .list(let stored) = storage[field] { values = stored }
    guard index >= 0, index < values.count else {
      throw .indexOutOfRange(field: field.pathName, index: index, count: values.count)
    }
    let position = Int(index)
    if rest.isEmpty {
      switch try decide(field, field) {
      case .set(let value): values[position] = value
      case .append, .merge: throw .notAList(field: "\(field.pathName)[\(index)]")
      case .clear: values.remove(at: position)
      case .decode(let bytes):
        if let value = try element(of: bytes, field, in: storage) { values[position] = value }
      }
    } else {
      values[position] = try changed(values[position], field, rest, whole: whole, decide)
    }
    storage[field] = values.isEmpty ? .none : .list(values)
  }

  private static func changeEntry(
    _ storage: MessageStorage, _ field: FieldNode, _ key: FieldPath.Subscript,
    _ rest: ArraySlice<FieldPath.Step>,
    whole: Bool, _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) {
    guard let valueField = field.mapValue, let mapKey = FieldPlace.mapKey(key, of: field) else {
      throw .wrongKeyType(field: field.pathName, expected: field.mapKey?.kind.protoName ?? "")
    }
    var entries: [MapKey: Value] = [:]
    if case .map(let stored) = storage[field] { entries = stored }
    if rest.isEmpty {
      switch try decide(field, valueField) {
      case .set(let value): entries[mapKey] = value
      case .append, .merge: throw .notAList(field: field.pathName)
      case .clear: entries[mapKey] = nil
      case .decode(let bytes): entries[mapKey] = try entryValue(of: bytes, valueField)
      }
    } else {
      guard let type = valueField.messageType else { throw .notAMessage(field: field.pathName) }
      entries[mapKey] = try changed(
        entries[mapKey] ?? .message(Message(type)), valueField, rest, whole: whole, decide)
    }
    storage[field] = entries.isEmpty ? .none : .map(entries)
  }

  private static func changed(
    _ value: Value, _ field: FieldNode, _ rest: ArraySlice<FieldPath.Step>, whole: Bool,
    _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) -> Value {
    if case .subscripted? = rest.first { throw .notIndexable(field: field.pathName) }
    guard case .message(var nested) = value else { throw .notAMessage(field: field.pathName) }
    nested.makeUnique()
    try change(nested.storage, rest, whole: whole, decide)
    return .message(nested)
  }

  private static func apply(_ change: Change, _ field: FieldNode, _ storage: MessageStorage)
    throws(FieldPathError)
  {
    switch change {
    case .set(let value):
      storage.clearOthers(of: field)
      storage[field] = .single(value)
    case .append(let value):
      var values: [Value] = []
      if case .list(let stored) = storage.take(field) { values = stored }
      values.append(value)
      storage[field] = .list(values)
    case .clear: storage[field] = .none
    case .decode(let bytes):
      storage[field] = .none
      if bytes.isEmpty { return }
      do { try decode(bytes, into: storage) } catch { throw .encoding(error) }
    case .merge(let bytes):
      do { try decode(bytes, into: storage) } catch { throw .encoding(error) }
    }
  }

  private static func decode(_ bytes: [UInt8], into storage: MessageStorage) throws(DecodeError) {
    try bytes.withUnsafeBufferPointer { (bytes) throws(DecodeError) in
      var reader = WireReader(UnsafeRawBufferPointer(bytes))
      try BinaryDecoder.decode(&reader, into: storage, depth: 0)
    }
  }

  /// The only element of a list that was serialized alone.
  private static func element(
    of bytes: [UInt8], _ field: FieldNode, in storage: MessageStorage
  ) throws(FieldPathError) -> Value? {
    let alone = MessageStorage(storage.type, storage.table)
    if field.isExtension { alone[field] = .none }
    do { try decode(bytes, into: alone) } catch { throw .encoding(error) }
    if case .list(let values) = alone[field] { return values.first }
    return nil
  }

  /// The value of a map entry that was serialized as field 2 of an entry.
  private static func entryValue(of bytes: [UInt8], _ field: FieldNode) throws(FieldPathError) -> Value? {
    do throws(DecodeError) {
      return try bytes.withUnsafeBufferPointer { (bytes) throws(DecodeError) -> Value? in
        var reader = WireReader(UnsafeRawBufferPointer(bytes))
        return try BinaryDecoder.singleValue(field, &reader)
      }
    } catch {
      throw .encoding(error)
    }
  }
}
