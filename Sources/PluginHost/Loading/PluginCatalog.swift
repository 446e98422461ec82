import RPCurlCPlugins
import RPCurlPlatform

/// A plugin's description of itself.
package struct PluginListing: Sendable, Equatable {
  /// The name for `--plugin`: the file's name without its extension.
  package var fileName: String {
    let file = path.split(separator: "/").last ?? ""
    return String(file.hasSuffix(".so") ? file.dropLast(3) : file)
  }
  /// The path of the file.
  package let path: String
  /// The plugin's name.
  package let name: String
  /// The plugin's version; empty if it has none.
  package let version: String
  /// What it does, in one line.
  package let summary: String
  /// Its keys, one per line.
  package let configurationHelp: String
}

extension PluginLoader {
  /// Inspects a file without running its code: whether it is trusted, and a plugin for this host.
  ///
  /// - Throws: ``PluginError`` if it is not.
  package func inspect(_ path: String) throws(PluginError) -> PluginFileFacts {
    try examine(try FileReader(path: path), path).1
  }

  /// Lists the plugins on the search path, and the files that are refused.
  ///
  /// Each file is inspected first. If it passes, it is loaded in a child process to read its description. If
  /// several files have the same name, only the first can be loaded by name. Only for processes with one
  /// thread. `[main thread]`
  package func catalog() -> [Result<PluginListing, PluginError>] {
    var seen: Set<String> = []
    return searchPath.directories.flatMap { directory in
      sharedObjects(in: directory).filter { seen.insert($0).inserted }.map { name in
        listing("\(directory)/\(name)")
      }
    }
  }

  private func listing(_ path: String) -> Result<PluginListing, PluginError> {
    do throws(PluginError) {
      if try inspect(path).exportsEntry == false {
        throw PluginError.noEntry(path: path, symbol: RPCURL_ENTRY_SYMBOL)
      }
      return .success(
        try PluginInquiry.ask(path) { () throws(PluginError) in
          let description = try describe(path)
          return PluginListing(
            path: path, name: description.name, version: description.version, summary: description.summary,
            configurationHelp: description.configurationHelp)
        })
    } catch {
      return .failure(error)
    }
  }

  private func sharedObjects(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name.hasSuffix(".so"), name != ".so" { names.append(name) }
    }
    return names.sorted()
  }
}
