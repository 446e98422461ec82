/// The names of files in suites.
enum SuitePath {
  /// The path without parts that have no meaning, and relative to the working directory if it is below that.
  static func normalized(_ path: String, in directory: String?) -> String {
    let parts = path.split(separator: "/").filter { $0 != "." }
    let plain = (path.begins(with: "/") ? "/" : "") + parts.joined(separator: "/")
    guard let head = directory.map({ "\($0)/" }), plain.begins(with: head) else { return plain }
    return String(plain.utf8.dropFirst(head.utf8.count)) ?? plain
  }
}
