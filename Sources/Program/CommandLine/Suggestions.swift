import RPCurlBase

/// What was meant by a name that does not exist.
package enum Suggestions {
  // MARK: Options

  /// The error for an option with two dashes that a command does not have.
  static func unknown(_ name: String, _ command: CommandID, _ origin: Origin?) -> ParseError {
    if let error = ofOthers(name[...], name, command, origin) { return error }
    // One dash too many, which Go's flags accept.
    let short = name.unicodeScalars.count == 3 ? OptionTable.find(name.dropFirst(), command) : nil
    let near = short == nil ? nearest(to: name, command) : String(name.dropFirst())
    let hint = ForeignOptions.hint(name, command) ?? near.map { "did you mean \($0)?" }
    return ParseError(.unknownOption(name, hint: hint), origin)
  }

  /// The error for a letter, of an argument with one dash, that is not an option of a command.
  static func unknown(_ word: String, _ letter: Unicode.Scalar, _ command: CommandID, _ origin: Origin?)
    -> ParseError
  {
    let name = word.parted(at: "=").before
    let isFirst = word.unicodeScalars.dropFirst().first == letter
    guard name.utf8.count > 2 else {
      return ofOthers(name, String(name), command, origin)
        ?? ParseError(.unknownOption(String(name), hint: ForeignOptions.hint(String(name), command)), origin)
    }
    // A long option with one dash too few, or a flag that does not exist.
    let long = "-\(name)"
    if OptionTable.find(long[...], command) != nil {
      return ParseError(.unknownOption(String(name), hint: "did you mean \(long)?"), origin)
    }
    let near = nearest(to: long, command).map { "did you mean \($0)?" }
    if let hint = ForeignOptions.hint(long, command) ?? near {
      return ParseError(.unknownOption(String(name), hint: hint), origin)
    }
    // A word is not a letter with its value, as -XPOST is.
    let isWord =
      isFirst && name.unicodeScalars.dropFirst().allSatisfy { $0.properties.isLowercase || $0 == "-" }
    let hint = isWord ? nil : ForeignOptions.hint("-\(letter)", command)
    let what = isFirst ? String(name) : "-\(letter) in \(name)"
    return ParseError(.unknownOption(what, hint: hint), origin)
  }

  /// The error for an option of grpcurl's that no option stands for; nil if grpcurl has no such option either.
  static func grpcurl(_ name: Substring, _ command: CommandID, _ origin: Origin) -> ParseError? {
    if let option = OptionTable.all.first(where: { Option.has($0.grpcurlList, name) }) {
      return notOf(option, "-\(name)", command, origin)
    }
    guard let hint = ForeignOptions.grpcurl("-\(name)") else { return nil }
    return ParseError(.unknownOption("-\(name)", hint: hint), origin)
  }

  private static func ofOthers(_ name: Substring, _ text: String, _ command: CommandID, _ origin: Origin?)
    -> ParseError?
  {
    OptionTable.all.first { $0.isNamed(name) }.map { notOf($0, text, command, origin) }
  }

  private static func notOf(_ option: Option, _ text: String, _ command: CommandID, _ origin: Origin?)
    -> ParseError
  {
    let word = String(text.drop { $0 == "-" })
    if command == .call, text.begins(with: "--"), CommandTable.names.contains(word) {
      return ParseError(.unknownOption(text, hint: "it is a command: rpcurl \(word)"), origin)
    }
    let others = CommandID.allCases.filter { option.commands.contains(CommandSet($0)) }
    let names = others.prefix(2).map { CommandTable[$0].name }.joined(separator: " or ")
    return ParseError(
      .notOfCommand(option: text, command: CommandTable[command].name, others: names), origin)
  }

  /// The name of an option of a command that is near to `name`: one that begins with it, or differs in few letters.
  static func nearest(to name: String, _ command: CommandID) -> String? {
    let names = OptionTable.options(of: command).flatMap(\.names).filter { $0.hasPrefix("--") }
    if name.utf8.count > 4 {
      let longer = names.filter { $0.hasPrefix(name) }
      if longer.count == 1 { return longer[0] }
    }
    return EditDistance.nearest(to: name, among: names, limit: 1).first
  }

  /// The error for a long option with one dash whose letters can be read as another option with a value; nil for any
  /// other argument.
  static func missingDash(_ word: String, _ command: CommandID, _ origin: Origin) -> ParseError? {
    let name = word.parted(at: "=").before
    let long = "-\(name)"
    guard name.utf8.count > 3, OptionTable.find(long[...], command) != nil else { return nil }
    return ParseError(.unknownOption(String(name), hint: "did you mean \(long)?"), origin)
  }

  /// The error for an argument that begins with a dash of another kind, as word processors write it; nil for any other.
  static func otherDash(_ word: String, _ origin: Origin) -> ParseError? {
    guard let dash = word.unicodeScalars.first,
      "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}".unicodeScalars.contains(dash)
    else { return nil }
    let rest = word.unicodeScalars.drop { $0 == dash || $0 == "-" }
    let code = String(dash.value, radix: 16, uppercase: true)
    let dashes = rest.count > 1 ? "--" : "-"
    return ParseError(
      .unknownOption(
        word, hint: "it begins with U+\(code), which is not a hyphen: write \(dashes)\(Substring(rest))"),
      origin)
  }

  // MARK: Arguments

  /// What a pasted command line may begin with.
  package static let programs = ["$", "rpcurl", "grpcurl", "buf", "curl", "evans", "cli"]

  /// The hint for one that is given as the first argument.
  package static func omit(_ program: String) -> String {
    "omit \(program): the arguments begin after the program's name"
  }

  /// What to do about arguments that are more than a command has; nil if that is not known.
  static func unexpected(_ positionals: [Positional], from index: Int, _ command: CommandID) -> String? {
    let texts = positionals.map(\.text)
    let extra = texts[index]
    if extra.allSatisfy({ $0 == " " || $0 == "\\" }) {
      return "to continue a line, let \\ be its last character"
    }
    if command == .load, texts.contains(where: { Int($0) != nil }) {
      return "use --requests NUMBER: -n is --netrc, and has no value"
    }
    guard command == .call else { return nil }
    if programs.contains(texts[0]) {
      return omit(texts[0])
    }
    if extra.begins(with: "{") || extra.begins(with: "[") {
      return "write -d before the message: -d '\(extra)'"
    }
    if index > 1, extra.contains("="), !extra.contains("/") { return "a field is set by --set \(extra)" }
    if let setting = texts.first(where: { $0.contains("=") && !$0.contains("/") && !$0.contains("{") }) {
      return "\(setting) is not a target: a setting follows the interceptor's name and a comma, "
        + "as in --use retry,attempts=3"
    }
    if !texts[1].contains("/"), !extra.contains("/"),
      extra.unicodeScalars.first?.properties.isUppercase == true
    {
      return "did you mean \(texts[1])/\(extra)?"
    }
    return nil
  }

  // MARK: Commands

  /// The hint for a command that does not exist.
  static func command(_ name: String, among names: [String]) -> String {
    EditDistance.nearest(to: name, among: names, limit: 1).first.map { "did you mean \($0)?" }
      ?? "there are \(names.joined(separator: ", "))"
  }
}

/// The nearest command to a word that was given as the target.
extension CommandTable {
  /// The command that is near to `name`; nil if none is, or `name` is clearly something else.
  package static func nearest(to name: String) -> String? {
    guard !name.contains(where: { ".:/".contains($0) }) else { return nil }
    switch name {
    case "ls", "methods", "services": return "list"
    case "repl", "shell": return "session"
    default: break
    }
    let longer = names.filter { $0.hasPrefix(name) }
    if name.utf8.count > 2, longer.count == 1 { return longer[0] }
    return EditDistance.nearest(to: name, among: names, limit: 1).first
  }
}
