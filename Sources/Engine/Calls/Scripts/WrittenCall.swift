import RPCurlChain
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// A resolved call and what was given for it, to be written as a command of a program.
final class WrittenCall {
  // A class: the code that copies a struct with all options of a call would be 40 KB in each command that has it.
  let program: CallProgram
  let command: CommandID
  let settings: CallSettings
  /// The call's plan; nil if only the server has the schema.
  let plan: CallPlan?
  let name: MethodName
  let isTLS: Bool
  /// The options that apply: the last of an option with one value, and all of one that repeats. Those that concern
  /// only `--explain` are not part.
  let arguments: [Argument]
  /// The values of `-d`.
  let data: [String]
  /// The messages, if the program needs them; nil otherwise.
  let messages: [Message]?
  /// What `--proto` names; nil if the program does not read it, or if it is not given.
  let sources: WrittenSources?
  var secrets: WrittenSecrets
  /// What the program lacks.
  var missing: [String] = []

  /// - Throws: `Failure` if the messages are needed and invalid, or if the schema is needed and not known.
  init(
    _ program: CallProgram, _ command: Invocation, _ resolved: ResolvedCall, _ known: KnownSecrets,
    _ error: StandardError
  ) throws(Failure) {
    self.program = program
    self.command = command.command
    settings = resolved.settings
    plan = resolved.plan
    name = resolved.plan?.name ?? resolved.settings.name
    isTLS = settings.target.isTLS
    arguments = Self.applying(command.arguments)
    data = command.data
    secrets = settings.written
    secrets.known = known
    for (name, value) in settings.expansion?.secrets ?? [:] { secrets.known.add([value], ofVariable: name) }
    let readsSources = program == .buf || program == .grpcurl && command.descriptorSets.isEmpty
    sources =
      readsSources
      ? try WrittenSources(
        command, declaring: name.service, in: resolved.plan?.pool, directoryLimit: program == .buf ? 1 : .max,
        error)
      : nil
    let needsSchema = program != .rpcurl && name.service.isEmpty
    guard program.readsData(command) || needsSchema else {
      messages = nil
      return
    }
    guard let plan = resolved.plan else {
      throw Failure(
        .schema, "--explain --format \(program.rawValue)",
        "the schema is not known, and --explain does not contact the server",
        hint: "make the call once, or use --descriptor-set FILE or --proto FILE")
    }
    guard program.readsData(command) else {
      messages = nil
      return
    }
    var messages: [Message] = []
    for source in plan.sources {
      for message in try source.messages(waitLimit: plan.settings.timeout) {
        messages.append(try message.message(for: plan))
      }
    }
    self.messages = messages
  }

  /// The arguments that apply.
  private static func applying(_ given: [Argument]) -> [Argument] {
    let relevant = given.filter { argument in
      argument.id != .explain && OptionTable[argument.id].group != .configuration && !isContentType(argument)
        && (argument.id != .format || CallProgram(rawValue: argument.string ?? "") == nil)
    }
    return relevant.indices.filter { index in
      let argument = relevant[index]
      let option = OptionTable[argument.id]
      if case .count = option.kind { return argument.value == .flag(true) }
      return option.repeats || !relevant[(index + 1)...].contains { $0.id == argument.id }
    }.map { relevant[$0] }
  }

  /// Whether an argument is a header that the call sends anyway, so that it has no effect.
  private static func isContentType(_ argument: Argument) -> Bool {
    OptionTable[argument.id].isHeader
      && argument.text?.parted(at: ":").before.lowercased() == HeaderSyntax.contentType
  }

  /// The last value of an option.
  func text(_ id: OptionID) -> String? { arguments.last { $0.id == id }?.string }

  /// Whether a flag is on.
  func has(_ id: OptionID) -> Bool { arguments.last { $0.id == id }?.value == .flag(true) }

  /// Whether an option is given.
  func isGiven(_ id: OptionID) -> Bool { arguments.contains { $0.id == id } }

  /// The messages as JSON, one per line, in which variables are in place of secrets.
  func json() throws(Failure) -> ShellText? {
    guard let messages else { return nil }
    let text: String
    do throws(DecodeError) {
      text = try messages.map { (message) throws(DecodeError) in
        String(decoding: try message.json(), as: UTF8.self)
      }.joined(separator: "\n")
    } catch {
      throw Failure(.input, "-d", error.description)
    }
    return try data(text)
  }

  /// Whether a text has a known secret, in any form.
  func hasSecret(_ text: String) -> Bool { !secrets.showsSecrets && secrets.known.apply(text) != text }

  /// JSON in which variables are in place of known secrets.
  ///
  /// - Throws: `Failure` if it has a secret in another form.
  func data(_ json: String) throws(Failure) -> ShellText {
    guard hasSecret(json) else { return ShellText(json) }
    let data = secrets.replacingKnown(in: ShellText(json), isJSON: true)
    guard data.allTexts({ !hasSecret($0) }) else { throw showsSecret }
    return data
  }

  /// The error of data whose form has no place for a variable.
  var showsSecret: Failure {
    Failure(
      .usage, "--explain --format \(program.rawValue)", "the data of the command has a secret value",
      hint: "--format sh prints a command of rpcurl without it; --show-secrets shows it")
  }

  // MARK: Words

  /// The words of an option in the command of a program that has it with the same value; nil for another one, which is noted
  /// if the program lacks it.
  func words(_ argument: Argument) -> [ShellText]? {
    let option = OptionTable[argument.id]
    guard argument.value != .flag(false), !option.expressed.contains(program.counterpart) else { return nil }
    guard option.same.contains(program.counterpart) else {
      if !option.isStandard(argument) { missing.append(shown(argument)) }
      return nil
    }
    let name = ShellText(program == .grpcurl ? option.grpcurlName : option.name)
    if case .duration(let duration) = argument.value { return [name, ShellText(Self.seconds(duration))] }
    return argument.text == nil ? [name] : [name, header(argument)]
  }

  /// The value of an option, without secrets.
  func value(_ argument: Argument) -> ShellText {
    let text = argument.text ?? ""
    // The program replaces the values.
    guard program != .rpcurl || template(argument) == nil else { return ShellText(text) }
    if OptionTable[argument.id].secrecy == .whole, let source = Self.elsewhere(text) { return source }
    let word = secrets.value(text, of: argument.id, argument.name)
    return secrets.hiding(word.map { ShellText($0) } ?? ShellText(text))
  }

  /// A header of an option: its line with the values of its template, of which the shell reads those of the environment;
  /// or the name of its file after `@`.
  func header(_ argument: Argument) -> ShellText {
    guard let template = template(argument), let values = settings.expansion?.values(isTyped: true) else {
      return value(argument)
    }
    return template.parts.reduce(ShellText("")) { text, part in
      switch part {
      case .text(let literal): text + ShellText(literal)
      case .value(.reference(.environment(let name))): text + .variable(name)
      case .value(let expression): text + shown(expression, values, in: argument)
      }
    }
  }

  /// The value of an expression; if it may be secret, a variable to set.
  private func shown(
    _ expression: Expression, _ values: FunctionValues, in argument: Argument
  ) -> ShellText {
    // The header was read already, so there is a value.
    let text = (try? values.value(of: expression))?.plainText ?? ""
    let name = String((argument.text ?? "").parted(at: ":").before)
    let isSecret = expression.readsElsewhere || secrets.names.contains(name)
    guard isSecret || settings.redaction.text(text) != text, !settings.output.showsSecrets else {
      return ShellText(text)
    }
    let placeholder = secrets.placeholder(name, "${\(expression)} of the header \(name)", for: text)
    return .variable(placeholder.name)
  }

  /// The template of a header; nil if its text is sent as it is.
  private func template(_ argument: Argument) -> Template? {
    guard settings.expansion != nil, OptionTable[argument.id].isHeader,
      let text = argument.text, text.contains("${"), !text.hasPrefix("@")
    else { return nil }
    return try? Template(parsing: text)
  }

  /// The `authorization` header of `--bearer`; nil if it is not given, or if a header takes precedence.
  func bearerHeader() -> ShellText? {
    guard let argument = arguments.last(where: { $0.id == .bearer }), let text = argument.text,
      !hasHeader("authorization")
    else { return nil }
    return "authorization: Bearer " + (Self.elsewhere(text) ?? value(argument))
  }

  /// The text for a shell that reads a value that is elsewhere; nil if it is literal.
  static func elsewhere(_ text: String) -> ShellText? {
    switch try? WholeValue(parsing: text) {
    case .literal, nil: nil
    case .file(let path): .output(of: "cat \(ShellText(path).quoted)")
    case .environment(let name): .variable(name)
    case .command(let words): .output(of: words.map { ShellText($0).quoted }.joined(separator: " "))
    }
  }

  /// Whether `-H` or `--rpc-header` sets a header.
  func hasHeader(_ name: String) -> Bool {
    arguments.contains { argument in
      (argument.id == .header || argument.id == .rpcHeader)
        && argument.text?.parted(at: ":").before.lowercased() == name
    }
  }

  /// The number of seconds of a duration, as a decimal fraction.
  static func seconds(_ duration: Duration) -> String {
    let milliseconds = max((duration + .microseconds(999)).milliseconds, 1)
    var text = "\(milliseconds / 1000)"
    guard milliseconds % 1000 > 0 else { return text }
    text += ".\(String(milliseconds % 1000 + 1000).dropFirst())"
    while text.hasSuffix("0") { text.removeLast() }
    return text
  }

  /// An argument in a comment, without secrets.
  func shown(_ argument: Argument) -> String {
    argument.text == nil ? Self.flag(argument) : "\(OptionTable[argument.id].name) \(value(argument).quoted)"
  }

  /// A flag as it is given: `--reflect`, `--no-reflect` or `--insecure=false`.
  static func flag(_ argument: Argument) -> String {
    let names = OptionTable[argument.id].names
    let name = OptionTable[argument.id].name
    if let level = argument.string {
      return level == OptionTable[argument.id].values.first ? name : "\(name)=\(level)"
    }
    guard argument.value == .flag(false) else { return name }
    return names.first { $0.hasPrefix("--no-") } ?? "\(name)=false"
  }

  /// Adds what has no counterpart, and the variables to set, to a script.
  func finish(_ script: CallScript) -> String {
    var script = script
    if let preparation = sources?.preparation { script.add(comment: preparation) }
    for text in missing { script.add(comment: "not in \(program.command): \(text)") }
    script.add(commentsFor: secrets.placeholders)
    return script.text
  }
}
