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
        return .appendDecoded(bytes)
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
  /// Append the element in these bytes, a message with only the field.
  case appendDecoded([UInt8])
}

// A value is taken out of the content that contains it while it is changed, so that it has one reference and is changed
// in place: a list is not copied for each new element. On an error it returns unchanged.
extension Message {
  /// Follows a path to its end, creating missing messages, and applies a change. An error leaves the message
  /// unchanged.
  ///
  /// - Parameters:
  ///   - whole: Whether the path may end at a list or a map.
  ///   - decide: Receives the field at the end of the path and the field of the value there: for a map's
  ///     entry, that of its value.
  private mutating func change(
    _ path: FieldPath, whole: Bool = false, _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) {
    try change(path.steps[...], whole: whole, decide)
  }

  private mutating func change(
    _ steps: ArraySlice<FieldPath.Step>, whole: Bool,
    _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) {
    let changed = isKnownUniquelyReferenced(&storage) ? storage : storage.copy()
    try Message.change(changed, steps, whole: whole, decide)
    storage = changed
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
      var stored = storage.take(field)
      defer { storage[field] = stored }
      try changeMessage(&stored, type, field, rest, whole: whole, decide)
      return storage.clearOthers(of: field)
    }
    rest = rest.dropFirst()
    guard field.isRepeated else { throw .notIndexable(field: field.pathName) }
    if field.isMap {
      try changeEntry(storage, field, key, rest, whole: whole, decide)
    } else {
      try changeElement(storage, field, key, rest, whole: whole, decide)
    }
  }

  private static func changeMessage(
    _ stored: inout FieldStorage, _ type: MessageNode, _ field: FieldNode,
    _ rest: ArraySlice<FieldPath.Step>, whole: Bool,
    _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) {
    guard case .single(var value) = stored else {
      var value = Value.message(Message(type))
      try change(&value, field, rest, whole: whole, decide)
      stored = .single(value)
      return
    }
    stored = .none
    defer { stored = .single(value) }
    try change(&value, field, rest, whole: whole, decide)
  }

  private static func changeElement(
    _ storage: MessageStorage, _ field: FieldNode, _ key: FieldPath.Subscript,
    _ rest: ArraySlice<FieldPath.Step>,
    whole: Bool, _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) {
    guard case .integer(let index) = key else {
      throw .wrongKeyType(field: field.pathName, expected: "a number")
    }
    var values = takeList(field, of: storage)
    defer { storage[field] = values.isEmpty ? .none : .list(values) }
    guard index >= 0, index < values.count else {
      throw .indexOutOfRange(field: field.pathName, index: index, count: values.count)
    }
    let position = Int(index)
    guard rest.isEmpty else {
      return try change(&values[position], field, rest, whole: whole, decide)
    }
    switch try decide(field, field) {
    case .set(let value): values[position] = value
    case .append, .appendDecoded: throw .notAList(field: "\(field.pathName)[\(index)]")
    case .clear: values.remove(at: position)
    case .decode(let bytes):
      if let value = try element(of: bytes, field, in: storage) { values[position] = value }
    }
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
    if case .map(let stored) = storage.take(field) { entries = stored }
    defer { storage[field] = entries.isEmpty ? .none : .map(entries) }
    guard rest.isEmpty else {
      guard let type = valueField.messageType else { throw .notAMessage(field: field.pathName) }
      if let index = entries.index(forKey: mapKey) {
        return try change(&entries.values[index], valueField, rest, whole: whole, decide)
      }
      var value = Value.message(Message(type))
      try change(&value, valueField, rest, whole: whole, decide)
      entries[mapKey] = value
      return
    }
    switch try decide(field, valueField) {
    case .set(let value): entries[mapKey] = value
    case .append, .appendDecoded: throw .notAList(field: field.pathName)
    case .clear: entries[mapKey] = nil
    case .decode(let bytes): entries[mapKey] = try entryValue(of: bytes, valueField)
    }
  }

  /// Changes a message that is the value of a field, an element or an entry.
  private static func change(
    _ value: inout Value, _ field: FieldNode, _ rest: ArraySlice<FieldPath.Step>, whole: Bool,
    _ decide: (FieldNode, FieldNode) throws(FieldPathError) -> Change
  ) throws(FieldPathError) {
    if case .subscripted? = rest.first { throw .notIndexable(field: field.pathName) }
    guard case .message(var nested) = value else { throw .notAMessage(field: field.pathName) }
    value = .bool(false)
    defer { value = .message(nested) }
    try nested.change(rest, whole: whole, decide)
  }

  private static func apply(_ change: Change, _ field: FieldNode, _ storage: MessageStorage)
    throws(FieldPathError)
  {
    switch change {
    case .set(let value):
      storage.clearOthers(of: field)
      storage[field] = .single(value)
    case .append(let value): append(value, to: field, of: storage)
    case .clear: storage[field] = .none
    case .decode(let bytes):
      let decoded = try decoded(bytes, field, in: storage)
      if case .single = decoded { storage.clearOthers(of: field) }
      storage[field] = decoded
    case .appendDecoded(let bytes):
      if let value = try element(of: bytes, field, in: storage) { append(value, to: field, of: storage) }
    }
  }

  private static func append(_ value: Value, to field: FieldNode, of storage: MessageStorage) {
    var values = takeList(field, of: storage)
    values.append(value)
    storage[field] = .list(values)
  }

  /// Removes the elements of a list, to change them in place and store them again.
  private static func takeList(_ field: FieldNode, of storage: MessageStorage) -> [Value] {
    if case .list(let values) = storage.take(field) { values } else { [] }
  }

  /// The value of a field that was serialized alone.
  private static func decoded(
    _ bytes: [UInt8], _ field: FieldNode, in storage: MessageStorage
  ) throws(FieldPathError) -> FieldStorage {
    let alone = MessageStorage(storage.type, storage.table)
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

  /// The only element of a list that was serialized alone.
  private static func element(
    of bytes: [UInt8], _ field: FieldNode, in storage: MessageStorage
  ) throws(FieldPathError) -> Value? {
    if case .list(let values) = try decoded(bytes, field, in: storage) { values.first } else { nil }
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
