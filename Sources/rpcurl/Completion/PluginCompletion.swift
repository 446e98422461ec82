import RPCurlEngine
import RPCurlPlatform
import RPCurlPluginHost

/// Completes the plugin of `--plugin` and the file of `--script`. Loads none.
enum PluginCompletion {
  /// The names and files of plugins at the typed text, or the settings after one.
  static func plugins(_ line: CompletionLine) -> [Candidate] {
    let typed = line.typed
    if typed.contains(",") { return LineCompletion(line).plugin }
    if typed.contains("/") || typed.hasPrefix("~") {
      return line.candidates(FileCompletion.files)
        .filter { $0.text.hasSuffix("/") || $0.text.hasSuffix(".so") }
    }
    let mark = typed.hasPrefix("?") ? "?" : ""
    let names = ChainSource.searchPath.directories.flatMap { directory in
      FileCompletion.entries(directory).filter { $0.hasSuffix(".so") && $0 != ".so" }.sorted()
        .map { Candidate("\(mark)\($0.dropLast(3))", directory) }
    }
    return names.filter { $0.text.hasPrefix(typed) }
  }

  /// The files of scripts at the typed text. One without a slash would be searched in `$PATH`, so that of a file in this
  /// folder gets one.
  static func scripts(_ line: CompletionLine) -> [Candidate] {
    let place = line.typed.isEmpty ? "./" : ""
    return line.candidates { FileCompletion.files(place + $0) }
      .map { Candidate(place + $0.text) }
      .filter {
        $0.text.contains("/")
          && ($0.text.hasSuffix("/") || ScriptFile.isProgram(CompletionLine.expanded($0.text)))
      }
  }
}
