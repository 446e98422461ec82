/// A command of a session: a description, from which parsing, completion, help, records and suites derive, and its
/// implementation.
package struct SessionVerb {
  /// The kind of an argument, for completion.
  package enum Argument: Equatable {
    case method, symbol, json, file, variable, interceptor, specification, header, attribute, stream, command,
      condition, option, text
    /// One of these words.
    case choice([String])
  }

  /// The call that a command is about.
  package enum Subject {
    /// None.
    case none
    /// The call that it makes, and waits for.
    case newCall
    /// The stream that it opens.
    case newStream
    /// The call that checks apply to.
    case checkedCall
    /// The stream whose responses are awaited.
    case receivingStream
    /// The stream of its first argument; the current one without it.
    case stream
    /// The stream of its first argument; all without it.
    case streams
  }

  /// Whether the record of the session, which scripts are made from, contains a command.
  package enum Saving {
    /// The implementation may add to the record.
    case never
    /// As it was typed.
    case always
    /// As it was typed, unless it has no arguments: then it only prints a setting.
    case withWords
  }

  /// The part of a line that may be a credential, which files must not contain.
  package enum Secrets {
    case none
    /// The value after a name that is secret.
    case named
    /// The operand of a check of a header or trailer.
    case ofCheck
    /// Values of settings of an interceptor.
    case settings
    /// Values of options of the command line.
    case options
    /// The name and password of a URL.
    case target
    /// Anything: it is a command of a shell.
    case guessed
  }

  /// The name of the command.
  package let name: String
  /// The name and arguments, as in `help`.
  package let usage: String
  /// A summary on one line.
  package let summary: String
  /// The kinds of the arguments; the last one may repeat.
  package let arguments: [Argument]
  /// The call that it is about.
  package let subject: Subject
  /// Whether scripts that are saved contain it.
  package let saving: Saving
  /// The part of its line that may be a credential.
  package let secrets: Secrets
  /// Whether the command may follow a call that failed in a script: it is a check, or waits, and a check may follow.
  package let mayFollowFailure: Bool
  /// Whether the session ends, which a suite does not allow.
  package let endsSession: Bool
  /// Whether files and pipes must not have it.
  package let isOnlyAtPrompt: Bool
  /// More text for `help COMMAND`.
  package let details: String
  /// The implementation.
  package let run: @Sendable (Session, SessionArguments) throws -> Void

  /// Describes a command; its name is the first word of `usage`.
  package init(
    _ usage: String, _ summary: String, _ arguments: [Argument] = [], about subject: Subject = .none,
    saving: Saving = .never, secrets: Secrets = .none, mayFollowFailure: Bool = false,
    endsSession: Bool = false, isOnlyAtPrompt: Bool = false,
    details: String = "", run: @escaping @Sendable (Session, SessionArguments) throws -> Void
  ) {
    name = usage.hasPrefix("!") ? "!" : String(usage.prefix { $0 != " " })
    (self.usage, self.summary, self.details) = (usage, summary, details)
    (self.arguments, self.subject, self.saving, self.secrets) = (arguments, subject, saving, secrets)
    (self.mayFollowFailure, self.endsSession, self.run) = (mayFollowFailure, endsSession, run)
    self.isOnlyAtPrompt = isOnlyAtPrompt
  }

  // MARK: Derived properties

  /// Whether the rest of the line is one free-form argument.
  package var isFreeForm: Bool { [.text, .condition, .specification, .option].contains(arguments.last) }

  /// Whether it makes a call of a method with messages, and waits for its end.
  package var isCall: Bool { arguments == [.method, .json] && subject == .newCall }

  /// Whether a pager shows its output at a prompt if that is longer than the terminal.
  package var isPaged: Bool {
    ["call", "chain", "copy", "describe", "history", "list", "print", "streams", "template"].contains(name)
  }

  /// Whether it is a check of a call.
  package var isCheck: Bool { subject == .checkedCall }

  /// Whether messages follow the name of a method.
  package var acceptsMessages: Bool { arguments == [.method, .json] }

  /// Whether JSON may be on its line, also that of a call in it.
  package var acceptsJSON: Bool { arguments.last == .json || name == SessionRepetition.name }

  /// Whether the responses can be written to a file by `> FILE`.
  package var acceptsOutput: Bool { acceptsMessages && subject == .newCall }

  /// The end of the arguments in `rest` of a line; JSON values follow, if the command accepts any.
  package func endOfArguments(in rest: Substring) -> Substring.Index {
    if let call = SessionRepetition(ofLine: name, rest)?.call {
      let (inner, arguments) = Self.parts(of: call)
      return Self.named(inner)?.endOfArguments(in: arguments) ?? rest.endIndex
    }
    guard arguments.last == .json else { return rest.endIndex }
    guard acceptsMessages else { return rest.parted(at: "=").after?.startIndex ?? rest.endIndex }
    // A brace after a dollar sign is that of a reference, `${NAME}`.
    var last: Unicode.Scalar?
    return rest.prefixOfScalars { scalar in
      defer { last = scalar }
      return !scalar.properties.isWhitespace && (scalar != "{" || last == "$")
    }
    .endIndex
  }

  // MARK: Lines

  /// The command with this name; nil if there is none.
  package static func named(_ name: some StringProtocol) -> SessionVerb? { all.first { $0.name == name } }

  /// The name of the command of a line, and the text after it. A leading colon, which marks a command, is optional.
  package static func parts<Line: StringProtocol>(of line: Line) -> (name: Substring, rest: Substring)
  where Line.SubSequence == Substring {
    let command = line.droppingScalars { $0 == ":" }
    if command.begins(with: "!") {
      let end = command.unicodeScalars.index(after: command.startIndex)
      return (command[..<end], command[end...])
    }
    let name = command.prefixOfScalars { !$0.properties.isWhitespace }
    return (name, command[name.endIndex...].droppingScalars(while: \.properties.isWhitespace))
  }
}
