import RPCurlPlatform

/// A git repository of this machine, by the path of its working tree.
struct GitRepository {
  /// The top of the working tree, an absolute path.
  let top: String
  /// The same without symbolic links.
  private let realTop: String

  init(top: String) {
    self.top = top
    realTop = DirectoryPath.real(top)
  }

  /// The repository that contains an absolute path; nil for none.
  init?(around path: String) {
    let top = DirectoryPath.ancestors(path).first { DirectoryPath.exists(DirectoryPath.join($0, ".git")) }
    guard let top else { return nil }
    self.init(top: top)
  }

  /// The path below the top by which an absolute path is in the repository, maybe by a symbolic link elsewhere; nil if it is outside.
  func path(_ path: String) -> String? {
    if DirectoryPath.isInside(path, top) { return path }
    let real = DirectoryPath.real(path)
    guard DirectoryPath.isInside(real, realTop) else { return nil }
    return DirectoryPath.absolute(DirectoryPath.shown(real, in: realTop), in: top)
  }
}
