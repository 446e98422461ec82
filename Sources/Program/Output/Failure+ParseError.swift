extension Failure {
  /// Creates the failure for invalid arguments.
  ///
  /// - Parameters:
  ///   - error: The error of the parser.
  ///   - command: The command whose help is the hint, if there is no other.
  ///   - hint: The hint if the error has none.
  package init(_ error: ParseError, of command: CommandID? = nil, hint: String? = nil) {
    let standard = command.map { command in
      // Without any argument, the commands are of interest.
      if case .missingArgument = error.reason, command == .call {
        return "see \"rpcurl --help\", which lists the commands"
      }
      return "see \"rpcurl \(CommandTable[command].name) --help\""
    }
    let help = error.hint ?? hint ?? standard
    if error.origin?.place != nil {
      self = Failure(.usage, "", "\(error.what): \(error.why)", hint: help).at(error.origin)
    } else {
      self = Failure(.usage, error.what, error.why, hint: help)
    }
  }

  /// The same failure, prefixed with the file and line of the argument that caused it.
  package func at(_ origin: Origin?) -> Failure {
    guard let place = origin?.place else { return self }
    return changed { $0.prefix(place, isLine: origin?.file != nil) }
  }
}
