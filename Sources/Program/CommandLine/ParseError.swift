/// Why arguments cannot be used.
package struct ParseError: Error, Equatable, Sendable {
  /// What is wrong.
  package enum Reason: Equatable, Sendable {
    /// No option has the name; the hint is what was meant, if that is clear.
    case unknownOption(String, hint: String?)
    /// The command does not have the option.
    case notOfCommand(option: String, command: String, others: String)
    case missingValue(String)
    /// A flag with a value other than `true` and `false`.
    case invalidFlag(String)
    case invalidValue(option: String, value: String, why: String, hint: String?)
    case unexpectedArguments([String], hint: String?)
    case missingArgument(String)
    case missingOption(String)
    case unknownCommand(String, hint: String?)
    /// What the configuration file may not hold.
    case onlyTyped(String)
    /// An argument of the program, counted from 1, with the first byte that is not UTF-8, counted from 1.
    case notUTF8(argument: Int, byte: Int)
  }

  /// What is wrong.
  package let reason: Reason
  /// Where the argument is from; nil if it is absent.
  package let origin: Origin?

  init(_ reason: Reason, _ origin: Origin?) {
    self.reason = reason
    self.origin = origin
  }

  /// The error for an argument that neither the command line nor the configuration has.
  package init(missing name: String) {
    self.init(.missingArgument(name), nil)
  }

  /// The error with the configuration: if that names the target, a method is missing.
  package func afterTarget(of invocation: Invocation) -> ParseError {
    guard case .missingArgument(let name) = reason, invocation.configuredTarget != nil,
      [.call, .load].contains(invocation.command)
    else { return self }
    return ParseError(missing: name.replacing("TARGET", with: "METHOD"))
  }

  /// What is wrong, for the first part of a message.
  package var what: String {
    switch reason {
    case .unknownOption(let name, _), .notOfCommand(let name, _, _), .missingValue(let name),
      .invalidFlag(let name), .unknownCommand(let name, _), .onlyTyped(let name):
      name
    case .invalidValue(let option, let value, _, _): "\(option) \(value)"
    case .unexpectedArguments(let texts, _):
      texts.map { $0.allSatisfy { $0 == " " } ? "'\($0)'" : $0 }.joined(separator: " ")
    case .missingArgument: "missing argument"
    case .missingOption: "missing option"
    case .notUTF8(let argument, _): "argument \(argument)"
    }
  }

  /// Why it is wrong, for the second part.
  package var why: String {
    switch reason {
    case .unknownOption: "unknown option"
    case .notOfCommand(_, let command, let others): "\(command) has no such option, but \(others) has"
    case .missingValue: "missing value"
    case .invalidFlag: "expected true or false"
    case .invalidValue(_, _, let why, _): why
    case .unexpectedArguments(let texts, _): texts.count == 1 ? "unexpected argument" : "unexpected arguments"
    case .missingArgument(let name), .missingOption(let name): name
    case .unknownCommand: "no such command"
    case .onlyTyped: "only for the command line"
    case .notUTF8(_, let byte): "not UTF-8 (byte \(byte))"
    }
  }

  /// What to do about it, if that is known.
  package var hint: String? {
    switch reason {
    case .unknownOption(_, let hint), .unknownCommand(_, let hint), .unexpectedArguments(_, let hint),
      .invalidValue(_, _, _, let hint):
      hint
    case .notOfCommand(let option, let command, _):
      ForeignOptions.hint(option, CommandTable.find(command) ?? .call)
    case .onlyTyped(let name): "remove the line, and type \(name) after the command"
    case .notUTF8: "convert data with \"iconv -f LATIN1 -t UTF-8\"; rename a file with such a name"
    default: nil
    }
  }
}
