import Glibc

/// Lists directories for completion.
package enum FileNames {
  /// The limit of listed entries.
  private static let most = 10_000

  /// The entries of a directory; empty if it cannot be read.
  package static func entries(_ directory: String) -> [Completer.FileEntry] {
    guard let stream = opendir(directory.isEmpty ? "." : directory) else { return [] }
    defer { closedir(stream) }
    var entries: [Completer.FileEntry] = []
    while entries.count < most, let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name != ".", name != ".." else { continue }
      var status = stat()
      let isDirectory = stat(directory + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      entries.append(Completer.FileEntry(name: name, isDirectory: isDirectory))
    }
    return entries
  }
}
