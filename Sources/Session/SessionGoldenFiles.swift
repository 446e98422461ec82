import Checks
import Glibc
import Output
import Protobuf
import System

/// The golden files of checks. Relative names are relative to a directory.
package struct SessionGoldenFiles: GoldenFiles {
  /// The directory of relative names, with its slash; empty for the working directory.
  private let directory: String
  package let isUpdating: Bool

  /// - Parameters:
  ///   - directory: The directory of relative names, with its slash; empty for the working directory.
  ///   - isUpdating: Whether files that differ are written.
  package init(directory: String = "", isUpdating: Bool = false) {
    self.directory = directory
    self.isUpdating = isUpdating
  }

  private func place(_ path: String) -> String { path.begins(with: "/") ? path : directory + path }

  package func read(_ path: String) throws(GoldenFileError) -> [UInt8]? {
    guard access(place(path), F_OK) == 0 || errno != ENOENT else { return nil }
    do throws(FileContents.Problem) {
      return try FileContents.read(place(path), limitBytes: FileContents.dataLimitBytes, waitLimit: nil)
    } catch {
      throw GoldenFileError(error.why)
    }
  }

  package func write(_ path: String, _ text: String) throws(GoldenFileError) {
    let place = place(path)
    if let slash = place.lastIndex(of: "/"), slash != place.startIndex {
      Directory.make(String(place[..<slash]))
    }
    if let problem = FileContents.replace(place, with: Array(text.utf8)) {
      throw GoldenFileError(problem.why)
    }
  }
}
