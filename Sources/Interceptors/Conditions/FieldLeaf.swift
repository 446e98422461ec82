import Language
import Protobuf

/// The field at the end of a path, and how its values compare: each kind has its own order.
struct FieldLeaf {
  let field: Field
  /// Whether the path ends at a whole list or map.
  let isWhole: Bool

  /// `nil` if the path does not lead to a field of the type.
  init?(of path: FieldPath, in type: MessageType) {
    guard case .field(let field, _, let isElement)? = try? path.leaf(in: type) else { return nil }
    self.field = field
    isWhole = field.isRepeated && !isElement
  }

  // MARK: Before the call

  /// Throws if the operand is not a value of the field, or the field's kind does not have the comparison.
  func check(_ test: FieldCondition.Test, of condition: FieldCondition) throws(LanguageError) {
    let problem: String? =
      switch test {
      case .exists: nil
      case .length: isWhole ? nil : "only lists and maps have a length"
      case .matches: isText ? nil : "only strings and enum names can match a regular expression"
      case .contains(let operand): problem(containing: operand)
      case .compare(let comparison, let operand): problem(comparison, operand)
      }
    if let problem { throw LanguageError("\(condition): \(problem)") }
  }

  private var isText: Bool {
    guard !isWhole else { return false }
    if let type = field.messageType { return type.name == "google.protobuf.StringValue" }
    return field.kind == .string || field.kind == .enumeration
  }

  private func problem(containing operand: String) -> String? {
    if field.isMap, isWhole { return nil }
    if isWhole { return parse(operand) == nil ? unfit(operand) : nil }
    return isText || field.kind == .bytes ? nil : "contains requires a string, bytes, a list or a map"
  }

  private func problem(_ comparison: Comparison, _ operand: String) -> String? {
    if isWhole {
      return comparison.isAboutOrder ? "lists and maps have no order" : nil
    }
    guard let value = parse(operand) else { return unfit(operand) }
    if comparison.isAboutOrder, !value.hasOrder { return "\(typeName) has no order" }
    return nil
  }

  private func unfit(_ operand: String) -> String {
    "\(operand.debugDescription) is not a value of \(typeName)"
  }

  private var typeName: String { field.messageType?.name ?? field.enumType?.name ?? field.kind.protoName }

  // MARK: During the call

  /// Whether a test of the value at `path` holds.
  func holds(
    _ test: FieldCondition.Test, at path: FieldPath, in message: Message
  ) throws(FieldPathError) -> Bool {
    if isWhole { return try wholeHolds(test, at: path, in: message) }
    guard let value = try message.value(at: path).flatMap(comparable) else {
      // An unset field is unequal to everything.
      if case .compare(.unequal, _) = test { return true }
      if case .matches(_, let isWanted) = test { return !isWanted }
      return false
    }
    switch test {
    case .compare(let comparison, let operand):
      guard let other = parse(operand) else { return false }
      return comparison.holds(value.order(to: other)) ?? false
    case .matches(let pattern, let isWanted):
      return value.text.map { pattern.isFound(in: $0) } == isWanted
    case .contains(let operand):
      switch (value, parse(operand)) {
      case (.bytes(let bytes), .bytes(let part)?): return bytes.contains(part)
      default: return value.text?.contains(operand) ?? false
      }
    case .length, .exists: return false
    }
  }

  private func wholeHolds(
    _ test: FieldCondition.Test, at path: FieldPath, in message: Message
  ) throws(FieldPathError) -> Bool {
    switch test {
    case .compare(let comparison, let operand):
      var other = message
      try other.setJSON(Array(operand.utf8), at: path)
      return (other == message) == (comparison == .equal)
    case .contains(let operand) where field.isMap:
      return try message.has(path.appending(.subscripted(.init(operand, keyOf: field))))
    case .contains(let operand):
      let wanted = parse(operand)
      for index in 0..<(try message.length(path)) {
        let element = try message.value(at: path.appending(.subscripted(.integer(Int64(index))))).flatMap(
          comparable)
        if let element, let wanted, element.order(to: wanted) == .same { return true }
      }
      return false
    case .matches, .length, .exists: return false
    }
  }

  // MARK: Values

  /// Parses the operand as a value of this field.
  private func parse(_ operand: String) -> ComparableValue? {
    if let type = field.messageType { return parse(operand, as: type) }
    switch field.kind {
    case .bool: return operand == "true" ? .bool(true) : operand == "false" ? .bool(false) : nil
    case .string: return .text(operand)
    case .bytes: return Base64.decode(operand).map { .bytes($0) }
    case .float: return Float(operand).map { .real(Double($0)) }
    case .double: return Double(operand).map { .real($0) }
    case .enumeration:
      guard let number = Int32(operand) ?? field.enumType?.number(of: operand) else { return nil }
      return .enumeration(number, field.enumType?.name(of: number))
    default: return Int128(operand).map { .integer($0) } ?? Double(operand).map { .real($0) }
    }
  }

  private func parse(_ operand: String, as type: MessageType) -> ComparableValue? {
    // Most types with a special JSON form are JSON strings, written here without quotes.
    for json in [operand, JSONValue.quoted(operand)] {
      if let message = try? Message(type, json: Array(json.utf8)) { return ComparableValue(message) }
    }
    return nil
  }

  private func comparable(_ value: Value) -> ComparableValue? {
    if case .enum(let number) = value { return .enumeration(number, field.enumType?.name(of: number)) }
    return ComparableValue(value)
  }
}

extension FieldPath.Subscript {
  /// Parses the map key in the name of a JSON object's member.
  init(_ name: String, keyOf field: Field?) {
    switch field?.mapKey?.kind {
    case .string?, nil: self = .string(name)
    case .bool?: self = .bool(name == "true")
    default:
      self = Int64(name).map { .integer($0) } ?? UInt64(name).map { .unsigned($0) } ?? .string(name)
    }
  }
}

extension [UInt8] {
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    part.count <= count
      && (0...count - part.count).contains { self[$0..<$0 + part.count].elementsEqual(part) }
  }
}
