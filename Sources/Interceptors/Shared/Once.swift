import Protobuf

/// Reports something the first time only, such as the failure of each write to a full disk.
final class Once: Sendable {
  private let isReported = Locked(false)

  /// Calls `body`, unless that was done.
  func report(_ body: () -> Void) {
    let isFirst = isReported.withLock { isReported in
      defer { isReported = true }
      return !isReported
    }
    if isFirst { body() }
  }
}
