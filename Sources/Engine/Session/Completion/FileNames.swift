import RPCurlPlatform

/// Lists directories for completion.
package enum FileNames {
  /// The limit of listed entries.
  private static let most = 10_000

  /// The entries of a directory; empty if it cannot be read.
  package static func entries(_ directory: String) -> [Completer.FileEntry] {
    let home = directory.hasPrefix("~/") ? EnvironmentVariables.value("HOME") : nil
    let directory = home.map { $0 + directory.dropFirst() } ?? directory
    return Directory.entries(in: directory.isEmpty ? "." : directory, limit: most).map { entry in
      Completer.FileEntry(
        name: entry.name, isDirectory: FileFacts(directory + entry.name)?.isDirectory == true)
    }
  }
}
