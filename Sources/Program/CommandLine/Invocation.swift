/// The command line, read once: a command, its options in order, and its other arguments, each with its origin.
package struct Invocation: Sendable {
  /// What is asked for instead of the command.
  package enum Request: Equatable, Sendable {
    /// Help of the program, or of one command; all of it for `--help`.
    case help(CommandID?, isWhole: Bool)
    /// Print the page of the language of paths, values and conditions.
    case languageHelp
    case pluginsHelp(isWhole: Bool)
    /// What an option or an interceptor is; an error if there is none of this name.
    case topicHelp(String)
    case version
    /// The table of options as JSON, for the generation of documents.
    case dump
    /// Candidates of a completion, for the arguments that follow.
    case complete([String])
  }

  /// The command.
  package let command: CommandID
  /// Whether the command was named.
  package let isNamed: Bool
  /// The options. The last one with a single value holds.
  package internal(set) var arguments: [Argument] = []
  /// The arguments that are not options, in order.
  package private(set) var positionals: [Positional] = []
  /// The target of the configuration or the environment, for a method that is given alone.
  package private(set) var configuredTarget: Positional?
  /// The interceptors of the configuration that `--no-use` omits.
  package internal(set) var omitted: [Argument] = []
  /// What was read for the command, for `-v` and `--explain`.
  package var configuration = ConfigurationReport()
  /// What is asked for instead of the command; nil for the command itself.
  package var request: Request?
  /// What is wrong, the first first.
  package private(set) var errors: [ParseError] = []

  init(_ command: CommandID, isNamed: Bool) {
    self.command = command
    self.isNamed = isNamed
  }

  /// An invocation of a command without arguments.
  package init(_ command: CommandID, _ arguments: [Argument] = []) {
    self.init(command, isNamed: true)
    self.arguments = arguments
  }

  // MARK: Values

  /// All occurrences of an option, in order.
  package func all(_ id: OptionID) -> [Argument] { arguments.filter { $0.id == id } }

  /// The last occurrence of an option: the one that holds.
  package func last(_ id: OptionID) -> Argument? { arguments.last { $0.id == id } }

  /// All occurrences of several options, in the order given.
  package func all(of ids: [OptionID]) -> [Argument] { arguments.filter { ids.contains($0.id) } }

  /// The last occurrence of any of these options.
  package func last(of ids: [OptionID]) -> Argument? { arguments.last { ids.contains($0.id) } }

  /// Whether a flag is given, and not turned off after that; nil if it is not given.
  package func flag(_ id: OptionID) -> Bool? {
    guard case .flag(let isOn)? = last(id)?.value else { return nil }
    return isOn
  }

  /// Whether a flag is on.
  package func has(_ id: OptionID) -> Bool { flag(id) ?? false }

  /// Whether an option is on the command line itself.
  package func isTyped(_ id: OptionID) -> Bool {
    arguments.contains { argument in
      guard argument.id == id, case .typed = argument.origin else { return false }
      return true
    }
  }

  /// How often a flag is given.
  package func count(_ id: OptionID) -> Int {
    arguments.reduce(0) { $0 + ($1.id == id && $1.value == .flag(true) ? 1 : 0) }
  }

  /// The text of an option; of one with fixed values, the value.
  package func text(_ id: OptionID) -> String? { last(id)?.string }

  /// The duration that an option has; nil if it is not given.
  package func duration(_ id: OptionID) -> Duration? {
    guard case .duration(let duration)? = last(id)?.value else { return nil }
    return duration
  }

  /// The number of bytes that an option has; nil if it is not given.
  package func bytes(_ id: OptionID) -> Int? {
    guard case .bytes(let bytes)? = last(id)?.value else { return nil }
    return bytes
  }

  /// The number that an option has; nil if it is not given.
  package func number(_ id: OptionID) -> Int? {
    guard case .number(let number)? = last(id)?.value else { return nil }
    return number
  }

  /// The values of an option that has several; nil if it is not given.
  package func list(_ id: OptionID) -> [String]? {
    guard case .list(let list)? = last(id)?.value else { return nil }
    return list
  }

  /// Throws the first error.
  package func check() throws(ParseError) {
    if let error = errors.first { throw error }
  }

  // MARK: For the parser

  mutating func add(_ argument: Argument) { arguments.append(argument) }
  mutating func add(_ positional: Positional) { positionals.append(positional) }
  mutating func add(_ error: ParseError) { errors.append(error) }
  mutating func add(first error: ParseError) { errors.insert(error, at: 0) }

  // MARK: Configuration

  /// Adds the options of configuration files: those of lower precedence than what is typed, and the sources of the
  /// schema, which are searched after those that are typed.
  mutating func insert(before: [Argument], after: [Argument], target: Positional?) {
    configuredTarget = target
    // The columns of a row are given together.
    let hasFilter = last(.filter) != nil
    arguments = before.filter { !hasFilter || $0.id != .filter } + arguments + after
  }

  mutating func fail(_ error: ParseError) { errors.append(error) }
}

extension Argument {
  /// The value as text, if it is one.
  package var string: String? {
    guard case .text(let text) = value else { return nil }
    return text
  }
}
