import RPCurlBase
import RPCurlPlatform

extension FileFacts.Identity {
  /// The key of a dictionary: one with keys of another type is made in 60,000 instructions.
  var key: String { "\(device):\(number)" }
}

/// What the search for sources sees of the file system: functions, so that tests have one in memory.
struct FileTree {
  enum Kind {
    case file
    case directory
    /// A pipe or a device: what is read once is gone.
    case stream
  }

  /// A file or a directory, with links followed.
  struct Status {
    let kind: Kind
    /// The same for all names of one file.
    let identity: FileFacts.Identity
  }

  /// The status of an absolute path; nil if nothing is there.
  let status: (String) -> Status?
  /// The contents of a file.
  let read: (String) throws(SystemError) -> [UInt8]
  /// The entries of a directory.
  let entries: (String) throws(SystemError) -> [Directory.Entry]

  func isFile(_ path: String) -> Bool { status(path)?.kind == .file }
  func isDirectory(_ path: String) -> Bool { status(path)?.kind == .directory }

  /// The files of this machine.
  ///
  /// - Parameters:
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  ///   - stamp: Receives all that is seen.
  static func system(waitLimit: Duration? = nil, _ stamp: SourceStamp? = nil) -> FileTree {
    FileTree(
      status: { path in
        let found = FileFacts(path)
        stamp?.see(path, found)
        return found.map { file in
          Status(
            kind: file.isRegular ? .file : file.isDirectory ? .directory : .stream, identity: file.identity)
        }
      },
      read: { (path) throws(SystemError) in
        try FileContents.read(path, limitBytes: limitBytes, waitLimit: waitLimit)
      },
      entries: { (path) throws(SystemError) in
        stamp?.seeEntries(path)
        return try Directory.list(path)
      })
  }

  /// The largest accepted source: that of one with all of an API in it.
  private static let limitBytes = 64 << 20
}
