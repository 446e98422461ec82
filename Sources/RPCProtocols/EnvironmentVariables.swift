import Glibc

/// The environment variables of the process.
package enum EnvironmentVariables {
  /// The value of a variable; nil if it is not set or not UTF-8.
  package static func value(_ name: String) -> String? {
    getenv(name).flatMap { String(validatingCString: $0) }
  }
}
