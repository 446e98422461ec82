import RPCurlBase
import RPCurlProtobuf

extension LanguageCompletion {
  /// Completes a path of the messages that a scope is about.
  static func path(
    _ typed: Substring, _ scope: LanguageScope, end: String, isWritten: Bool = false
  ) -> LanguageCompletion {
    path(typed, in: scope.types, scope.last?.message, end: end, isWritten: isWritten)
  }

  /// Completes a path.
  ///
  /// - Parameters:
  ///   - typed: The path so far.
  ///   - types: The types of the messages.
  ///   - message: A message of one of the types, whose maps have keys.
  ///   - end: What follows a whole path.
  ///   - isWritten: Whether its value is written, so that lists are appended to.
  static func path(
    _ typed: Substring, in types: [MessageType], _ message: Message? = nil, end: String,
    isWritten: Bool = false
  ) -> LanguageCompletion {
    let start = startOfStep(in: typed)
    let (stem, partial) = (typed[..<start], String(typed[start...]))
    var candidates: [Candidate] = []
    for root in types {
      let message = message?.type.name == root.name ? message : nil
      let keys = { (path: Substring) in
        (try? FieldPath(String(path))).flatMap { try? message?.subscripts(at: $0) } ?? []
      }
      guard let type = messageType(at: stem, in: root) else {
        if isMap(stem.dropLast(), in: root) { candidates += names(keys(stem.dropLast()), end: end) }
        continue
      }
      let step = Step(partial: partial, end: end, isWritten: isWritten) { keys("\(stem)\($0)") }
      candidates += step.subscripted(in: type)
      if type.isAny {
        if !isWritten { candidates.append(Candidate("@type\(end)", "the type of the content")) }
      } else {
        for field in (try? type.fields()) ?? [] { candidates += step.candidates(field) }
      }
      candidates += step.brackets(of: type, after: "")
    }
    return LanguageCompletion(partial, candidates)
  }

  /// Whether a path leads to a map.
  private static func isMap(_ path: Substring, in type: MessageType) -> Bool {
    guard case .field(let field, _, false)? = try? FieldPath(String(path)).leaf(in: type) else {
      return false
    }
    return field.isMap
  }

  /// The keys that can follow a full stop.
  private static func names(_ keys: [FieldPath.Subscript], end: String) -> [Candidate] {
    keys.compactMap { key in
      guard case .string(let name) = key, (try? FieldPath(name))?.steps == [.field(name)] else { return nil }
      return Candidate("\(name)\(end)", "a key")
    }
  }

  /// The start of the last name of a path, with the brackets after it.
  private static func startOfStep(in path: Substring) -> Substring.Index {
    var rest = path
    while let stop = FieldPath.firstIndex(in: rest, where: { $0 == UInt8(ascii: ".") && !$1 }) {
      rest = rest[rest.utf8.index(after: stop)...]
    }
    return rest.startIndex
  }

  /// The type of the messages at a path that ends with a full stop; that of the whole message at the start of a path.
  private static func messageType(at stem: Substring, in type: MessageType) -> MessageType? {
    let path = stem.dropLast()
    guard !path.isEmpty else { return type }
    guard path.last != "." else { return nil }
    return (try? FieldPath(String(path)).messageType(in: type)) ?? nil
  }

  /// What a field is.
  static func note(_ field: Field) -> String {
    let type = field.messageType?.name ?? field.enumType?.name ?? field.kind.protoName
    return field.isMap ? "map" : field.isRepeated ? "repeated \(type)" : type
  }
}

/// The last step of a path.
private struct Step {
  typealias Candidate = LanguageCompletion.Candidate

  /// The step so far.
  let partial: String
  /// What follows a whole path.
  let end: String
  let isWritten: Bool
  /// The known keys of a map, by its name.
  let keys: (String) -> [FieldPath.Subscript]

  /// The ways to go on with a field.
  func candidates(_ field: Field) -> [Candidate] {
    let name =
      field.name.hasPrefix(partial) || !field.jsonName.hasPrefix(partial) ? field.name : field.jsonName
    guard case .field(name)? = (try? FieldPath(name))?.steps.first,
      !NameMatch.indices(of: prefix, in: [name]).isEmpty
    else { return [] }
    let note = LanguageCompletion.note(field)
    let inner = field.isMap ? field.mapValue?.messageType : field.messageType
    let continues = inner?.hasFields == true
    var found: [Candidate] = []
    if !isWritten || !field.isRepeated && !continues { found.append(Candidate(name + end, note)) }
    if field.isRepeated, !isWritten || !field.isMap && !continues {
      found.append(
        Candidate("\(name)[]\(end)", isWritten ? note : "each \(field.isMap ? "value" : "element")"))
    }
    if continues {
      let note =
        field.isRepeated ? "a field of each \(field.isMap ? "value" : "element")" : "a field of this message"
      found.append(Candidate(field.isRepeated ? "\(name)[]." : "\(name).", note))
    }
    if let key = field.mapKey {
      if partial.hasPrefix("\(name)[") {
        let keys = key.kind == .bool ? [.bool(false), .bool(true)] : keys(name)
        found += keys.map { Candidate("\(name)[\($0)]\(end)", "a key") }
      } else {
        found.append(Candidate(key.kind == .string ? "\(name)." : "\(name)[", "a value by its key"))
      }
    }
    if inner?.isAny == true, !field.isRepeated {
      found.append(Candidate("\(name)[", "the content, by its type"))
    }
    if let inner, !field.isRepeated { found += brackets(of: inner, after: name) }
    return found
  }

  /// What goes on after brackets.
  func subscripted(in type: MessageType) -> [Candidate] {
    guard partial.hasSuffix("]"), let path = try? FieldPath(partial), let leaf = try? path.leaf(in: type)
    else { return [] }
    let inner: MessageType? =
      switch leaf {
      case .message(let type): type
      case .field(let field, _, _): field.messageType
      case .dynamic: nil
      }
    return [Candidate(partial + end)]
      + (inner?.hasFields == true ? [Candidate("\(partial).", "a field of this message")] : [])
  }

  /// The extensions of a message type, or the types of the content of an Any. There may be many, so a bracket has to be
  /// typed.
  func brackets(of type: MessageType, after name: String) -> [Candidate] {
    guard partial.hasPrefix("\(name)[") else { return [] }
    if type.isAny {
      return type.relativeNames.map { Candidate("\(name)[type.googleapis.com/\($0)]\(end)") }
    }
    return type.extensions.map { field in
      let path = FieldPath(field)
      return Candidate(
        "\(name)\(path)\(field.isRepeated && isWritten ? "[]" : "")\(end)", LanguageCompletion.note(field))
    }
  }

  private var prefix: Substring { partial.prefix { $0 != "[" } }
}

extension MessageType {
  fileprivate var isAny: Bool { if case .any? = (try? wellKnown()) ?? nil { true } else { false } }

  /// Whether paths continue into messages of this type by the names of its fields.
  fileprivate var hasFields: Bool { (try? wellKnown()) == .some(nil) && (try? fields().isEmpty) == false }
}
