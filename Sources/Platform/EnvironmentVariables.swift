import RPCurlCSystem

/// The environment variables of the process.
package enum EnvironmentVariables {
  /// The value of a variable; nil if it is not set or not UTF-8.
  package static func value(_ name: String) -> String? {
    getenv(name).flatMap { String(validatingCString: $0) }
  }

  /// The names of all variables, sorted.
  package static var names: [String] { entries.map { String($0.prefix { $0 != "=" }) }.sorted() }

  /// All variables as `NAME=VALUE`.
  package static var entries: [String] {
    var next = csystem_environment()
    var entries: [String] = []
    while let entry = next?.pointee {
      entries.append(String(cString: entry))
      next = next?.successor()
    }
    return entries
  }
}
