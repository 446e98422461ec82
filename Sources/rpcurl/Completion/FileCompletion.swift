import RPCurlEngine
import RPCurlLanguage
import RPCurlPlatform

/// Completes paths of files, as the shell expands them later.
enum FileCompletion {
  /// The files and directories at a path.
  static func files(_ typed: String) -> LanguageCompletion {
    let name = typed.startOfLast("/")
    let directory = CompletionLine.expanded(String(typed[..<name]))
    let found = entries(directory.isEmpty ? "." : directory).sorted()
      .filter { !$0.hasPrefix(".") || typed[name...].hasPrefix(".") }
    return LanguageCompletion(
      typed[name...],
      found.map { name in
        let isDirectory = FileFacts("\(directory)\(name)")?.isDirectory == true
        return LanguageCompletion.Candidate(isDirectory ? "\(name)/" : name)
      })
  }

  /// The names in a directory; empty if it cannot be read.
  static func entries(_ directory: String) -> [String] {
    Directory.entries(in: directory, limit: Candidate.limit).map(\.name)
  }
}
