import RPCurlPlatform

/// Paths of directories and files as text, without symbolic links resolved except by ``real(_:)``.
package enum DirectoryPath {
  /// The working directory; `/` if it does not exist.
  static var current: String {
    guard let name = getcwd(nil, 0) else { return "/" }
    defer { free(name) }
    return String(cString: name)
  }

  /// The absolute form of `path`, without `.` and `..`.
  static func absolute(_ path: String, in directory: String) -> String {
    var parts: [Substring] = []
    for part in (path.hasPrefix("/") ? path : "\(directory)/\(path)").split(separator: Character("/")) {
      switch part {
      case ".": continue
      case "..": _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return "/" + parts.joined(separator: "/")
  }

  /// An absolute path without symbolic links, as far as it exists.
  static func real(_ path: String) -> String {
    for place in ancestors(path) {
      guard let found = FileContents.canonicalPath(place) else { continue }
      return absolute("\(found)/\(path.dropFirst(place.count))", in: "/")
    }
    return path
  }

  /// The directory of an absolute path; nil for `/`.
  static func parent(_ path: String) -> String? {
    guard path != "/", let slash = path.lastIndex(of: "/") else { return nil }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// An absolute path and the directories above it, nearest first.
  static func ancestors(_ path: String) -> [String] {
    Array(sequence(first: path) { parent($0) })
  }

  /// The path of a name below a directory.
  static func join(_ directory: String, _ name: String) -> String {
    directory == "/" ? "/\(name)" : "\(directory)/\(name)"
  }

  /// Whether an absolute path is `directory` or below it.
  static func isInside(_ path: String, _ directory: String) -> Bool {
    directory == "/" || path == directory || path.hasPrefix("\(directory)/")
  }

  /// The path as a user writes it: relative to the working directory if it is below that.
  static func shown(_ path: String, in directory: String) -> String {
    if path == directory { return "." }
    guard directory != "/", path.hasPrefix("\(directory)/") else { return path }
    return String(path.dropFirst(directory.count + 1))
  }

  /// Whether a file or a directory exists.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Whether a directory exists.
  package static func isDirectory(_ path: String) -> Bool { FileFacts(path)?.isDirectory == true }
}
