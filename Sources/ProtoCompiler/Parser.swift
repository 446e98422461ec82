/// Reads one file into the tables of the schema and of the file.
///
/// Each function reads one production and returns whether it could be read; after an error, the caller skips to the end of the
/// statement and goes on. The texts and places of errors are those of protoc.
struct Parser {
  var lexer: Lexer
  var names: Names
  var schema: Schema
  var report: Report
  var tables: FileTables
  let keepsLocations: Bool

  /// What the file declares itself as.
  enum Syntax {
    case proto2, proto3, editions
  }
  var syntax = Syntax.proto2
  private(set) var hasPackage = false
  /// How many imports of each kind the file has so far.
  private var importCounts: (normal: Int32, option: Int32, isPublic: Int32, isWeak: Int32) = (0, 0, 0, 0)
  /// How many more messages may be nested.
  var depth = Parser.depthLimit
  var upcomingLeading = ByteRange()
  var upcomingDetached: [ByteRange] = []

  /// Messages may be nested as deep as in protoc.
  static let depthLimit = 32

  var file: Handle { tables.file }

  var edition: Edition {
    get { schema.files[file].edition }
    set { schema.files[file].edition = newValue }
  }

  init(
    _ source: UnsafeBufferPointer<UInt8>, tables: FileTables, names: consuming Names,
    schema: consuming Schema,
    report: consuming Report, keepsLocations: Bool
  ) {
    lexer = Lexer(source)
    self.names = names
    self.schema = schema
    self.report = report
    self.tables = tables
    self.keepsLocations = keepsLocations
    self.tables.firstField = schema.fields.nextIndex
    self.tables.firstMethod = schema.methods.nextIndex
  }

  /// Reads the whole file.
  mutating func parse() {
    lexer.first(&names, keepsComments: keepsLocations)
    if keepsLocations {
      upcomingLeading = lexer.comments.leading
      upcomingDetached = lexer.comments.detached
    }
    reportProblems()
    let root = begin(.none)
    defer {
      end(root)
      if keepsLocations { tables.commentBytes = lexer.comments.bytes }
    }
    if at(.syntax) || at(.edition) {
      guard parseSyntax(root) else { return }
    }
    while !isAtEnd {
      guard !parseTopLevel(root) else { continue }
      skipStatement()
      if at("}") {
        error("Unmatched \"}\".")
        nextWithComments()
        upcomingLeading = lexer.comments.leading
        upcomingDetached = lexer.comments.detached
      }
    }
  }

  private mutating func parseSyntax(_ root: Handle) -> Bool {
    let location = begin(root, 12)
    defer { end(location) }
    tables.syntaxPlace = Place(token)
    let isEdition = take(.edition)
    if !isEdition { _ = take(.syntax) }
    guard consume("=") else { return false }
    let place = Place(token)
    guard let range = consumeString("Expected syntax identifier.") else { return false }
    guard consumeEnd(";", location) else { return false }
    let text = String(decoding: tables.texts[range.range], as: UTF8.self)
    if isEdition {
      guard let found = Edition(text: text), found.rawValue != 0, found != .proto2, found != .proto3 else {
        report.add(
          "Unknown edition \"\(text)\".", at: place, in: tables.source,
          hint: "editions are 2023, 2024 and 2026")
        return false
      }
      syntax = .editions
      edition = found
      return true
    }
    guard text == "proto2" || text == "proto3" else {
      error(
        "Unrecognized syntax identifier \"\(text)\".  This parser only recognizes \"proto2\" and \"proto3\".",
        at: place)
      return false
    }
    syntax = text == "proto3" ? .proto3 : .proto2
    edition = text == "proto3" ? .proto3 : .proto2
    return true
  }

  private mutating func parseTopLevel(_ root: Handle) -> Bool {
    depth = Parser.depthLimit
    if takeEnd(";", .none) { return true }
    var visibility = Visibility.unset
    if at(.export) || at(.local) {
      guard parseVisibility(&visibility) else { return false }
    }
    switch token.kind == .identifier ? Word(rawValue: token.name.id) : nil {
    case .message:
      let location = begin(root, 4, schema.files[file].messages.count)
      defer { end(location) }
      return parseMessage(in: .none, visibility, location)
    case .enum:
      let location = begin(root, 5, schema.files[file].enums.count)
      defer { end(location) }
      return parseEnum(in: .none, visibility, location)
    case .service:
      let location = begin(root, 6, schema.files[file].services.count)
      defer { end(location) }
      return parseService(location)
    case .extend:
      let location = begin(root, 7)
      defer { end(location) }
      return parseExtend(in: .none, root, location)
    case .import: return parseImport(root)
    case .package: return parsePackage(root)
    case .option:
      let location = begin(root, 8)
      defer { end(location) }
      return parseOption(of: fileSite(), location, isStatement: true)
    default:
      error("Expected top-level statement (e.g. \"message\").")
      return false
    }
  }

  private mutating func fileSite() -> Handle {
    if schema.files[file].declaration.site == .none {
      schema.files[file].declaration.site = tables.makeSite()
    }
    return schema.files[file].declaration.site
  }

  private mutating func parsePackage(_ root: Handle) -> Bool {
    if hasPackage { error("Multiple package definitions.") }
    hasPackage = true
    let location = begin(root, 2)
    defer { end(location) }
    tables.packagePlace = Place(token)
    advance()
    let first = tables.words.count
    repeat {
      guard token.kind == .identifier else {
        error("Expected identifier.")
        return false
      }
      tables.words.append(token.name)
      advance()
    } while take(".")
    tables.references.append(
      Reference(first: Int32(first), count: Int32(tables.words.count - first), isAbsolute: true))
    // The linker makes the symbol of the package from the reference.
    schema.files[file].package = tables.references.nextIndex - 1
    return consumeEnd(";", location)
  }

  private mutating func parseImport(_ root: Handle) -> Bool {
    let startToken = token
    advance()
    var new = ImportNode(name: .empty, place: Place(startToken))
    if at(.option) {
      if edition < .edition2024 { error("option import is not supported before edition 2024.") }
      new.isOption = true
    }
    let location = begin(
      root, new.isOption ? 15 : 3, new.isOption ? importCounts.option : importCounts.normal)
    defer { end(location) }
    start(location, at: startToken)
    if new.isOption {
      advance()
    } else if importCounts.option > 0 {
      error("imports should precede any option imports to ensure proto files can roundtrip.")
    }
    if !new.isOption, at(.public) || at(.weak) {
      new.isPublic = at(.public)
      new.isWeak = at(.weak)
      if new.isWeak, edition >= .edition2024 {
        error(
          "weak import is not supported in edition 2024 and above. Consider using option import instead.")
      }
      let modifier = begin(
        root, new.isPublic ? 10 : 11, new.isPublic ? importCounts.isPublic : importCounts.isWeak)
      advance()
      end(modifier)
    }
    guard let range = consumeString("Expected a string naming the file to import.") else { return false }
    new.name = intern(range)
    schema.files[file].imports.append(new)
    if new.isOption { importCounts.option += 1 } else { importCounts.normal += 1 }
    if new.isPublic { importCounts.isPublic += 1 }
    if new.isWeak { importCounts.isWeak += 1 }
    return consumeEnd(";", location)
  }

  mutating func intern(_ range: ByteRange) -> Name {
    tables.texts.withUnsafeBufferPointer { texts in
      guard let base = texts.baseAddress else { return .empty }
      return names.intern(base + range.range.lowerBound, Int(range.count))
    }
  }

  mutating func parseVisibility(_ visibility: inout Visibility) -> Bool {
    if edition <= .edition2023 { return true }
    visibility = at(.export) ? .export : .local
    advance()
    guard at(.message) || at(.enum) else {
      error("'local' and 'export' visibility modifiers are valid only on 'message' and 'enum'")
      return false
    }
    return true
  }
}

// MARK: Tokens

extension Parser {
  var token: Token { lexer.token }

  var isAtEnd: Bool { lexer.token.kind == .end }

  @inline(__always)
  func at(_ word: Word) -> Bool { lexer.token.name.id == word.rawValue }

  @inline(__always)
  func at(_ symbol: Unicode.Scalar) -> Bool { lexer.token.symbol == UInt8(truncatingIfNeeded: symbol.value) }

  @inline(__always)
  mutating func advance() {
    lexer.next(&names)
    if !lexer.problems.isEmpty { reportProblems() }
  }

  mutating func nextWithComments() {
    if keepsLocations { lexer.nextWithComments(&names) } else { lexer.next(&names) }
    if !lexer.problems.isEmpty { reportProblems() }
  }

  mutating func reportProblems() {
    for problem in lexer.problems {
      error(problem.text, at: Place(offset: UInt32(truncatingIfNeeded: problem.offset)))
    }
    lexer.problems.removeAll()
  }

  mutating func error(_ text: String, at place: Place? = nil) {
    report.add(text, at: place ?? Place(token), in: tables.source)
  }

  mutating func take(_ word: Word) -> Bool {
    guard at(word) else { return false }
    advance()
    return true
  }

  mutating func take(_ symbol: Unicode.Scalar) -> Bool {
    guard at(symbol) else { return false }
    advance()
    return true
  }

  mutating func consume(_ symbol: Unicode.Scalar, _ text: String? = nil) -> Bool {
    if take(symbol) { return true }
    error(text ?? "Expected \"\(symbol)\".")
    return false
  }

  mutating func consume(_ word: Word) -> Bool {
    if take(word) { return true }
    error("Expected \"\(word)\".")
    return false
  }

  mutating func consumeIdentifier(_ text: @autoclosure () -> String) -> Name? {
    guard token.kind == .identifier else {
      error(text())
      return nil
    }
    let name = token.name
    advance()
    return name
  }

  /// The bytes of the current token.
  var tokenBytes: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: lexer.base + token.start, count: token.end - token.start)
  }

  /// Reads an integer; one that is out of range is an error and 0.
  mutating func consumeInteger(limit: UInt64 = 0x7fff_ffff, _ text: @autoclosure () -> String) -> UInt64? {
    guard token.kind == .integer else {
      error(text())
      return nil
    }
    let value = Literals.integer(tokenBytes, limit: limit)
    if value == nil { error("Integer out of range.") }
    advance()
    return value ?? 0
  }

  mutating func consumeSignedInteger(_ text: @autoclosure () -> String) -> Int32? {
    let isNegative = take("-")
    guard let value = consumeInteger(limit: isNegative ? 0x8000_0000 : 0x7fff_ffff, text()) else {
      return nil
    }
    return Int32(truncatingIfNeeded: isNegative ? -Int64(value) : Int64(value))
  }

  mutating func consumeNumber(_ text: String) -> Double? {
    var value = 0.0
    switch token.kind {
    case .float: value = Literals.float(tokenBytes) ?? 0
    case .integer:
      if let integer = Literals.integer(tokenBytes, limit: .max) {
        value = Double(integer)
      } else if tokenBytes.first != UInt8(ascii: "0"), let float = Literals.float(tokenBytes) {
        value = float
      } else {
        error("Integer out of range.")
      }
    case .identifier where at(.inf): value = .infinity
    case .identifier where at(.nan): value = .nan
    default:
      error(text)
      return nil
    }
    advance()
    return value
  }

  /// Reads adjacent strings as one.
  mutating func consumeString(_ text: @autoclosure () -> String) -> ByteRange? {
    guard token.kind == .string else {
      error(text())
      return nil
    }
    let start = tables.texts.count
    while token.kind == .string {
      Literals.appendString(tokenBytes, to: &tables.texts)
      advance()
    }
    return ByteRange(from: start, to: tables.texts.count)
  }

  /// Reads the end of a statement or the beginning of a block, whose comments belong to the location.
  mutating func takeEnd(_ symbol: Unicode.Scalar, _ location: Handle) -> Bool {
    guard at(symbol) else { return false }
    nextWithComments()
    guard keepsLocations else { return true }
    let leading = upcomingLeading
    upcomingLeading = lexer.comments.leading
    if location != .none {
      attach(leading, upcomingDetached, to: location)
      upcomingDetached = lexer.comments.detached
    } else if symbol == "}" {
      upcomingDetached = lexer.comments.detached
    } else {
      upcomingDetached += lexer.comments.detached
    }
    return true
  }

  private mutating func attach(_ leading: ByteRange, _ detached: [ByteRange], to location: Handle) {
    let trailing = lexer.comments.trailing
    if leading.isEmpty, trailing.isEmpty, detached.isEmpty { return }
    tables.comments.append(LocationComments(leading: leading, trailing: trailing, detached: detached))
    tables.locations[location].comments = tables.comments.nextIndex - 1
  }

  mutating func consumeEnd(_ symbol: Unicode.Scalar, _ location: Handle) -> Bool {
    if takeEnd(symbol, location) { return true }
    error("Expected \"\(symbol)\".")
    return false
  }

  mutating func skipStatement() {
    while !isAtEnd {
      if takeEnd(";", .none) { return }
      if take("{") { return skipBlock() }
      if at("}") { return }
      advance()
    }
  }

  private mutating func skipBlock() {
    var depth = 1
    while !isAtEnd {
      if takeEnd("}", .none) {
        depth -= 1
        if depth == 0 { return }
      } else if take("{") {
        depth += 1
      }
      advance()
    }
  }

  // MARK: Locations

  /// Begins a location at the current token.
  @inline(__always)
  mutating func begin(_ parent: Handle, _ first: Int32 = -1, _ second: Int32 = -1) -> Handle {
    guard keepsLocations else { return .none }
    tables.locations.append(
      Location(
        parent: parent, first: first, second: second, startLine: token.line, startColumn: token.column))
    return tables.locations.nextIndex - 1
  }

  /// Ends a location after the last token.
  @inline(__always)
  mutating func end(_ location: Handle) {
    guard location != .none, tables.locations[location].endLine < 0 else { return }
    end(location, at: lexer.previous)
  }

  mutating func start(_ location: Handle, at token: Token) {
    guard location != .none else { return }
    tables.locations[location].startLine = token.line
    tables.locations[location].startColumn = token.column
  }

  mutating func end(_ location: Handle, at token: Token) {
    guard location != .none else { return }
    tables.locations[location].endLine = token.line
    tables.locations[location].endColumn = token.endColumn
  }

  /// A location that is one token.
  mutating func mark(_ parent: Handle, _ first: Int32, at token: Token) {
    let location = begin(parent, first)
    start(location, at: token)
    end(location, at: token)
  }
}
