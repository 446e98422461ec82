import Glibc

/// Directories of the user's own files.
package enum Directory {
  /// Creates a directory and its parents, which only the user can read. An error shows when a file is created in it.
  package static func make(_ path: String) {
    for end in path.indices where path[end] == "/" && end != path.startIndex {
      mkdir(String(path[..<end]), 0o700)
    }
    mkdir(path, 0o700)
  }

  /// The names of the entries; empty if the directory cannot be read.
  package static func names(in path: String) -> [String] {
    guard let entries = opendir(path) else { return [] }
    defer { closedir(entries) }
    var names: [String] = []
    while let entry = readdir(entries) {
      names.append(
        withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }
}
