import Calls
import Glibc
import Output
import Protobuf
import System

/// The suites that arguments of the command line name.
package enum SuiteFiles {
  /// The suffix of suites in directories.
  package static let suffix = ".rpcurl"
  private static let limit = 100_000

  /// The files of the arguments: a file itself, or all suites in a directory and below it, in the order of their names.
  ///
  /// - Throws: `Failure` if an argument does not exist, or if a directory has no suites.
  package static func find(_ arguments: [String]) throws(Failure) -> [String] {
    var files: [String] = []
    for argument in arguments {
      guard DirectoryPath.isDirectory(argument) else {
        guard argument == "-" || access(argument, R_OK) == 0 else {
          throw Failure(.usage, argument, FileContents.lastError(), hint: "rpcurl test FILE|DIR…")
        }
        files.append(argument)
        continue
      }
      let found = Directory.files(below: argument, suffix: suffix, limit: limit)
      guard !found.isEmpty else {
        throw Failure(
          .usage, argument, "the directory has no suites", hint: "names of suites end in \(suffix)")
      }
      files += found
    }
    guard files.count <= limit else { throw Failure(.usage, "", "more than \(limit) suites") }
    return files
  }
}
