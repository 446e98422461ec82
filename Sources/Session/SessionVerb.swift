import CommandLine

/// A command of a session, as help and completion see it.
package struct SessionVerb {
  /// What an argument stands for, so that it can be completed.
  package enum Argument: Equatable {
    case method, service, symbol, json, file, variable, interceptor, header, stream, command, text
    /// One of these words.
    case choice([String])
  }

  /// The word that it begins with.
  package let name: String
  /// Name and arguments, as help shows them.
  package let usage: String
  /// What it does, in one line.
  package let summary: String
  /// What its arguments are; the last one may stand for several.
  package let arguments: [Argument]
  /// What help adds.
  package var details = ""
}
