import Glibc

/// Where rpcurl and what belongs to it are on this machine.
package enum Installation {
  /// The directory above that of the binary.
  package static var prefix: String {
    guard let path = FileContents.target(ofLink: "/proc/self/exe") else { return "/usr/local" }
    return parent(of: path, levels: 2)
  }

  /// The directory that has `rpcurl/plugin.h`; `nil` when there is none.
  package static var headers: String? {
    find(installed: "include", inSources: "Sources/CPluginABI/include", "rpcurl/plugin.h")
  }

  /// The package for plugins in Swift; `nil` when there is none.
  package static var swiftKit: String? {
    find(installed: "share/rpcurl/SwiftKit", inSources: "Plugins/SwiftKit", "Package.swift")
  }

  /// A directory that has a file: installed beside the binary, or in the sources that it was built in.
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
