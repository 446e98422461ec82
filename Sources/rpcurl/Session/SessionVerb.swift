/// A command of a session, as help and completion see it.
struct SessionVerb {
  /// What an argument stands for, so that it can be completed.
  enum Argument: Equatable {
    case method, service, symbol, json, file, variable, interceptor, header, stream, command, text
    /// One of these words.
    case choice([String])
  }

  /// The word that it begins with.
  let name: String
  /// Name and arguments, as help shows them.
  let usage: String
  /// What it does, in one line.
  let summary: String
  /// What its arguments are; the last one may stand for several.
  let arguments: [Argument]
  /// What help adds.
  var details = ""
}
