import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// The golden files of checks.
package struct SessionGoldenFiles: GoldenFiles {
  /// The file that relative names are relative to; empty for the working directory.
  private let suite: String
  package let isUpdating: Bool
  /// How long to wait for data from a pipe; nil for no limit.
  var waitLimit: Duration?

  /// - Parameters:
  ///   - suite: The file that relative names are relative to; empty for the working directory.
  ///   - isUpdating: Whether files that differ are written.
  package init(besides suite: String = "", isUpdating: Bool = false) {
    self.suite = suite
    self.isUpdating = isUpdating
  }

  private func place(_ path: String) -> String { Directory.path(of: path, besides: suite) }

  /// Whether a file exists.
  func has(_ path: String) -> Bool { access(place(path), F_OK) == 0 || errno != ENOENT }

  package func read(_ path: String) throws(SystemError) -> [UInt8]? {
    guard has(path) else { return nil }
    return try FileContents.read(place(path), limitBytes: FileContents.dataLimitBytes, waitLimit: waitLimit)
  }

  package func write(_ path: String, _ text: String) throws(SystemError) {
    let place = place(path)
    if let slash = place.lastIndex(of: "/"), slash != place.startIndex {
      Directory.make(String(place[..<slash]))
    }
    if let problem = FileContents.replace(place, with: Array(text.utf8), waitLimit: waitLimit) {
      throw problem
    }
  }
}
