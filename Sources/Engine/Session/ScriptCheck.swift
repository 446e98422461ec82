import RPCurlChain
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// Reads commands before the first of them runs, so that a mistake in the last one is found before the first call is made.
///
/// What values, pipes and the server decide is left to the run.
struct ScriptCheck {
  private let session: Session
  /// The settings, as far as they are known.
  private var state: SessionState
  private var schema: SessionSchema
  /// The variables that are set; nil if a command may have set others.
  private var variables: Set<String>?
  /// The response type of the last call; nil if it is not known.
  private var response: MessageType?
  /// The response type of the stream that `receive` waits for; nil if it is not known.
  private var selected: MessageType?
  /// The response types of all streams, by number; nil if a command may have opened others.
  private var streams: [MessageType?]?
  /// Whether names are looked up in a schema of files.
  private let readsSchema: Bool
  /// Whether a row is given.
  private var hasRow = false
  /// The files that commands write.
  private var written: Set<String> = []
  /// The scripts that are being read, the innermost last.
  private var scripts: [String] = []
  /// Whether the session has ended.
  private var hasEnded = false

  /// Begins with the settings and variables of a session.
  ///
  /// - Parameters:
  ///   - session: The session, which is not changed.
  ///   - names: Variables that it will have.
  ///   - readsSchema: Whether names are looked up in a schema of files.
  init(_ session: Session, variables names: some Sequence<String> = [], readsSchema: Bool = true) {
    (self.session, state, schema) = (session, session.state, session.schema)
    self.readsSchema = readsSchema
    variables = Set(session.bindings.names).union(names)
    var streams = [MessageType?](repeating: nil, count: session.streams.nextNumber - 1)
    for stream in session.streams.all { stream.number.map { streams[$0 - 1] = stream.responseType } }
    self.streams = streams
  }

  /// The check of the run of a test: it begins with what is known now, and has a row if `rows` is a file.
  func ofTest(withRow hasRow: Bool) -> ScriptCheck {
    var check = self
    (check.hasRow, check.response) = (hasRow, nil)
    return check
  }

  /// The check after a step, whose settings end with it.
  func after(step: ScriptCheck) -> ScriptCheck {
    var check = step
    (check.state, check.schema) = (state, schema)
    return check
  }

  /// Checks a script.
  ///
  /// - Throws: `Failure` with the place of the first mistake.
  mutating func check(script path: String, _ text: [UInt8]) throws(Failure) {
    scripts.append(path)
    defer { scripts.removeLast() }
    var source = StatementSource(text)
    while !hasEnded, let statement = source.next() {
      do throws(Failure) { try check(statement.get()) } catch {
        throw error.prefixed(SessionPlace(path, line: source.line).description)
      }
    }
  }

  /// Checks a command.
  mutating func check(_ statement: SessionStatement) throws(Failure) {
    for value in statement.values { try check(value) }
    if let output = statement.output, let path = try literal(output) { written.insert(path) }
    let texts = try statement.options.map { (word) throws(Failure) in try literal(word) }
    // With values, the run decides.
    let options = texts.contains(nil) ? [] : try Session.callOptions(texts.compactMap(\.self))
    guard !statement.head.isEmpty else {
      selected = current
      return response = selected
    }
    let (name, rest) = SessionVerb.parts(of: statement.head)
    let verb = try Session.verb(String(name))
    guard !verb.arguments.isEmpty || rest.isEmpty else { throw Self.usage(verb) }
    if verb.endsSession { hasEnded = true }
    if verb.isCheck { return try check(condition: String(rest)) }
    if verb.name == "set" { return try checkSet(String(rest)) }
    if verb.isFreeForm {
      try check(verb, text: String(rest))
    } else {
      try check(verb, SessionWords.split(rest))
    }
    try checkFilter(options)
  }

  private static func usage(_ verb: SessionVerb) -> Failure {
    Failure(.usage, verb.name, "wrong usage", hint: verb.usage)
  }

  // MARK: Values

  private func check(_ value: SessionStatement.Value) throws(Failure) {
    switch value {
    case .json(let text):
      let template: JSONTemplate
      do throws(LanguageError) {
        template = try JSONTemplate(parsing: Array(text.utf8), hasShortForm: true)
      } catch {
        throw Failure(error)
      }
      try check(template.expressions)
    case .file(let word): if let path = try literal(word) { try check(file: path, .input) }
    }
  }

  /// The text of a word without values; nil with values, which are checked.
  private func literal(_ word: SessionWords.Word) throws(Failure) -> String? {
    if word.isLiteral { return word.text }
    let template = try session.bindings.template(word.text)
    try check(template.expressions)
    return template.literal
  }

  private func check(_ expressions: [Expression]) throws(Failure) {
    for expression in expressions {
      if case .reference(let reference) = expression { try check(reference) }
      try check(expression.parts)
    }
  }

  private func check(_ reference: Reference) throws(Failure) {
    switch reference {
    case .variable:
      guard let variables, !variables.contains(reference.name) else { return }
      let error = session.bindings.unknown(reference, among: variables.sorted())
      // The columns are those of a file that the run reads.
      let isNear = error.hint.map { $0.begins(with: "did you mean") || $0.begins(with: "write ") } ?? false
      guard hasRow, !isNear else { throw Failure(error) }
      throw Failure(
        LanguageError(error.reason, hint: "write ${row.\(reference.name)} for a value of the row"))
    case .environment, .row:
      if case .row = reference, hasRow { return }
      do throws(LanguageError) { _ = try session.bindings.value(of: reference) } catch {
        throw Failure(error)
      }
    case .last(.message(_, let path?)):
      guard let response, case .field? = path.steps.first else { return }
      try check(".\(path) exists", response, of: "\(reference)")
    case .last, .request: return
    }
  }

  /// Throws if a type lacks the path of a condition. The server may have more types of Any than the schema.
  private func check(_ text: String, _ type: MessageType, of what: String) throws(Failure) {
    do throws(LanguageError) {
      try Condition(parsing: text, statuses: .codes).check(against: type, files: NoGoldenFiles())
    } catch {
      guard UnresolvedName.all(inBracketsOf: text).isEmpty else { return }
      throw Failure(.input, what, error.reason, hint: error.hint)
    }
  }

  private func check(file path: String, _ status: ExitStatus) throws(Failure) {
    guard path != "-", !written.contains(path), access(path, R_OK) != 0 else { return }
    throw Failure(status, path, FileContents.lastError())
  }

  // MARK: Commands

  private func check(condition text: String) throws(Failure) {
    guard let named = CheckedStream(text) else { return try check(condition: text, of: response) }
    let name = try SessionWords.split(named.name).first.flatMap { word throws(Failure) in try literal(word) }
    try check(condition: named.check, of: name.flatMap(type(ofStream:)))
  }

  /// The response type of the stream that messages are sent to; nil if it may be one of several.
  private var current: MessageType? { streams?.count == 1 ? streams?[0] : nil }

  /// The response type of a stream; nil if it is not known.
  private func type(ofStream name: String) -> MessageType? {
    guard let streams, let number = Int(name), number > 0, number <= streams.count else { return nil }
    return streams[number - 1]
  }

  private func check(condition text: String, of response: MessageType?) throws(Failure) {
    let condition: Condition
    do throws(LanguageError) {
      condition = try Condition(parsing: text, hasShortForm: true)
    } catch {
      throw Failure(.input, "expect", error.reason, hint: error.hint)
    }
    // From the first connection on.
    if condition.isAboutCertificate { session.clients.reportsCertificates = true }
    try check(condition.expressions)
    let what = "expect \(condition.text)"
    if let path = condition.goldenPath, !session.goldenFiles.isUpdating, !session.goldenFiles.has(path) {
      throw Failure(.input, what, "\(path) does not exist", hint: "--update writes it")
    }
    guard let response, UnresolvedName.all(inBracketsOf: text).isEmpty else { return }
    do throws(LanguageError) {
      try condition.check(against: response, files: session.goldenFiles)
    } catch {
      throw Failure(.input, what, error.reason, hint: error.hint)
    }
  }

  private mutating func checkSet(_ rest: String) throws(Failure) {
    let name = rest.parted(at: "=").before
    guard let word = try SessionWords.split(name).first, let name = try literal(word) else {
      return variables = nil
    }
    do throws(LanguageError) { try Reference.check(variable: name) } catch {
      throw Failure(.usage, name, error)
    }
    variables?.insert(name)
  }

  private mutating func check(_ verb: SessionVerb, _ words: [SessionWords.Word]) throws(Failure) {
    var texts: [String?] = []
    for word in words { texts.append(try literal(word)) }
    let isHeader = verb.name == "unset" && words.first?.text == "header"
    let usage = verb.usage.split(separator: " ").dropFirst()
    let least = verb.saving == .withWords ? 0 : usage.count { !$0.hasPrefix("[") }
    // Options of a call follow its method.
    let most = verb.arguments.contains(.symbol) || verb.acceptsMessages ? Int.max : usage.count
    guard isHeader ? words.count == 2 : (least...most).contains(words.count) else { throw Self.usage(verb) }
    switch verb.subject {
    case .stream, .streams: check(verb, stream: texts.first)
    default: break
    }
    guard let first = texts.first else { return }
    let last = texts[texts.count - 1]
    switch verb.name {
    case "call", "open", "edit":
      try check(method: first)
      guard verb.subject == .newStream else { return }
      selected = response
      streams?.append(response)
    case "unset" where !isHeader:
      if let first, variables?.remove(first) == nil, variables != nil {
        try check(.variable(FieldPath(steps: [.field(first)])))
      }
    case "source": try check(source: last, keepsGoing: words.count > 1)
    case "save", "record": if let last { written.insert(last) }
    case "export": if let first { written.insert(first) }
    default: try check(verb, choice: first)
    }
  }

  /// Notes that the last call is a stream.
  ///
  /// - Parameters:
  ///   - verb: The command.
  ///   - name: The number or the name of the stream, nil with values; nil for the current one, or for all.
  private mutating func check(_ verb: SessionVerb, stream name: String??) {
    guard name != nil || verb.subject == .stream else { return }
    response = name.map { $0.flatMap(type(ofStream:)) } ?? current
    if verb.name == "switch" { selected = response }
  }

  private func check(_ verb: SessionVerb, choice: String?) throws(Failure) {
    guard case .choice(let names)? = verb.arguments.first, let choice, !names.contains(choice) else { return }
    guard let option = SessionState.settable.first(where: { $0.sessionVerb == verb.name }),
      option.values.count > 0
    else { throw Self.usage(verb) }
    _ = try SessionState.argument(option.id, choice)
  }

  private mutating func check(method text: String?) throws(Failure) {
    guard state.target != nil else { throw session.missingTarget(inScript: true) }
    response = nil
    guard let text else { return }
    let name = try Session.methodName(text)
    // A pipe is read once, by the run.
    guard readsSchema, !state.invocation.arguments.contains(where: \.isReadableOnce) else { return }
    response = try schema.known(name, state.invocation)?.output
  }

  /// Checks the fields that a call prints of its responses.
  private func checkFilter(_ options: [Argument]) throws(Failure) {
    let columns = try options.filter { $0.id == .filter }.map { (argument) throws(Failure) in
      (path: try FieldFilter.path(argument), argument: argument)
    }
    guard let response, !columns.isEmpty else { return }
    let settings = FieldFilter.Settings(
      columns: columns, missing: .fail, isRaw: options.contains { $0.id == .raw }, row: nil)
    do throws(Failure) { _ = try FieldFilter(settings, of: response) } catch {
      // The server may have more types of Any than the schema.
      if error.missingNames.isEmpty { throw error }
    }
  }

  private mutating func check(source path: String?, keepsGoing: Bool) throws(Failure) {
    guard let path, !keepsGoing, path != "-", !written.contains(path), !scripts.contains(path) else {
      (variables, response, selected, streams) = (nil, nil, nil, nil)
      return
    }
    try check(file: path, .usage)
    guard FileContents.isRegularFile(path) else { return variables = nil }
    try check(script: path, FileContents.input(path, status: .usage, waitLimit: nil))
  }

  // MARK: Settings

  private mutating func check(_ verb: SessionVerb, text: String) throws(Failure) {
    let template = try session.bindings.template(text)
    try check(template.expressions)
    switch verb.name {
    case "target":
      guard !text.isEmpty else { return }
      let typed = template.literal ?? "http://localhost"
      _ = try Target.parse(server: typed, state.invocation.tls)
      state.set(target: typed)
    case "header", "attribute": try checkPair(template, verb)
    case "repeat": response = nil
    case "use":
      guard let text = template.literal else { return }
      try check(interceptor: text)
    case "options": try check(options: SessionWords.split(text))
    case "sleep", "receive":
      if verb.subject == .receivingStream { response = selected }
      guard let text = template.literal else { return }
      let isValid = verb.name == "sleep" ? Value.duration(text) != nil : text.isEmpty || (Int(text) ?? 0) > 0
      guard isValid else { throw Self.usage(verb) }
    case "deadline":
      guard let text = template.literal, !text.isEmpty, text != "none" else { return }
      _ = try SessionState.argument(.maxTime, text)
    default: return
    }
  }

  private func checkPair(_ template: Template, _ verb: SessionVerb) throws(Failure) {
    guard !template.parts.isEmpty else { return }
    guard let (_, value) = template.split(at: verb.name == "header" ? ":" : "=") else {
      throw Self.usage(verb)
    }
    // `$name` is a reference if it is the whole value.
    if let literal = value.literal {
      let text = String(literal[...].withoutOuterSpace)
      let template: Template
      do throws(LanguageError) { template = try Template(literal: text).withShortForm() } catch {
        throw Failure(error)
      }
      try check(template.expressions)
    }
  }

  private mutating func check(options words: [SessionWords.Word]) throws(Failure) {
    var texts: [String] = []
    for word in words {
      guard let text = try literal(word) else {
        // The run decides, also which variables `--var` sets.
        (variables, schema) = (nil, SessionSchema(session.console.error))
        return
      }
      texts.append(text)
    }
    let invocation = Parser.parse(texts, as: .session)
    try Session.checkOptions(invocation)
    for variable in invocation.all(.variable) {
      let text = variable.text ?? ""
      guard text.begins(with: "@") else {
        variables?.insert(String(text.parted(at: "=").before))
        continue
      }
      for line in try OptionFile.lines(of: variable, option: variable.name, waitLimit: session.waitLimit) {
        variables?.insert(String(line.text.parted(at: "=").before))
      }
    }
    // Files of headers are read when they are set.
    try state.add(Invocation(.session, invocation.arguments.filter { $0.id != .header }))
    schema = SessionSchema(session.console.error)
  }

  private mutating func check(interceptor text: String) throws(Failure) {
    let values = SettingScanner.split(text).dropFirst().map { String($0.parted(at: "=").after ?? "") }
    // Values from elsewhere, and files that the script writes, are those of the run.
    let isElsewhere =
      text.contains("cmd:") || values.contains { $0.begins(with: "@") || written.contains($0) }
    written.formUnion(values)
    let argument = try SessionState.argument(.use, text)
    guard !isElsewhere, argument.writerOfFile == nil else { return }
    let setup = ChainSetup(session.console, verbosity: 0, waitLimit: session.waitLimit, isDry: true)
    let member = try ChainSource.member(.builtIn(text), setup)
    if member?.registration.factory.declaration.readsCertificates == true {
      session.clients.reportsCertificates = true
    }
  }
}
