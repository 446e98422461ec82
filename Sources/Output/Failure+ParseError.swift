import CommandLine

extension Failure {
  /// The failure for arguments that are wrong, with the help of the command as a hint if there is no other.
  package init(_ error: ParseError, of command: CommandID? = nil, hint: String? = nil) {
    let standard = command.map { "see \"rpcurl \(CommandTable[$0].name) --help\"" }
    let help = error.hint ?? hint ?? standard
    if let place = error.origin?.place {
      self = Failure(.usage, place, "\(error.what): \(error.why)", hint: help)
    } else {
      self = Failure(.usage, error.what, error.why, hint: help)
    }
  }

  /// The same failure, with the place of the argument in a file that is its cause.
  package func at(_ origin: Origin?) -> Failure {
    guard let place = origin?.place, var words else { return self }
    words.what = words.what.isEmpty ? place : "\(place): \(words.what)"
    return Failure(status, words)
  }
}
