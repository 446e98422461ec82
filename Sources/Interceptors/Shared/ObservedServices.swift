import RPCurlBase
import RPCurlChain
import RPCurlProtobuf

/// The services of a built-in interceptor, with the digests of the files that its settings name.
///
/// The digests are those of the content that the interceptor has read: a pipe cannot be read twice.
final class ObservedServices: InterceptorServices {
  private let base: any InterceptorServices
  /// The digests in the order read; nil after the interceptor was made.
  private let digests = Locked<[String]?>([])

  init(_ base: any InterceptorServices) { self.base = base }

  /// Ends the observation, and returns the digests of the files that were read.
  func takeDigests() -> [String] {
    digests.withLock { digests in
      defer { digests = nil }
      return digests ?? []
    }
  }

  var waitLimit: Duration? { base.waitLimit }

  func contents(ofFile path: String, holdsMessages: Bool) throws(SystemError) -> [UInt8] {
    let content = try base.contents(ofFile: path, holdsMessages: holdsMessages)
    digests.withLock { $0?.append(SHA256.digest(of: content)) }
    return content
  }

  func openFile(_ path: String, isAppending: Bool) throws(SystemError) -> any OutputFile {
    try base.openFile(path, isAppending: isAppending)
  }

  func replaceFile(_ path: String, with bytes: [UInt8], isPrivate: Bool) throws(SystemError) {
    try base.replaceFile(path, with: bytes, isPrivate: isPrivate)
  }

  func checkReplacing(_ path: String) throws(SystemError) { try base.checkReplacing(path) }

  func claim(_ path: String) throws(SystemError) { try base.claim(path) }

  func cacheFolder(_ name: String, limitBytes: Int) throws(SystemError) -> any CacheFolder {
    try base.cacheFolder(name, limitBytes: limitBytes)
  }

  func run(
    _ command: [String], timeout: Duration,
    completion: @escaping @Sendable (Result<[UInt8], SystemError>) -> Void
  ) -> @Sendable () -> Void {
    base.run(command, timeout: timeout, completion: completion)
  }

  func environment(_ name: String) -> String? { base.environment(name) }

  var nanosecondsSince1970: Int64 { base.nanosecondsSince1970 }

  var reports: ReportFiles { base.reports }
  var shared: SharedValues { base.shared }
}
