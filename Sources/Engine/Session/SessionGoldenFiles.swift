import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// The golden files of checks.
///
/// The first check of a run decides about the content of a file: it finds its value there, or writes it.
package final class SessionGoldenFiles: GoldenFiles {
  /// The file that relative names are relative to; empty for the working directory.
  private let suite: String
  package let isUpdating: Bool
  /// The files that processes of this run write; nil if it is the only one.
  private let runFiles: RunFiles?
  /// The files whose content is decided.
  private var decided: Set<String> = []
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
      .withoutByteOrderMark
  }

  package func write(_ path: String, _ content: [UInt8]) throws(SystemError) {
    let place = place(path)
    if let slash = place.lastIndex(of: "/"), slash != place.startIndex {
      Directory.make(String(place[..<slash]))
    }
    let name = "golden \(FileContents.identity(of: place))"
    try SharedFile(place, isPrivate: false).update(waitLimit: waitLimit) { old throws(SystemError) in
      let isFirst = decided.insert(name).inserted && runFiles?.claim(name) ?? true
      guard try old.bytes(limitBytes: FileContents.dataLimitBytes) != content else { return nil }
      guard isFirst else { throw SystemError("another check of this run has another value") }
      return content
    }
  }
}
