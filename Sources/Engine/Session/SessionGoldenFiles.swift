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
  /// The files that processes of this run write; nil if it is the only one.
  private let runFiles: RunFiles?
  /// How long to wait for data from a pipe; nil for no limit.
  var waitLimit: Duration?

  /// - Parameters:
  ///   - suite: The file that relative names are relative to; empty for the working directory.
  ///   - isUpdating: Whether files that differ are written.
  ///   - runFiles: The files that processes of this run write; nil if it is the only one.
  package init(besides suite: String = "", isUpdating: Bool = false, in runFiles: RunFiles? = nil) {
    self.suite = suite
    self.isUpdating = isUpdating
    self.runFiles = runFiles
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
    let name = "golden \(FileContents.targetPath(place).replacing("\n", with: "\0"))"
    try SharedFile(place, isPrivate: false).update(waitLimit: waitLimit) { content throws(SystemError) in
      let new = Array(text.utf8)
      // A suite that has read the file before another one has updated it may have the same value.
      guard try content.bytes(limitBytes: FileContents.dataLimitBytes) != new else { return new }
      guard runFiles?.claim(name) ?? true else {
        throw SystemError("another suite of this run has written another value")
      }
      return new
    }
  }
}
