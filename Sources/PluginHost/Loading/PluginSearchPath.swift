import RPCurlPlatform

/// The directories to search for plugins given by name.
package struct PluginSearchPath: Sendable, Equatable {
  /// The directories, first to last. Never the working directory.
  package var directories: [String]
  /// Relative directories in `RPCURL_PLUGIN_PATH`, which are ignored.
  package let ignored: [String]

  /// Makes a search path.
  package init(_ directories: [String]) {
    self.directories = directories
    ignored = []
  }

  /// Makes the search path of the environment: `$RPCURL_PLUGIN_PATH`, `$XDG_DATA_HOME/rpcurl/plugins` (or
  /// that of `~/.local/share`), and `PREFIX/lib/rpcurl/plugins`.
  ///
  /// Relative directories are ignored, as the working directory is never searched.
  ///
  /// - Parameters:
  ///   - environment: Returns the value of a variable.
  ///   - prefix: The installation prefix.
  package init(environment: (String) -> String?, prefix: String) {
    var found: [Substring] = environment("RPCURL_PLUGIN_PATH")?.split(separator: ":") ?? []
    if let data = environment("XDG_DATA_HOME"), data.hasPrefix("/") {
      found.append("\(data)/rpcurl/plugins")
    } else if let home = environment("HOME") {
      found.append("\(home)/.local/share/rpcurl/plugins")
    }
    found.append("\(prefix)/lib/rpcurl/plugins")
    ignored = found.filter { !$0.hasPrefix("/") }.map(String.init)
    directories = found.filter { $0.hasPrefix("/") }.map(String.init)
  }

  /// Finds the file for a plugin's name or path. A name with a slash is a path.
  func locate(_ name: String) throws(PluginError) -> String {
    if name.contains("/") { return name }
    for directory in directories {
      for candidate in ["\(directory)/\(name)", "\(directory)/\(name).so"]
      where access(candidate, F_OK) == 0 && !isDirectory(candidate) {
        return candidate
      }
    }
    throw .notFound(name: name, searched: directories, ignored: ignored)
  }

  /// Whether a file with this name or path exists.
  package func has(_ name: String) -> Bool {
    guard let path = try? locate(name) else { return false }
    return access(path, F_OK) == 0
  }

  private func isDirectory(_ path: String) -> Bool {
    FileFacts(path)?.isDirectory ?? false
  }
}
