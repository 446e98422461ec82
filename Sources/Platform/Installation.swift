/// The paths of rpcurl's installation on this machine.
package enum Installation {
  /// The installation prefix: the parent of the directory of the executable.
  package static var prefix: String {
    guard let path = FileContents.target(ofLink: "/proc/self/exe") else { return "/usr/local" }
    return parent(of: path, levels: 2)
  }

  /// The environment of scripts, in which interpreters find the kits of the installation; nil for that of this process, if no
  /// kits are installed.
  package static var environmentOfScripts: [String]? {
    let folder = "\(prefix)/share/rpcurl/ScriptKit"
    guard access(folder, F_OK) == 0 else { return nil }
    let variables = ["PYTHONPATH", "NODE_PATH"]
    var entries = EnvironmentVariables.entries.filter { entry in
      !variables.contains { entry.hasPrefix("\($0)=") }
    }
    for name in variables {
      let rest = EnvironmentVariables.value(name).map { $0.isEmpty ? "" : ":\($0)" } ?? ""
      entries.append("\(name)=\(folder)\(rest)")
    }
    return entries
  }

  private static func parent(of path: String, levels: Int) -> String {
    path.split(separator: "/").dropLast(levels).reduce(into: "") { $0 += "/\($1)" }
  }
}
