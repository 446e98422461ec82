import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// The suites that arguments of the command line name.
package enum SuiteFiles {
  /// The suffix of suites in directories.
  package static let suffix = ".rpcurl"
  private static let limit = 100_000

  /// The files of the arguments, each once: a file itself, or all suites in a directory and below it, in the order of
  /// their names.
  ///
  /// - Throws: `Failure` if an argument does not exist, or if a directory has no suites or cannot be listed.
  package static func find(_ arguments: [String]) throws(Failure) -> [String] {
    var files: [String] = []
    for argument in arguments {
      guard DirectoryPath.isDirectory(argument) else {
        guard argument == "-" || access(argument, R_OK) == 0 else {
          guard !Target.isServer(argument) else {
            throw Failure(
              .usage, argument, "a server where a file belongs",
              hint: "begin the suite with a line: target \(Target.shown(argument)); or set RPCURL_TARGET")
          }
          throw Failure(.usage, argument, FileContents.lastError(), hint: "rpcurl test FILE|DIR…")
        }
        files.append(argument)
        continue
      }
      let found: [String]
      do throws(SystemError) {
        found = try Directory.files(below: argument, suffix: suffix, limit: limit)
      } catch {
        throw Failure(.usage, argument, error)
      }
      guard !found.isEmpty else {
        throw Failure(
          .usage, argument, "the directory has no suites", hint: "names of suites end in \(suffix)")
      }
      files += found
    }
    let directory = FileContents.workingDirectory
    var found: Set<String> = []
    files = files.filter { found.insert(SuitePath.normalized($0, in: directory)).inserted }
    guard files.count <= limit else { throw Failure(.usage, "", "more than \(limit) suites") }
    return files
  }

  /// Reads a suite.
  package static func read(_ file: String, waitLimit: Duration?) throws(Failure) -> Suite {
    try Suite(file, parsing: FileContents.input(file, waitLimit: waitLimit))
  }

  /// Those of several files that cannot run beside others, and those of shared steps. One that cannot be read is not one of
  /// them: its process reports that.
  package static func special(_ files: [String]) -> (exclusive: Set<String>, shared: Set<String>) {
    var special: (exclusive: Set<String>, shared: Set<String>) = ([], [])
    guard files.count > 1 else { return special }
    for file in files where FileContents.isRegularFile(file) {
      guard let suite = try? read(file, waitLimit: nil) else { continue }
      if suite.isExclusive { special.exclusive.insert(file) }
      if suite.isShared { special.shared.insert(file) }
    }
    return special
  }
}
