import RPCurlProtobuf

/// The cursor position in partially typed JSON, and what may be inserted there.
///
/// The text is everything before the cursor: an unfinished message, perhaps after others. It may be invalid;
/// then there is nothing to suggest.
package struct JSONCursor: Sendable {
  /// A position for a value.
  package enum Slot: Sendable, Equatable {
    /// A top-level message.
    case message(MessageType)
    /// The value of a field; for a repeated field the list, for a map the object.
    case field(Field)
    /// An element of a list, or a value in a map; `Field` is the list, or the map's value.
    case element(Field)
    /// The key of a map.
    case mapKey(Field)
    /// The `@type` of an Any.
    case typeURL(MessageType)
    /// Any JSON: within a Struct, or where the schema is unknown.
    case anything
  }

  /// The kind of token at the cursor.
  package enum Place: Sendable, Equatable {
    /// The name of a message field; `fields` are not set yet.
    case name(of: MessageType, fields: [Field])
    /// The first key of an Any, which should be its type.
    case typeKey
    /// A value, or the key of a map.
    case value(Slot)
    /// A colon, a comma, a bracket, or invalid text.
    case other
  }

  /// The kind of token at the cursor.
  package let place: Place
  /// The typed part of the token, without quotation marks.
  package let prefix: String
  /// Whether the token starts with a quotation mark.
  package let isQuoted: Bool
  /// The start of the token, including its quotation mark, in bytes of UTF-8; it extends to the end of the
  /// text.
  package let start: Int

  /// Reads partially typed messages of `type`.
  package init(_ text: String, of type: MessageType) {
    var reader = JSONCursorReader(type)
    reader.read(text)
    place = reader.place
    start = reader.tokenStart
    isQuoted = reader.isInString
    let typed = text.utf8.dropFirst(start + (isQuoted ? 1 : 0))
    prefix = String(Substring(typed))
  }
}

/// Scans the text, and keeps a stack of open brackets.
private struct JSONCursorReader {
  private typealias Slot = JSONCursor.Slot

  /// The kind of keys or elements in an open bracket.
  private enum Shape {
    case message(MessageType)
    /// An Any, with the type in its `@type`.
    case any(MessageType, MessageType?)
    case map(key: Field, value: Field)
    case list(Field)
    case freeObject
    case freeList

    var isObject: Bool {
      switch self {
      case .list, .freeList: false
      default: true
      }
    }
  }

  private enum Step { case key, colon, value, comma }

  private struct Level {
    let shape: Shape
    var step: Step
    /// The keys so far; kept where they determine the remaining ones.
    var given: [String] = []
    var key = ""
  }

  private let type: MessageType
  private var levels: [Level] = []
  /// Whether the text is invalid, or nested too deeply.
  private var isLost = false
  /// The start of an unfinished string or word at the end of the text; otherwise the end.
  private(set) var tokenStart = 0
  private(set) var isInString = false

  init(_ type: MessageType) { self.type = type }

  // MARK: Reading

  mutating func read(_ text: String) {
    let bytes = Array(text.utf8)
    var position = 0
    while position < bytes.count, !isLost {
      let byte = bytes[position]
      tokenStart = position
      switch byte {
      case 0x20, 0x09, 0x0a, 0x0d: position += 1
      case UInt8(ascii: "\""):
        guard let end = Self.endOfString(bytes, from: position + 1) else {
          isInString = true
          return
        }
        addToken(String(decoding: bytes[position + 1..<end], as: UTF8.self), isString: true)
        position = end + 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        open(isObject: byte == UInt8(ascii: "{"))
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        close(isObject: byte == UInt8(ascii: "}"))
        position += 1
      case UInt8(ascii: ":"):
        step(from: .colon, to: .value)
        position += 1
      case UInt8(ascii: ","):
        step(from: .comma, to: levels.last?.shape.isObject == true ? .key : .value)
        position += 1
      default:
        let end = bytes[position...].firstIndex(where: Self.endsWord) ?? bytes.count
        // A word at the end is incomplete.
        guard end < bytes.count else { return }
        addToken(String(decoding: bytes[position..<end], as: UTF8.self), isString: false)
        position = end
      }
    }
    tokenStart = bytes.count
  }

  private static func endOfString(_ bytes: [UInt8], from start: Int) -> Int? {
    var position = start
    while position < bytes.count {
      if bytes[position] == UInt8(ascii: "\"") { return position }
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }

  private static func endsWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20, 0x09, 0x0a, 0x0d, UInt8(ascii: "\""), UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "{"),
      UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"):
      true
    default: false
    }
  }

  /// Adds a complete string or word.
  private mutating func addToken(_ text: String, isString: Bool) {
    guard let index = levels.indices.last else {
      // Some messages are a string or a number in JSON.
      return
    }
    switch levels[index].step {
    case .key:
      levels[index].key = text
      levels[index].step = .colon
      switch levels[index].shape {
      case .message, .any: levels[index].given.append(text)
      default: break
      }
    case .value:
      if case .any(let any, _) = levels[index].shape, levels[index].key == "@type", isString {
        let name = AnyOutline.typeName(text)
        levels[index] = Level(
          shape: .any(any, (try? any.relative(named: name)) ?? nil), step: .comma, given: levels[index].given)
      }
      levels[index].step = .comma
    case .colon, .comma: isLost = true
    }
  }

  private mutating func step(from old: Step, to new: Step) {
    guard let index = levels.indices.last, levels[index].step == old else { return isLost = true }
    levels[index].step = new
  }

  private mutating func open(isObject: Bool) {
    guard levels.count < nestingLimit, levels.last.map({ $0.step == .value }) ?? true else {
      return isLost = true
    }
    let shape = isObject ? objectShape(slot) : listShape(slot)
    levels.append(Level(shape: shape, step: isObject ? .key : .value))
  }

  private mutating func close(isObject: Bool) {
    guard let last = levels.last, last.shape.isObject == isObject else { return isLost = true }
    levels.removeLast()
    if let index = levels.indices.last { levels[index].step = .comma }
  }

  // MARK: Expected types

  /// The slot of a value here.
  private var slot: Slot {
    guard let level = levels.last else { return .message(type) }
    switch level.shape {
    case .message(let type): return Self.slot(of: level.key, in: type)
    case .any(let any, let type):
      if level.key == "@type" { return .typeURL(any) }
      guard let type else { return .anything }
      if Self.wellKnown(type) != nil { return level.key == "value" ? .message(type) : .anything }
      return Self.slot(of: level.key, in: type)
    case .map(_, let value): return .element(value)
    case .list(let field): return .element(field)
    case .freeObject, .freeList: return .anything
    }
  }

  private static func slot(of key: String, in type: MessageType) -> Slot {
    if let field = (try? type.field(named: key)) ?? nil { return .field(field) }
    guard key.hasPrefix("["), key.hasSuffix("]") else { return .anything }
    let name = String(key.dropFirst().dropLast())
    let found = (try? type.relativeExtension(named: name)) ?? nil
    return found.map { .field($0) } ?? .anything
  }

  private static func wellKnown(_ type: MessageType) -> WellKnownKind? { (try? type.wellKnown()) ?? nil }

  private func objectShape(_ slot: Slot) -> Shape {
    switch slot {
    case .message(let type): return Self.shape(of: type)
    case .field(let field):
      if let key = field.mapKey, let value = field.mapValue { return .map(key: key, value: value) }
      guard !field.isRepeated, let type = field.messageType else { return .freeObject }
      return Self.shape(of: type)
    case .element(let field):
      return field.messageType.map(Self.shape) ?? .freeObject
    case .typeURL, .mapKey, .anything: return .freeObject
    }
  }

  private static func shape(of type: MessageType) -> Shape {
    switch wellKnown(type) {
    case nil: .message(type)
    case .any: .any(type, nil)
    default: .freeObject
    }
  }

  private func listShape(_ slot: Slot) -> Shape {
    if case .field(let field) = slot, field.isRepeated, !field.isMap { return .list(field) }
    return .freeList
  }

  /// The kind of token at the end of the text.
  var place: JSONCursor.Place {
    guard !isLost else { return .other }
    guard let level = levels.last else { return .value(.message(type)) }
    switch level.step {
    case .colon, .comma: return .other
    case .value: return .value(slot)
    case .key: break
    }
    switch level.shape {
    case .message(let type): return Self.name(of: type, given: level.given)
    case .any(_, nil): return level.given.isEmpty ? .typeKey : .other
    case .any(_, let type?):
      return Self.wellKnown(type) == nil ? Self.name(of: type, given: level.given) : .value(.anything)
    case .map(let key, _): return .value(.mapKey(key))
    case .list, .freeObject, .freeList: return .value(.anything)
    }
  }

  private static func name(of type: MessageType, given: [String]) -> JSONCursor.Place {
    guard let fields = try? type.fields() else { return .other }
    let given = Set(given)
    let isGiven = { (field: Field) in given.contains(field.jsonName) || given.contains(field.name) }
    let decided = Set(fields.filter(isGiven).compactMap(\.oneofIndex))
    let left = fields.filter { field in
      !isGiven(field) && !(field.oneofIndex.map(decided.contains) ?? false)
    }
    return .name(of: type, fields: left)
  }
}
