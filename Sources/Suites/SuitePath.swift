import Output
import System

/// The names of files in suites.
enum SuitePath {
  /// The path of a file that a suite names: relative to the directory of the suite.
  static func resolve(_ path: String, besides suite: String) -> String {
    guard !path.hasPrefix("/"), let slash = suite.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return "\(suite[...slash])\(path)"
  }

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - name: Its name in errors.
  static func read(_ path: String, named name: String) throws(Failure) -> [UInt8] {
    do throws(FileContents.Problem) {
      return try FileContents.read(path, limitBytes: FileContents.dataLimitBytes, waitLimit: nil)
    } catch {
      throw Failure(.input, name, error.why)
    }
  }
}
