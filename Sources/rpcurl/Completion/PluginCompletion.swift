import RPCurlEngine
import RPCurlPluginHost

/// Completes the plugin of `--plugin`. Loads none.
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
}
