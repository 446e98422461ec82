import RPCurlPlatform

/// The kits for scripts in the installation.
enum ScriptKit {
  /// The variables in which interpreters look for modules.
  private static let variables = ["PYTHONPATH", "NODE_PATH"]

  /// The environment of scripts, in which interpreters find the kits; nil for that of this process, if no kits are installed.
  static var environment: [String]? {
    let folder = "\(Installation.prefix)/share/rpcurl/ScriptKit"
    guard access(folder, F_OK) == 0 else { return nil }
    var entries = EnvironmentVariables.entries.filter { entry in
      !variables.contains { entry.hasPrefix("\($0)=") }
    }
    for name in variables {
      let rest = EnvironmentVariables.value(name).map { $0.isEmpty ? "" : ":\($0)" } ?? ""
      entries.append("\(name)=\(folder)\(rest)")
    }
    return entries
  }
}
