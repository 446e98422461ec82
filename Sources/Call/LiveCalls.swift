import RPCurlProtocols

/// The calls of interceptors that run after the calls that caused them have ended.
final class LingeringCalls {
  private var calls: [Int: Call?] = [:]
  private var last = 0

  var isEmpty: Bool { calls.isEmpty }

  /// Adds a call, whose result has been handled at `end`. Returns its number.
  func begin() -> Int {
    last += 1
    calls[last] = .some(nil)
    return last
  }

  func set(_ call: Call, _ number: Int) { calls[number] = call }

  func end(_ number: Int) { calls[number] = nil }

  func cancel(_ reason: String) {
    for call in calls.values { call?.cancel(reason) }
  }
}

/// The unfinished calls of a client.
final class LiveCalls {
  /// By their addresses.
  private var calls: [Int: Call] = [:]

  func add(_ call: Call) { calls[Int(bitPattern: ObjectIdentifier(call))] = call }

  func remove(_ call: Call) { calls[Int(bitPattern: ObjectIdentifier(call))] = nil }

  /// Ends every call.
  func end(_ error: RPCError) {
    for call in calls.values { call.end(error) }
  }
}
