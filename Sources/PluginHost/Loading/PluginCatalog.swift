import CPluginABI
import Glibc

/// What is known of a plugin's file before any of its code has run.
public struct PluginFileFacts: Sendable, Equatable {
  /// The version of the ABI that it was built against.
  public struct Version: Sendable, Equatable {
    /// The major version.
    public let major: UInt32
    /// The minor version.
    public let minor: UInt32
  }

  /// The version in its note.
  public let version: Version
  /// Whether it has the symbol by which a plugin is found; `nil` when the file does not list its symbols.
  public let exportsEntry: Bool?
}

/// A plugin as it describes itself.
public struct PluginListing: Sendable, Equatable {
  /// The name to give to `--plugin`: the file's, without its ending.
  public let fileName: String
  /// The file.
  public let path: String
  /// The plugin's own name.
  public let name: String
  /// The plugin's own version; empty when it tells none.
  public let version: String
  /// What it does, in one line.
  public let summary: String
  /// Its keys, one a line.
  public let configurationHelp: String

  init(path: String, name: String, version: String, summary: String, configurationHelp: String) {
    let file = path.split(separator: "/").last ?? ""
    fileName = String(file.hasSuffix(".so") ? file.dropLast(3) : file)
    self.path = path
    self.name = name
    self.version = version
    self.summary = summary
    self.configurationHelp = configurationHelp
  }
}

extension PluginLoader {
  /// Looks at a file without running any of it: whether it can be trusted, and is a plugin for this host.
  public func inspect(_ path: String) throws(PluginError) -> PluginFileFacts {
    try examine(try Self.reader(path), path).1
  }

  /// What the search path holds: plugins that describe themselves, and files that are refused.
  ///
  /// A file is inspected first. Only one that passes is loaded, in a child process, to ask it. Of files of one name only
  /// the first can be loaded by its name. Only for processes of one thread. `[main thread]`
  public func catalog() -> [Result<PluginListing, PluginError>] {
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
