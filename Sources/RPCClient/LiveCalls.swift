import RPCProtocols

/// The unfinished calls of a client.
final class LiveCalls {
  private var calls: [ObjectIdentifier: CallDriver] = [:]

  func add(_ call: CallDriver) { calls[ObjectIdentifier(call)] = call }

  func remove(_ call: CallDriver) { calls[ObjectIdentifier(call)] = nil }

  /// Ends every call.
  func end(_ error: RPCError) {
    for call in calls.values { call.end(error) }
  }
}
