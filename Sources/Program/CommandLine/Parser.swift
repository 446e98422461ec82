/// Reads the arguments of a command line, once, from the first to the last.
///
/// The conventions are those of GNU and curl: `--option VALUE`, `--option=VALUE`, `-oVALUE`, `-o VALUE`, flags of one
/// letter in one argument (`-sSd VALUE`), options after other arguments, `--` before arguments that are not options. In
/// addition, long options of grpcurl may have one dash. After an error the parser goes on, so that options such as
/// `--error-format` hold wherever they are.
package struct Parser {
  private let words: [String]
  private var index: Int
  /// The indices of later arguments that name the command; empty if the first ones do, or none does.
  private let names: [Int]
  private var invocation: Invocation

  /// Reads the arguments of the program, without its name. One that is not UTF-8 is the first error.
  package static func parse(cStrings arguments: [UnsafePointer<CChar>]) -> Invocation {
    var error: ParseError?
    let words = arguments.enumerated().map { index, argument in
      if let word = String(validatingCString: argument) { return word }
      let word = String(cString: argument)
      let valid = zip(word.utf8, 0...).prefix { $0 == UInt8(bitPattern: argument[$1]) }.count
      error = error ?? ParseError(.notUTF8(argument: index + 1, byte: valid + 1), .typed(index: index))
      return word
    }
    var invocation = parse(words)
    if let error { invocation.add(first: error) }
    return invocation
  }

  /// Reads the arguments of the program, without its name.
  package static func parse(_ words: [String]) -> Invocation {
    guard let first = words.first else {
      var invocation = Invocation(.call, isNamed: false)
      invocation.finish()
      return invocation
    }
    if let command = CommandTable.find(first) { return parse(words, command, from: 1, isNamed: true) }
    switch first {
    case "plugins": return plugins(words)
    case "help": return help(Array(words.dropFirst().filter { $0 != "-h" && $0 != "--help" }))
    case "complete": return request(.complete(Array(words.dropFirst())))
    case "--dump-options": return request(.dump)
    case "-h", "--help",
      "-help" where words.count == 1:
      return request(.help(nil, isWhole: first != "-h"))
    default: return parse(words, .call, from: 0, isNamed: false)
    }
  }

  /// Reads the arguments of a command.
  package static func parse(_ words: [String], as command: CommandID) -> Invocation {
    parse(words, command, from: 0, isNamed: true)
  }

  private static func parse(_ words: [String], _ command: CommandID, from index: Int, isNamed: Bool)
    -> Invocation
  {
    var parser = Parser(words, command, from: index, isNamed: isNamed)
    parser.run()
    if !isNamed, parser.invocation.positionals.first?.text == "help" {
      return help(parser.invocation.positionals.dropFirst().map(\.text))
    }
    if let (other, names) = parser.invocation.laterCommand {
      parser = Parser(words, other, from: index, isNamed: true, names: names)
      parser.run()
    }
    parser.invocation.finish()
    return parser.invocation
  }

  private init(
    _ words: [String], _ command: CommandID, from index: Int, isNamed: Bool, names: [Int] = []
  ) {
    self.words = words
    self.index = index
    self.names = names
    invocation = Invocation(command, isNamed: isNamed)
  }

  // MARK: Commands

  private static func request(_ request: Invocation.Request) -> Invocation {
    var invocation = Invocation(.call, isNamed: false)
    invocation.request = request
    return invocation
  }

  private static func plugins(_ words: [String]) -> Invocation {
    guard words.count > 1 else { return parse(words, .pluginsList, from: 1, isNamed: true) }
    if let command = CommandTable.find(plugins: words[1]) {
      return parse(words, command, from: 2, isNamed: true)
    }
    switch words[1] {
    case "-h", "--help": return request(.pluginsHelp(isWhole: words[1] != "-h"))
    case let name where !name.begins(with: "-"):
      var invocation = Invocation(.pluginsList, isNamed: true)
      invocation.add(
        ParseError(
          .unknownCommand(
            "plugins \(name)", hint: Suggestions.command(name, among: ["list", "check", "new"])),
          .typed(index: 1)))
      return invocation
    default: return parse(words, .pluginsList, from: 1, isNamed: true)
    }
  }

  /// Help on the command that the arguments after `help` name.
  private static func help(_ names: [String]) -> Invocation {
    let request: Invocation.Request
    switch (names.first, names.dropFirst().first) {
    case (nil, _), ("help", _): request = .help(nil, isWhole: true)
    case ("language", _): request = .languageHelp
    case ("plugins", nil): request = .pluginsHelp(isWhole: true)
    case ("plugins", let name?):
      guard let command = CommandTable.find(plugins: name) else {
        return unknownHelp(name, among: ["list", "check", "new"])
      }
      request = .help(command, isWhole: true)
    case (let name?, _):
      guard let command = CommandTable.find(name) else { return unknownHelp(name, among: CommandTable.names) }
      request = .help(command, isWhole: true)
    }
    return Self.request(request)
  }

  private static func unknownHelp(_ name: String, among names: [String]) -> Invocation {
    var invocation = Invocation(.call, isNamed: false)
    invocation.request = .topicHelp(name)
    invocation.add(
      ParseError(
        .unknownCommand("help \(name)", hint: Suggestions.command(name, among: names)), .typed(index: 1)))
    return invocation
  }

  // MARK: Arguments

  private mutating func run() {
    var endsOptions = false
    while index < words.count {
      let word = words[index]
      let origin = Origin.typed(index: index)
      index += 1
      if endsOptions || word.utf8.first != UInt8(ascii: "-") || word.utf8.count == 1 {
        if names.contains(index - 1) { continue }
        if !endsOptions, let error = Suggestions.otherDash(word, origin) { invocation.add(error) }
        invocation.add(Positional(word, origin))
      } else if word == "--" {
        endsOptions = true
      } else if word.begins(with: "--") {
        long(word, origin)
      } else if !grpcurl(word, origin) {
        cluster(word, origin)
      }
    }
  }

  /// `--option`, `--option VALUE` or `--option=VALUE`.
  private mutating func long(_ word: String, _ origin: Origin) {
    let (name, attached) = word.parted(at: "=")
    guard let option = OptionTable.find(name, invocation.command) else {
      return invocation.add(Suggestions.unknown(String(name), invocation.command, origin))
    }
    accept(option, name: String(name), attached: attached, origin)
  }

  /// An option of grpcurl's with one dash, such as `-plaintext` or `-max-time 5`.
  ///
  /// - Returns: Whether it is one. Those of one letter are clusters.
  private mutating func grpcurl(_ word: String, _ origin: Origin) -> Bool {
    guard word.utf8.count > 2 else { return false }
    let (name, attached) = Substring(word.unicodeScalars.dropFirst()).parted(at: "=")
    guard name.utf8.count > 2 else { return false }
    let options = OptionTable.find(grpcurl: name, invocation.command)
    guard let first = options.first else {
      guard let error = Suggestions.grpcurl(name, invocation.command, origin) else { return false }
      invocation.add(error)
      return true
    }
    accept(first, name: "-\(name)", attached: attached, origin)
    // What grpcurl has one option for may be two here.
    for option in options.dropFirst() {
      if let text = invocation.arguments.last?.text { add(option, name: "-\(name)", text, origin) }
    }
    return true
  }

  /// Flags of one letter, and perhaps an option with a value at the end.
  private mutating func cluster(_ word: String, _ origin: Origin) {
    var rest = word.unicodeScalars.dropFirst()
    while let letter = rest.popFirst() {
      guard let option = OptionTable.find("-\(letter)", invocation.command) else {
        return invocation.add(Suggestions.unknown(word, letter, invocation.command, origin))
      }
      guard option.hasValue else {
        if rest.first == "=" {
          return accept(option, name: "-\(letter)", attached: Substring(rest.dropFirst()), origin)
        }
        accept(option, name: "-\(letter)", attached: nil, origin)
        continue
      }
      // -output is --output with a dash too few, and not -o with the value utput.
      if let error = Suggestions.missingDash(word, invocation.command, origin) {
        return invocation.add(error)
      }
      let value = rest.isEmpty ? nil : option.glued(Substring(rest))
      return accept(option, name: "-\(letter)", attached: value, origin, word: word)
    }
  }

  /// - Parameter word: The argument of which letter and value are parts.
  private mutating func accept(
    _ option: Option, name: String, attached: Substring?, _ origin: Origin, word: String? = nil
  ) {
    guard option.hasValue else {
      if case .level = option.kind {
        return add(level: option, name: name, String(attached ?? "true"), origin)
      }
      let isOff = option.isTurnedOff(by: name)
      guard attached == nil || attached == "true" || attached == "false" else {
        return invocation.add(ParseError(.invalidFlag(name), origin))
      }
      let isOn = (attached ?? "true") == "true"
      return invocation.add(
        Argument(option.id, name: name, text: nil, value: .flag(isOn != isOff), origin))
    }
    if let attached { return add(option, name: name, String(attached), origin, word: word) }
    guard index < words.count, !isOption(words[index]) else {
      return invocation.add(ParseError(.missingValue(name), origin))
    }
    index += 1
    add(option, name: name, words[index - 1], origin)
  }

  private mutating func add(level option: Option, name: String, _ text: String, _ origin: Origin) {
    do throws(ParseError) {
      let value = try Value(text, of: option, name: name, origin)
      invocation.add(Argument(option.id, name: name, text: nil, value: value, origin))
    } catch {
      invocation.add(error)
    }
  }

  private mutating func add(
    _ option: Option, name: String, _ text: String, _ origin: Origin, word: String? = nil
  ) {
    do throws(ParseError) {
      let value = try Value(text, of: option, name: name, origin)
      invocation.add(Argument(option.id, name: name, text: text, value: value, origin))
    } catch {
      // -maxtime is nearer to --max-time than to -m with a value.
      let isLong = word.flatMap { Suggestions.nearest(to: "-\($0)", invocation.command) }
      invocation.add(
        isLong.map { ParseError(.unknownOption(word ?? name, hint: "did you mean \($0)?"), origin) } ?? error)
    }
  }

  /// Whether an argument is certainly an option, and not the value of the one before it.
  private func isOption(_ word: String) -> Bool {
    if word == "--" { return true }
    guard word.begins(with: "--") else { return false }
    return OptionTable.find(word.parted(at: "=").before, invocation.command) != nil
  }
}

extension Invocation {
  /// Checks what no single argument shows: what is asked for, and what is missing.
  mutating func finish() {
    if let help = last(.help) {
      // grpcurl's -help and curl's --help are whole.
      let isWhole = help.name != "-h"
      request = .help(
        isNamed || !positionals.isEmpty || arguments.count > 1 ? command : nil, isWhole: isWhole)
    } else if has(.version) {
      request = .version
    }
    guard request == nil else { return }
    guard errors.isEmpty else { return }
    let definition = CommandTable[command]
    if command == .convert, !has(.noSchema),
      let option = [OptionID.type, .from, .to].first(where: { last($0) == nil })
    {
      return fail(ParseError(.missingOption(OptionTable[option].name), nil))
    }
    if command == .load, let first = positionals.first, Int(first.text) != nil {
      let hint = Suggestions.unexpected(positionals, from: 0, command)
      return fail(ParseError(.unexpectedArguments([first.text], hint: hint), first.origin))
    }
    if !definition.places.contains(where: \.repeats), positionals.count > definition.places.count {
      let extra = positionals[definition.places.count...]
      // Its file is the next argument, and taken for the target.
      if let place = all(of: [.set, .setFile]).first(where: { $0.text?.contains("=") == false }) {
        let form = place.id == .set ? "PATH=VALUE" : "PATH=FILE"
        return fail(
          ParseError(
            .invalidValue(
              option: place.name, value: place.text ?? "", why: "not of the form \(form)", hint: nil),
            place.origin))
      }
      if !isNamed, let first = positionals.first, let nearest = CommandTable.nearest(to: first.text) {
        return fail(ParseError(.unknownCommand(first.text, hint: "did you mean \(nearest)?"), first.origin))
      }
      let hint = Suggestions.unexpected(positionals, from: definition.places.count, command)
      fail(ParseError(.unexpectedArguments(extra.map(\.text), hint: hint), extra.first?.origin))
    }
    if let place = definition.places.first, place.isRequired, positionals.isEmpty {
      fail(ParseError(.missingArgument(place.name), nil))
    }
  }

  /// The command that later arguments name, and their indices: `rpcurl --plaintext list HOST`, and grpcurl's
  /// `-plaintext HOST list`. Two arguments may also be a target and a method with the name of another command.
  var laterCommand: (CommandID, names: [Int])? {
    guard !isNamed, let first = positionals.first, !Suggestions.programs.contains(first.text) else {
      return nil
    }
    if let other = CommandTable.find(first.text) { return named(other, by: [first]) }
    if first.text == CommandTable.plugins.name {
      let own = positionals.dropFirst().first.flatMap { CommandTable.find(plugins: $0.text) }
      return named(own ?? .pluginsList, by: Array(positionals.prefix(own == nil ? 1 : 2)))
    }
    guard positionals.count > 1, let other = CommandTable.find(positionals[1].text),
      other == .list || other == .describe || positionals.count > 2
    else { return nil }
    return named(other, by: [positionals[1]])
  }

  private func named(_ command: CommandID, by positionals: [Positional]) -> (CommandID, names: [Int]) {
    let names = positionals.compactMap { (positional) -> Int? in
      guard case .typed(let index) = positional.origin else { return nil }
      return index
    }
    return (command, names)
  }
}
