import RPCurlProtobuf

/// Parses templates and expressions.
struct TemplateParser {
  /// The deepest nesting of calls.
  private static let depthLimit = 100

  private let text: [UInt8]
  private(set) var position: Int
  /// How deep the text is nested in others.
  private let depth: Int

  init(_ text: [UInt8], at position: Int = 0, depth: Int = 0) {
    self.text = text
    self.position = position
    self.depth = depth
  }

  /// Parses a whole template.
  mutating func template() throws(LanguageError) -> [Template.Part] {
    var parts: [Template.Part] = []
    var literal: [UInt8] = []
    while let byte = next {
      if starts(with: "$${") {
        literal += "${".utf8
        position += 3
      } else if starts(with: "${") {
        if !literal.isEmpty { parts.append(.text(String(decoding: literal, as: UTF8.self))) }
        literal = []
        parts.append(.value(try braced()))
      } else {
        literal.append(byte)
        position += 1
      }
    }
    if !literal.isEmpty { parts.append(.text(String(decoding: literal, as: UTF8.self))) }
    return parts
  }

  /// Parses `${EXPRESSION}` at the position.
  mutating func braced() throws(LanguageError) -> Expression { try braced(depth: depth) }

  private mutating func braced(depth: Int) throws(LanguageError) -> Expression {
    position += 2
    let start = position
    let expression = try expression(depth: depth)
    skipBlanks()
    guard next == UInt8(ascii: "}") else {
      throw LanguageError(
        next == nil ? "${ has no closing }" : "unexpected \(rest.quotedStart) in ${\(excerpt(from: start))",
        hint: Self.hint)
    }
    position += 1
    return expression
  }

  /// Parses `name` and a path after it, as in the short form `$name.path`; nil if there is no name. A full stop at the end
  /// is not a part of it.
  mutating func shortReference() throws(LanguageError) -> Expression? {
    guard let name = name() else { return nil }
    return try elements(of: reference(name), depth: depth)
  }

  static let hint = "write ${NAME}, ${env.NAME}, or one of ${\(forms)}; $${ is a literal ${"
  private static let forms = Function.allCases.map(\.form).joined(separator: "}, ${")

  // MARK: Expressions

  private mutating func expression(depth: Int) throws(LanguageError) -> Expression {
    guard depth < Self.depthLimit else { throw Self.tooDeep }
    skipBlanks()
    let start = position
    guard let first = next else { throw LanguageError("${ has no closing }", hint: Self.hint) }
    switch first {
    case UInt8(ascii: "'"): return .literal(.string(try singleQuoted()))
    case UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "-"), 48...57:
      return try json(depth: depth)
    default: break
    }
    guard let name = name() else {
      throw LanguageError(
        "\(rest.quotedStart) is not the start of a value in ${\(excerpt(from: start))", hint: Self.hint)
    }
    if next == UInt8(ascii: "(") { return try call(name, depth: depth) }
    if let constant = ["true": JSONValue.bool(true), "false": .bool(false), "null": .null][name] {
      return .literal(constant)
    }
    return try elements(of: reference(name), depth: depth)
  }

  /// Parses the keys after a reference that are expressions, and the paths after them.
  private mutating func elements(of reference: Reference, depth: Int) throws(LanguageError) -> Expression {
    var expression = Expression.reference(reference)
    // Each key makes the expression deeper.
    var depth = depth
    while starts(with: "[${") {
      depth += 1
      guard depth < Self.depthLimit else { throw Self.tooDeep }
      guard reference.appending([]) != nil else { throw LanguageError("\(reference) has no elements") }
      position += 1
      let start = position
      let key = try braced(depth: depth)
      guard skip("]") else { throw LanguageError("missing ] after \(excerpt(from: start))") }
      expression = .element(of: expression, key: key, try path(after: ""))
    }
    return expression
  }

  private static let tooDeep = LanguageError("expressions are nested more than 100 deep")

  private mutating func call(_ name: String, depth: Int) throws(LanguageError) -> Expression {
    guard let function = Function(rawValue: name) else {
      let nearest = DescriptorPool.nearestNames(to: name, among: Function.allCases.map(\.rawValue))
      throw LanguageError(
        "\(name) is not a function",
        hint: name == "env"
          ? "write ${env.NAME}"
          : nearest.isEmpty ? Self.hint : "did you mean \(nearest.joined(separator: ", or "))?")
    }
    position += 1
    var arguments: [Expression] = []
    skipBlanks()
    while next != UInt8(ascii: ")") {
      if !arguments.isEmpty {
        guard next == UInt8(ascii: ",") else { throw invalid(function) }
        position += 1
        skipBlanks()
      }
      arguments.append(
        function.isWord(at: arguments.count)
          ? .literal(.string(try word())) : try expression(depth: depth + 1))
      skipBlanks()
    }
    position += 1
    guard function.argumentCounts.contains(arguments.count) else { throw invalid(function) }
    try function.check(arguments)
    return .call(function, arguments)
  }

  private func invalid(_ function: Function) -> LanguageError {
    LanguageError("invalid arguments of \(function.rawValue)", hint: "write ${\(function.form)}")
  }

  // MARK: References

  /// Parses what follows the first name of a reference.
  private mutating func reference(_ name: String) throws(LanguageError) -> Reference {
    switch Reference.Root(rawValue: name) {
    case .env:
      guard skip("."), let variable = self.name() else {
        throw LanguageError("env has no name of a variable", hint: "write ${env.NAME}")
      }
      return .environment(variable)
    case .row: return .row(try path(after: ""))
    case .last: return .last(try callValue(CallValue.Word.ofLast))
    case .request: return .request(try callValue(CallValue.Word.ofRequest))
    case nil:
      guard let path = try path(after: name) else { throw LanguageError("\(name) is not a name") }
      return .variable(path)
    }
  }

  /// - Parameter words: The names that are properties of the call, and not fields of its message.
  private mutating func callValue(_ words: [CallValue.Word]) throws(LanguageError) -> CallValue {
    let start = position
    if skip("."), let word = name().flatMap(CallValue.Word.init), words.contains(word) {
      switch word {
      case .status where !continuesPath: return .status
      case .method where !continuesPath: return .method
      case .count where !continuesPath: return .count
      case .header where next == UInt8(ascii: "."): return .header(try headerName())
      case .trailer where next == UInt8(ascii: "."): return .trailer(try headerName())
      case .detail where continuesPath: return try detail()
      default: break
      }
    }
    position = start
    if let number = messageNumber() { return .message(number: number, path: try path(after: "")) }
    return .message(number: nil, path: try path(after: ""))
  }

  /// Whether a path continues here. A full stop without a name after it ends a sentence.
  private var continuesPath: Bool {
    next == UInt8(ascii: "[") && !starts(with: "[${")
      || next == UInt8(ascii: ".") && position + 1 < text.count
        && (Self.isNamePart(text[position + 1]) || text[position + 1] == UInt8(ascii: "["))
  }

  /// Parses `[N]` after `last`.
  private mutating func messageNumber() -> Int? {
    guard next == UInt8(ascii: "["), let end = text[position...].firstIndex(of: UInt8(ascii: "]")),
      let number = Int(String(decoding: text[(position + 1)..<end], as: UTF8.self))
    else { return nil }
    position = end + 1
    return number
  }

  private mutating func headerName() throws(LanguageError) -> String {
    position += 1
    let start = position
    while let byte = next, Self.isNamePart(byte) || byte == UInt8(ascii: "-") { position += 1 }
    guard position > start else {
      throw LanguageError("missing name of a header", hint: "such as ${last.header.x-id}")
    }
    return String(decoding: text[start..<position], as: UTF8.self).lowercased()
  }

  /// Parses `.TYPE` or `[pkg.TYPE]`, and the path after it.
  private mutating func detail() throws(LanguageError) -> CallValue {
    let type: String
    if skip("["), let name = fullName(), skip("]") {
      type = name
    } else if skip("."), let name = name() {
      type = name
    } else {
      throw LanguageError("missing type of a detail", hint: "such as ${last.detail.ErrorInfo.reason}")
    }
    return .detail(type: type, path: try path(after: ""))
  }

  /// Parses the steps of a path.
  ///
  /// - Parameter name: The first step, which was parsed; empty if the path begins here.
  private mutating func path(after name: String) throws(LanguageError) -> FieldPath? {
    let start = position
    while continuesPath {
      if skip("[") {
        guard skipBrackets() else { throw LanguageError("missing ] in ${\(excerpt(from: start))") }
      } else {
        position += 1
        if next != UInt8(ascii: "[") { _ = self.name() }
      }
    }
    var steps = text[start..<position]
    if name.isEmpty, steps.first == UInt8(ascii: ".") { steps = steps.dropFirst() }
    guard !name.isEmpty || !steps.isEmpty else { return nil }
    let path = name + String(decoding: steps, as: UTF8.self)
    try FieldPath.refuseValues(in: path, hint: "a key that is a value has no quotes: ${last.labels[${KEY}]}")
    do throws(FieldPathError) {
      return try FieldPath(path)
    } catch {
      throw LanguageError(
        "\(path) is not a path: \(error)",
        hint: "such as ${user.items[0].name}")
    }
  }

  /// Skips the content of brackets and the closing one; returns false without one.
  private mutating func skipBrackets() -> Bool {
    var isQuoted = false
    while let byte = next {
      position += 1
      if byte == UInt8(ascii: "\\"), isQuoted { position += 1 }
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if byte == UInt8(ascii: "]"), !isQuoted { return true }
    }
    return false
  }

  // MARK: Literals

  /// Parses text in single quotes, in which `\'` and `\\` are escapes.
  private mutating func singleQuoted() throws(LanguageError) -> String {
    position += 1
    var content: [UInt8] = []
    while let byte = next, byte != UInt8(ascii: "'") {
      position += 1
      if byte == UInt8(ascii: "\\"), let escaped = next, escaped == byte || escaped == UInt8(ascii: "'") {
        position += 1
        content.append(escaped)
      } else {
        content.append(byte)
      }
    }
    guard next != nil else { throw LanguageError("missing closing '", hint: Self.hint) }
    position += 1
    return String(decoding: content, as: UTF8.self)
  }

  /// Parses a value of JSON, which may have expressions.
  private mutating func json(depth: Int) throws(LanguageError) -> Expression {
    let start = position
    var template: JSONTemplate?
    let hasEnd: Bool
    switch next {
    case UInt8(ascii: "\""):
      hasEnd = skipString()
      if hasEnd { template = try JSONTemplate(parsing: Array(text[start..<position]), depth: depth + 1) }
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      template = try JSONTemplate(in: text, at: &position, depth: depth + 1)
      hasEnd = template != nil
    default:
      while let byte = next, Self.isNamePart(byte) || "+-.".utf8.contains(byte) { position += 1 }
      hasEnd = true
    }
    guard hasEnd else { throw LanguageError("\(text[start...].quotedStart) has no end", hint: Self.hint) }
    if let template, !template.isLiteral { return .json(template) }
    do throws(MessageParseError) {
      return .literal(try JSONValue(parsing: Array(text[start..<position])))
    } catch {
      throw LanguageError("\(text[start...].quotedStart) is not JSON: \(error.message)", hint: error.hint)
    }
  }

  /// Skips a string of JSON; returns false if it has no end.
  private mutating func skipString() -> Bool {
    position += 1
    while let byte = next {
      position += 1
      if byte == UInt8(ascii: "\\") { position += 1 }
      if byte == UInt8(ascii: "\"") { return true }
    }
    return false
  }

  /// Parses a word up to a comma or the closing parenthesis, or quoted text.
  private mutating func word() throws(LanguageError) -> String {
    if next == UInt8(ascii: "'") { return try singleQuoted() }
    if next == UInt8(ascii: "\"") {
      let start = position
      guard skipString(), case .string(let word)? = try? JSONValue(parsing: Array(text[start..<position]))
      else {
        throw LanguageError("\(text[start...].quotedStart) is not a string of JSON", hint: Self.hint)
      }
      return word
    }
    let start = position
    while let byte = next, byte != UInt8(ascii: ")"), byte != UInt8(ascii: ","), byte != UInt8(ascii: "}") {
      position += 1
    }
    return String(decoding: Self.trimmed(text[start..<position]), as: UTF8.self)
  }

  private static func trimmed(_ word: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let start = word.drop(while: isBlank)
    return start.lastIndex { !isBlank($0) }.map { start[...$0] } ?? start.prefix(0)
  }

  private mutating func name() -> String? {
    let start = position
    guard let first = next, !(48...57).contains(first) else { return nil }
    while let byte = next, Self.isNamePart(byte) { position += 1 }
    return position > start ? String(decoding: text[start..<position], as: UTF8.self) : nil
  }

  /// The name of a type with its package.
  private mutating func fullName() -> String? {
    guard var full = name() else { return nil }
    while skip(".") {
      guard let part = name() else { return nil }
      full += ".\(part)"
    }
    return full
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "_"), 0x80...: true
    default: false
    }
  }

  // MARK: Bytes

  private var next: UInt8? { position < text.count ? text[position] : nil }
  private var rest: ArraySlice<UInt8> { text[min(position, text.count)...] }

  private func starts(with prefix: String) -> Bool { rest.starts(with: prefix.utf8) }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  private mutating func skipBlanks() {
    while next == UInt8(ascii: " ") || next == UInt8(ascii: "\t") { position += 1 }
  }

  private func excerpt(from start: Int) -> String {
    let part = text[start...].prefix(60)
    return String(decoding: part.prefix { $0 != UInt8(ascii: "}") }, as: UTF8.self) + "}"
  }
}

extension ArraySlice<UInt8> {
  /// The first characters, in quotes, for errors.
  fileprivate var quotedStart: String {
    isEmpty ? "the end" : JSONValue.quoted(String(decoding: prefix(20), as: UTF8.self))
  }
}

extension Expression {
  /// Parses `${EXPRESSION}` at a dollar sign.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - start: The index of the dollar sign.
  ///   - hasShortForm: Whether `$name.path` is an expression too.
  ///   - depth: How deep the text is nested in expressions.
  /// - Returns: The expression and its end; nil if none begins there.
  package static func parse(
    in text: [UInt8], at start: Int, hasShortForm: Bool, depth: Int = 0
  ) throws(LanguageError) -> (Expression, end: Int)? {
    guard !text[start...].starts(with: "${".utf8) else {
      var parser = TemplateParser(text, at: start, depth: depth)
      return (try parser.braced(), parser.position)
    }
    guard hasShortForm else { return nil }
    var parser = TemplateParser(text, at: start + 1)
    return try parser.shortReference().map { ($0, parser.position) }
  }
}
