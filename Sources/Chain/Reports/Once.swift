import RPCurlBase
import RPCurlProtobuf

/// Reports something the first time only, such as the failure of each write to a full disk.
package final class Once: Sendable {
  private let isReported = Locked(false)

  /// Not reported yet.
  package init() {}

  /// Calls `body`, unless that was done.
  package func report(_ body: () -> Void) {
    let isFirst = isReported.withLock { isReported in
      defer { isReported = true }
      return !isReported
    }
    if isFirst { body() }
  }
}
