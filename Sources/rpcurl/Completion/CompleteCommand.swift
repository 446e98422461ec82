import RPCurlProgram
import RPCurlProtobuf
import RPCurlReports
import RPCurlSchemaTools

/// `rpcurl complete KIND TYPED FIRST SECOND ARGUMENT…`: prints completions for the shells' completion scripts, one
/// per line, with a description after a tab. Not documented for users.
///
/// `FIRST` and `SECOND` are the positional arguments before the cursor, or empty; the rest are all other arguments.
/// Sends nothing, compiles nothing, loads no plugin and prints no errors.
enum CompleteCommand {
  /// Prints the candidates.
  static func run(_ arguments: [String], on output: StandardOutput) {
    guard let line = CompletionLine(arguments) else { return }
    let candidates: [Candidate] =
      switch line.kind {
      case "use": LineCompletion(line).interceptor
      case "plugin": PluginCompletion.plugins(line)
      case "script": PluginCompletion.scripts(line)
      case "checked": PluginCompletion.plugins(line) + PluginCompletion.scripts(line)
      case "header": LineCompletion(line).header
      case "data": LineCompletion(line).data
      case "value": LineCompletion(line).value
      case "variable": LineCompletion(line).variable
      case "threshold": LineCompletion(line).threshold
      case "profile": line.profiles
      case "rule": names(Rule.allCases.map(\.rawValue), line.typed)
      case "shell": names(CompletionScript.Shell.allCases.map(\.rawValue), line.typed)
      case "report": names(ReportFormat.allCases.map(\.rawValue), line.typed)
      case "coverage": names(ReportOutput.coverageFormats, line.typed)
      case "target": MethodCompletion(line).targets
      case "method": MethodCompletion(line).methods(line.typed)
      case "filter": LineCompletion(line).filter
      case "set": LineCompletion(line).assignment
      case "type": SymbolCompletion(line).names([.message])
      case "list": SymbolCompletion(line).arguments([.service, .message, .enumeration])
      case "template": SymbolCompletion(line).arguments([.method, .message])
      case "export":
        SymbolCompletion(line).arguments([.service, .method, .message, .enumeration, .extensionField])
      default: SymbolCompletion(line).arguments(Set(SymbolKind.allCases))
      }
    Candidate.print(candidates, on: output)
  }

  /// The names that begin with what is typed.
  private static func names(_ names: [String], _ typed: String) -> [Candidate] {
    names.filter { $0.hasPrefix(typed) }.map { Candidate($0) }
  }
}
