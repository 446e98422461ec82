import RPCurlProtobuf

/// The type of the values at a path, by which literals are read.
enum ValueType {
  /// Text that is not in a message, such as the value of a header.
  case text
  /// JSON without a schema, as in the content of an Any.
  case untyped
  case message(MessageType)
  case field(Field, of: MessageType, isElement: Bool)

  /// The type of the values of a claim.
  ///
  /// - Throws: ``LanguageError`` if messages of `type` have no such field.
  init(_ path: FieldPath, in type: MessageType) throws(LanguageError) {
    do throws(FieldPathError) { self.init(try path.leaf(in: type)) } catch {
      throw LanguageError(error.message, hint: error.hint)
    }
  }

  /// The type of what a path leads to.
  init(_ leaf: FieldPath.Leaf) {
    self =
      switch leaf {
      case .dynamic: .untyped
      case .message(let type): .message(type)
      case .field(let field, let type, let isElement): .field(field, of: type, isElement: isElement)
      }
  }

  /// Whether values are lists.
  var isList: Bool {
    if case .field(let field, _, isElement: false) = self, field.isRepeated { return !field.isMap }
    if case .listValue? = wellKnown { return true }
    return false
  }

  /// Whether values can be numbers, or contain numbers.
  var hasNumbers: Bool {
    switch self {
    case .text: return false
    case .untyped: return true
    case .message(let type): return type.hasNumbers
    case .field(let field, _, _):
      let field = field.mapValue ?? field
      return field.isNumber || field.messageType?.hasNumbers == true
    }
  }

  /// Whether values are bytes, which are base64 in JSON.
  var isBytes: Bool {
    switch self {
    case .text, .untyped: false
    case .message(let type): type.isWrapperOfBytes
    case .field(let field, _, let isElement):
      (isElement || !field.isRepeated)
        && (field.kind == .bytes || field.messageType?.isWrapperOfBytes == true)
    }
  }

  /// Whether values, or the elements of a list, are messages of any type.
  var isAny: Bool { if case .any? = wellKnown { true } else { false } }

  /// The type of values, or of the elements of a list, if it has a JSON form of its own.
  private var wellKnown: WellKnownKind? {
    let type: MessageType? =
      switch self {
      case .text, .untyped: nil
      case .message(let type): type
      case .field(let field, _, _): field.isMap ? nil : field.messageType
      }
    return (try? type?.wellKnown()) ?? nil
  }

  // MARK: Operands

  /// How an operand is read.
  private enum Form {
    /// Text up to the end of the condition, or a string of JSON.
    case text
    /// A name or a number of an enum.
    case name
    /// JSON, or a word that is text, such as a time.
    case word
    case json
  }

  /// How the operand is read that a value is compared with.
  private var form: Form {
    switch self {
    case .text: .text
    case .untyped: .word
    case .message(let type): Self.form(type)
    case .field(let field, _, let isElement): field.isRepeated && !isElement ? .json : Self.form(field)
    }
  }

  private static func form(_ field: Field) -> Form {
    if let type = field.messageType { return form(type) }
    return switch field.kind {
    case .string, .bytes: .text
    case .enumeration: .name
    default: .word
    }
  }

  private static func form(_ type: MessageType) -> Form {
    switch try? type.wellKnown() {
    case .wrapper: (try? type.field(named: "value")).map(form) ?? .word
    case nil, .any, .structure, .listValue: .json
    default: .word
    }
  }

  /// Reads an operand.
  ///
  /// - Parameters:
  ///   - operand: The operand.
  ///   - isList: Whether it is about a list of values of the type.
  ///   - isPart: Whether it is a part of the value, which is one element of a list, or several.
  func read(
    _ operand: Operand, isList: Bool, isPart: Bool
  ) throws(LanguageError) -> (JSONValue, ComparisonRules) {
    var form = isList ? .json : form
    // A part of one value is text.
    let isText = isPart && form == .name
    if isPart, form == .json, operand.json.utf8.first != UInt8(ascii: "[") {
      if case .listValue? = wellKnown {
        form = .word
      } else if case .field(let field, _, _) = self, !field.isMap {
        form = Self.form(field)
      }
    }
    switch form {
    case .text: return (try operand.plain(), .exact)
    case .name:
      let name = try operand.plain()
      if case .string(let text) = name, Int32(text) != nil, !isText { return (.number(text), .exact) }
      return (name, .exact)
    case .word, .json: return try Self.json(operand, isWord: form == .word)
    }
  }

  /// Reads JSON with the rules that may follow it.
  private static func json(
    _ operand: Operand, isWord: Bool
  ) throws(LanguageError) -> (JSONValue, ComparisonRules) {
    var json = operand.json[...]
    let rules = try ComparisonRules(removedFrom: &json)
    guard let first = json.utf8.first else {
      throw LanguageError("missing value", hint: "such as 3, Ada or {\"id\":3}")
    }
    do throws(MessageParseError) {
      return (try JSONValue(parsing: Array(json.utf8)), rules)
    } catch {
      if isWord, !"\"[{".utf8.contains(first) { return (.string(String(json)), rules) }
      throw LanguageError("\(String(json).cut(toBytes: 200)) is not JSON: \(error.message)", hint: error.hint)
    }
  }

  // MARK: Literals

  /// A literal in the form in which a message with this value prints it, and as a value that can have an order.
  ///
  /// - Parameters:
  ///   - literal: The literal.
  ///   - options: How the message prints it.
  /// - Throws: ``LanguageError`` if it is not a value of the type.
  func normal(
    _ literal: JSONValue, _ options: JSONEncodingOptions
  ) throws(LanguageError) -> (json: JSONValue, comparable: ComparableValue?) {
    // A value that is not set.
    if literal == .null { return (.null, nil) }
    do {
      switch self {
      case .text, .untyped: return (literal, ComparableValue(literal))
      case .message(let type):
        let message = try Message(
          type, json: Array(literal.text.utf8), options: JSONDecodingOptions(allowPartial: true))
        return (try JSONValue(parsing: message.json(options: options)), ComparableValue(message))
      case .field(let field, let type, let isElement):
        return try Self.normal(literal, field, of: type, isElement: isElement, options)
      }
    } catch FieldPathError.json(var error) {
      // An element is read as a list with this element.
      if case .field(_, _, true) = self, error.fieldPath.hasPrefix("[0]") {
        error.fieldPath = String(error.fieldPath.dropFirst(3).drop { $0 == "." })
      }
      throw LanguageError(error.message, hint: error.hint)
    } catch let error as MessageParseError {
      throw LanguageError(error.message, hint: error.hint)
    } catch {
      throw LanguageError("\(error)")
    }
  }

  private static func normal(
    _ literal: JSONValue, _ field: Field, of type: MessageType, isElement: Bool,
    _ options: JSONEncodingOptions
  ) throws -> (json: JSONValue, comparable: ComparableValue?) {
    var path = FieldPath(field)
    var message = Message(type)
    let text = isElement ? "[\(literal.text)]" : literal.text
    try message.setJSON(Array(text.utf8), at: path)
    if isElement { path = path.appending(.subscripted(.integer(0))) }
    let value = isElement || !field.isRepeated ? try message.value(at: path) : nil
    return (
      try JSONValue(parsing: message.json(at: path, options: options)), value.flatMap { ComparableValue($0) }
    )
  }

  // MARK: Parts

  /// The members of a value that a literal names, or all; `null` means that the value has no such member.
  ///
  /// - Parameters:
  ///   - literal: The literal.
  ///   - full: The literal as a message prints it, with the default values of all fields.
  ///   - isPart: Whether members that the literal does not name are omitted.
  ///   - isNear: Whether numbers are those of the literal: those of `full` have no fractions.
  func merge(_ literal: JSONValue, _ full: JSONValue, isPart: Bool, isNear: Bool) -> JSONValue {
    let merge = Merge(isPart: isPart, isNear: isNear)
    return switch self {
    case .text, .untyped: full
    case .message(let type): merge(literal, full, type, isMap: false)
    case .field(let field, _, _):
      merge(literal, full, field.mapValue.map(\.messageType) ?? field.messageType, isMap: field.isMap)
    }
  }
}

/// A literal and the same as a message prints it.
private struct Merge {
  let isPart: Bool
  let isNear: Bool

  func callAsFunction(
    _ literal: JSONValue, _ full: JSONValue, _ type: MessageType?, isMap: Bool
  ) -> JSONValue {
    switch (literal, full) {
    case (.number, .number) where isNear: return literal
    case (.array(let literals), .array(let values)) where literals.count == values.count:
      return .array(zip(literals, values).map { self($0, $1, type, isMap: false) })
    case (.object(let members), .object(let all)):
      guard isMap || type.map(Self.hasFields) == true else { return full }
      let type = isMap ? type : Self.content(type, of: full)
      let fields: [Field?] = members.map { member in
        isMap ? nil : type.flatMap { Self.field(member.name, of: $0) }
      }
      let named = zip(members, fields).map { member, field in
        JSONValue.Member(name: field?.jsonName ?? member.name, value: member.value)
      }
      let merged = zip(JSONComparison.pairs(named, all), fields).map { pair, field in
        JSONValue.Member(name: pair.name, value: value(pair, field, type, isMap: isMap))
      }
      guard !isPart else { return .object(merged) }
      return .object(
        JSONComparison.pairs(all, merged).prefix(all.count).map { pair in
          JSONValue.Member(name: pair.name, value: pair.got ?? pair.expected ?? .null)
        })
    default: return full
    }
  }

  /// The value of a member that the literal has.
  private func value(
    _ member: JSONComparison.Pair, _ field: Field?, _ type: MessageType?, isMap: Bool
  ) -> JSONValue {
    let literal = member.expected ?? .null
    // A message prints each field that the literal sets; only `null` clears one.
    guard let full = member.got else { return literal }
    // An empty map is expected: an empty object is a part of each object.
    if isPart, literal == .null, field?.isMap == true { return .array([]) }
    let inner = isMap ? type : field?.mapValue.map(\.messageType) ?? field?.messageType
    return self(literal, full, inner, isMap: field?.isMap == true)
  }

  /// Whether the JSON form of the type is an object with its fields, or with those of the content of an Any.
  private static func hasFields(_ type: MessageType) -> Bool {
    switch try? type.wellKnown() {
    case .any?, nil: true
    default: false
    }
  }

  /// The type itself; for an Any, that of its content.
  private static func content(_ type: MessageType?, of json: JSONValue) -> MessageType? {
    guard case .any? = try? type?.wellKnown(), case .string(let url)? = json["@type"] else { return type }
    let name = url.lastIndex(of: "/").map { url[url.index(after: $0)...] } ?? url[...]
    return try? type?.relative(named: String(name))
  }

  private static func field(_ name: String, of type: MessageType) -> Field? {
    if name.hasPrefix("["), name.hasSuffix("]") {
      return try? type.relativeExtension(named: String(name.dropFirst().dropLast()))
    }
    return try? type.field(named: name)
  }
}

extension MessageType {
  /// Whether it is `google.protobuf.BytesValue`.
  fileprivate var isWrapperOfBytes: Bool {
    guard case .wrapper? = try? wellKnown() else { return false }
    return (try? field(named: "value"))?.kind == .bytes
  }

  /// Whether messages can contain numbers.
  fileprivate var hasNumbers: Bool {
    var types = [self]
    var seen: Set<String> = []
    while let type = types.popLast() {
      switch try? type.wellKnown() {
      case .any, .structure, .value, .listValue: return true
      case .timestamp, .duration, .fieldMask: continue
      case .wrapper, nil: break
      }
      guard seen.insert(type.name).inserted, let fields = try? type.fields() else { continue }
      for field in fields.map({ $0.mapValue ?? $0 }) {
        if field.isNumber { return true }
        if let type = field.messageType { types.append(type) }
      }
    }
    return false
  }
}

extension Field {
  /// Whether a value, or each element, is a number.
  fileprivate var isNumber: Bool {
    switch kind {
    case .bool, .string, .bytes, .enumeration, .message, .group: false
    default: true
    }
  }
}
