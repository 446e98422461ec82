import ArgumentParser
import Protobuf

/// What the parser says of words that it does not take, as `WHAT: WHY` and a hint.
struct ParserMessage {
  private(set) var words: Failure.Words

  /// Reads the message of an error.
  ///
  /// - Parameters:
  ///   - type: The command that was parsed.
  ///   - arguments: The words that were parsed.
  ///   - command: How the command is called, for the hint.
  init(_ error: any Error, of type: any ParsableCommand.Type, _ arguments: [String], command: String) {
    let message = type.message(for: error)
    // What is missing may only be so because of a word that is wrong.
    let isMissing = message.hasPrefix("Missing expected argument") || message.hasPrefix("Missing one of")
    var words = isMissing ? Self.unknownOption(type, arguments) : nil
    if words == nil { words = Self.words(message) }
    self.words = words ?? Failure.Words(what: "usage", why: Self.sentence(message))
    if self.words.hint == nil { self.words.hint = "\(command) --help shows how it is called" }
  }

  /// Reads the message of an error in options that are not a command line of their own.
  init(_ error: any Error, of type: any ParsableArguments.Type) {
    let message = type.message(for: error)
    words = Self.words(message) ?? Failure.Words(what: "usage", why: Self.sentence(message))
  }

  // MARK: The messages of ArgumentParser's ErrorMessageGenerator

  private static func words(_ message: String) -> Failure.Words? {
    let line = sentence(message)
    if let (name, rest) = quoted(line, behind: "Unknown option '") {
      // Several flags of one letter in one word may be meant, which takes a sentence.
      if rest.hasPrefix(" or: ") { return nil }
      let nearest = quoted(rest, behind: ". Did you mean '")?.0
      return Failure.Words(what: name, why: "unknown option", hint: nearest.map { "did you mean \($0)?" })
    }
    if let (option, _) = quoted(line, behind: "Missing value for '") {
      return Failure.Words(what: bare(option), why: "its value is missing")
    }
    if let (argument, _) = quoted(line, behind: "Missing expected argument '") {
      return Failure.Words(what: bare(argument), why: "it is missing")
    }
    if let (argument, _) = quoted(line, behind: "Unexpected argument '") {
      return Failure.Words(what: argument, why: "unexpected argument")
    }
    if let list = line.firstRange(of: " unexpected arguments: '") {
      let arguments = line[list.upperBound...].dropLast()
      return Failure.Words(what: String(arguments.replacing("', '", with: " ")), why: "unexpected arguments")
    }
    if let (option, _) = quoted(line, behind: "The option '", to: "' does not take any value") {
      return Failure.Words(what: option, why: "it takes no value")
    }
    return invalidValue(message)
  }

  /// `The value 'soon' is invalid for '--max-time <duration>'`, and perhaps why.
  private static func invalidValue(_ message: String) -> Failure.Words? {
    guard let (value, rest) = quoted(message, behind: "The value '", to: "' is invalid for '"),
      let end = rest.firstIndex(of: "'")
    else { return nil }
    let place = rest[..<end]
    let reason = rest[rest.index(after: end)...]
    let name = place.firstIndex(of: "<").map { place[place.index(after: $0)...].dropLast() } ?? ""
    let option = place.hasPrefix("-") ? "\(bare(String(place))) " : ""
    var why = "not a valid \(name.isEmpty ? "value" : name)"
    if let (values, _) = quoted(String(reason), behind: ". Please provide one of ", to: nil) {
      // In one line, or when they are many each in one of its own.
      let many = values.split(separator: "\n").filter { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) }
      why = "not one of " + (many.isEmpty ? values : many.joined(separator: ", "))
      why = why.hasSuffix(".") ? String(why.dropLast()) : why
      why.removeAll { $0 == "'" }
    } else if reason.hasPrefix(": ") {
      why = String(reason.dropFirst(2))
    }
    return Failure.Words(what: option + value, why: why)
  }

  /// What stands behind `start` and before `end`, and the rest.
  private static func quoted(
    _ text: String, behind start: String, to end: String? = "'"
  ) -> (String, String)? {
    guard text.hasPrefix(start) else { return nil }
    let rest = text.dropFirst(start.count)
    guard let end else { return (String(rest), "") }
    guard let found = rest.firstRange(of: end) else { return nil }
    return (String(rest[..<found.lowerBound]), String(rest[found.upperBound...]))
  }

  /// `--max-time <duration>` without the value; `<target>` without the brackets.
  private static func bare(_ synopsis: String) -> String {
    if synopsis.hasPrefix("<") { return String(synopsis.dropFirst().prefix { $0 != ">" }) }
    return String(synopsis.prefix { $0 != " " })
  }

  /// All lines as one.
  private static func sentence(_ message: String) -> String {
    message.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(separator: " ")
  }

  // MARK: Unknown options

  /// The first word that is no option of the command, as far as its help tells.
  private static func unknownOption(
    _ type: any ParsableCommand.Type, _ arguments: [String]
  ) -> Failure.Words? {
    let arguments = arguments.prefix { $0 != "--" }
    var command = type
    for word in arguments {
      let named = command.configuration.subcommands.first { $0.configuration.commandName == word }
      if let named { command = named }
    }
    if let standard = command.configuration.defaultSubcommand { command = standard }
    let known = command.helpMessage(includeHidden: true)
      .split { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "." }
      .filter { $0.hasPrefix("--") }.map(String.init)
    let options = arguments.lazy.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
    guard let unknown = options.first(where: { !known.contains($0) }) else { return nil }
    let nearest = DescriptorPool.nearestNames(to: unknown, among: Array(Set(known)).sorted(), limit: 1).first
    return Failure.Words(what: unknown, why: "unknown option", hint: nearest.map { "did you mean \($0)?" })
  }

  // MARK: Help

  /// Checks that `help` names commands that there are.
  static func checkHelp(_ words: [String], of root: any ParsableCommand.Type) throws(Failure) {
    guard words.first == "help" else { return }
    var command = root
    for word in words.dropFirst() where !word.hasPrefix("-") {
      let names = command.configuration.subcommands.compactMap { $0.configuration.commandName }
      // Help of help.
      if word == "help" { return }
      guard
        let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
      else {
        let nearest = DescriptorPool.nearestNames(to: word, among: names, limit: 1).first
        throw Failure(
          .usage, "help \(word)", "there is no such command",
          hint: nearest.map { "did you mean \($0)?" }
            ?? (names.isEmpty ? nil : "there are \(names.joined(separator: ", "))"))
      }
      command = next
    }
  }
}
