import Calls
import Glibc
import Output
import Protobuf
import System

/// The suites that arguments of the command line name.
package enum SuiteFiles {
  /// The suffix of suites in directories.
  package static let suffix = ".rpcurl"
  private static let depthLimit = 32
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
      let count = files.count
      add(argument.hasSuffix("/") ? String(argument.dropLast()) : argument, 0, &files)
      guard files.count > count else {
        throw Failure(
          .usage, argument, "the directory has no suites", hint: "names of suites end in \(suffix)")
      }
    }
    guard files.count <= limit else { throw Failure(.usage, "", "more than \(limit) suites") }
    return files
  }

  private static func add(_ directory: String, _ depth: Int, _ files: inout [String]) {
    guard depth < depthLimit, files.count <= limit else { return }
    for name in Directory.names(in: directory).sorted() where !name.hasPrefix(".") {
      let path = "\(directory)/\(name)"
      if DirectoryPath.isDirectory(path) {
        add(path, depth + 1, &files)
      } else if name.hasSuffix(suffix) {
        files.append(path)
      }
    }
  }
}
