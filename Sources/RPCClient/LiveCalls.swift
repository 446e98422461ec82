import RPCProtocols

/// The calls of a client that have been started and have not finished.
final class LiveCalls {
  private var calls: [ObjectIdentifier: CallDriver] = [:]

  func add(_ call: CallDriver) { calls[ObjectIdentifier(call)] = call }

  func remove(_ call: CallDriver) { calls[ObjectIdentifier(call)] = nil }

  /// Ends every call, with all that follows from it.
  func end(_ error: RPCError) {
    for call in calls.values { call.end(error) }
  }
}
