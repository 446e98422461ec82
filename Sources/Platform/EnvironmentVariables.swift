/// The environment variables of the process.
package enum EnvironmentVariables {
  /// The value of a variable; nil if it is not set or not UTF-8.
  package static func value(_ name: String) -> String? {
    getenv(name).flatMap { String(validatingCString: $0) }
  }

  /// The names of all variables, sorted.
  package static var names: [String] {
    var next = environ
    var names: [String] = []
    while let entry = next.pointee {
      names.append(String(String(cString: entry).prefix { $0 != "=" }))
      next += 1
    }
    return names.sorted()
  }
}
