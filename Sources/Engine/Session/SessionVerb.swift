import RPCurlProgram

/// The description of a session command, for help and completion.
package struct SessionVerb {
  /// The kind of an argument, for completion.
  package enum Argument: Equatable {
    case method, service, symbol, json, file, variable, interceptor, specification, header, attribute, stream,
      command,
      condition, text
    /// One of these words.
    case choice([String])
  }

  /// The name of the command.
  package let name: String
  /// The name and arguments, as in `help`.
  package let usage: String
  /// A summary on one line.
  package let summary: String
  /// The kinds of the arguments; the last one may repeat.
  package let arguments: [Argument]
  /// More text for `help COMMAND`.
  package var details = ""
}
