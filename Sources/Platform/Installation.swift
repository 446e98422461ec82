/// The paths of rpcurl's installation on this machine.
package enum Installation {
  /// The installation prefix: the parent of the directory of the executable.
  package static var prefix: String {
    guard let path = FileContents.target(ofLink: "/proc/self/exe") else { return "/usr/local" }
    return parent(of: path, levels: 2)
  }

  private static func parent(of path: String, levels: Int) -> String {
    path.split(separator: "/").dropLast(levels).reduce(into: "") { $0 += "/\($1)" }
  }
}
