import Glibc

/// The paths of rpcurl's installation on this machine.
package enum Installation {
  /// The installation prefix: the parent of the directory of the executable.
  package static var prefix: String {
    guard let path = FileContents.target(ofLink: "/proc/self/exe") else { return "/usr/local" }
    return parent(of: path, levels: 2)
  }

  /// The directory that contains `rpcurl/plugin.h`; nil if not found.
  package static var headers: String? {
    find(installed: "include", inSources: "Sources/CPluginABI/include", "rpcurl/plugin.h")
  }

  /// The directory of the Swift package for plugins; nil if not found.
  package static var swiftKit: String? {
    find(installed: "share/rpcurl/SwiftKit", inSources: "Plugins/SwiftKit", "Package.swift")
  }

  /// Finds the directory that contains `file`: in the installation prefix, or in the source tree of the build.
  private static func find(installed: String, inSources: String, _ file: String) -> String? {
    guard let path = FileContents.target(ofLink: "/proc/self/exe") else { return nil }
    // PREFIX/bin/rpcurl, or SOURCES/.build/TRIPLE/release/rpcurl
    let candidates = [
      "\(parent(of: path, levels: 2))/\(installed)", "\(parent(of: path, levels: 4))/\(inSources)",
    ]
    return candidates.first { access("\($0)/\(file)", R_OK) == 0 }
  }

  private static func parent(of path: String, levels: Int) -> String {
    path.split(separator: "/").dropLast(levels).reduce(into: "") { $0 += "/\($1)" }
  }
}
