import Protobuf

/// `rpcurl complete KIND TYPED FIRST SECOND WORD…`: what a word can go on to, one candidate a line with a description
/// behind a tab. The shells' completion scripts ask it; people do not see it.
///
/// `FIRST` and `SECOND` are the words before the cursor that are no options, empty where there are none yet, and the
/// words are all others on the line. Nothing is sent, compiled or loaded, and nothing that goes wrong is told.
enum CompleteCommand {
  /// Prints the candidates.
  static func answer(_ words: [String]) {
    guard let line = CompletionLine(words) else { return }
    let candidates: [Candidate] =
      switch line.kind {
      case "use": ChainCompletion.interceptors(line.typed)
      case "plugin": ChainCompletion.plugins(line.typed)
      case "header": HeaderCompletion.names(line.typed)
      case "profile": line.profiles
      case "target": MethodCompletion(line).targets
      case "method": MethodCompletion(line).methods(line.typed)
      case "filter": FieldCompletion(line).paths
      case "type": SymbolCompletion(line).names([.message])
      case "list": SymbolCompletion(line).words([.service, .message, .enumeration])
      case "template": SymbolCompletion(line).words([.method, .message])
      case "export":
        SymbolCompletion(line).words([.service, .method, .message, .enumeration, .extensionField])
      default: SymbolCompletion(line).words(Set(SymbolKind.allCases))
      }
    Candidate.print(candidates)
  }
}
