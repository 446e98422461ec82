import Output
import System

/// The names of files in suites.
enum SuitePath {
  /// Reads a file, without the byte order mark that some editors write.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - name: Its name in errors.
  static func read(_ path: String, named name: String) throws(Failure) -> [UInt8] {
    do throws(FileContents.Problem) {
      return try FileContents.read(path, limitBytes: FileContents.dataLimitBytes, waitLimit: nil)
        .withoutByteOrderMark
    } catch {
      throw Failure(.input, name, error.why)
    }
  }
}
