import RPCProtocols

/// The unfinished calls of a client.
final class LiveCalls {
  private var calls: [ObjectIdentifier: Call] = [:]

  func add(_ call: Call) { calls[ObjectIdentifier(call)] = call }

  func remove(_ call: Call) { calls[ObjectIdentifier(call)] = nil }

  /// Ends every call.
  func end(_ error: RPCError) {
    for call in calls.values { call.end(error) }
  }
}
