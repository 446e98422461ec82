/// Whether each direction of a call takes more messages.
struct FlowControl {
  /// One direction.
  struct Direction {
    /// Whether the receiver outside the chain takes more: the transport of a request, the caller of a response.
    var isWanted = true
    /// Whether the sender was asked to pause, for this reason or because the chain is full.
    fileprivate(set) var isPaused = false
    /// What interceptors run when the direction takes more.
    var waiters: [() -> Void] = []

    /// Decides again whether the sender pauses. A full chain stays full until half of it is free, so that pauses are few.
    ///
    /// - Parameters:
    ///   - waitingBytes: The bytes that wait in the chain.
    ///   - windowBytes: The bytes that may wait before the sender pauses.
    /// - Returns: Whether the decision has changed.
    fileprivate mutating func update(waitingBytes: Int, windowBytes: Int) -> Bool {
      let limit = isPaused ? windowBytes / 2 + 1 : windowBytes
      let before = isPaused
      isPaused = !isWanted || waitingBytes >= limit
      return isPaused != before
    }

    /// Takes the waiters, if the direction takes more.
    fileprivate mutating func takeReady() -> [() -> Void] {
      guard !isPaused else { return [] }
      defer { waiters = [] }
      return waiters
    }
  }

  /// What follows from an update.
  struct Change {
    let requestChanged: Bool
    let responseChanged: Bool
    let ready: [() -> Void]
    /// Whether anything follows.
    var isEmpty: Bool { !requestChanged && !responseChanged && ready.isEmpty }
  }

  /// How many bytes may wait in each direction before the sender is asked to pause.
  var windowBytes: Int
  var request = Direction()
  var response = Direction()

  init(windowBytes: Int) { self.windowBytes = windowBytes }

  /// Decides again about both directions.
  ///
  /// - Parameters:
  ///   - requestBytes: The bytes of the request that wait in the chain.
  ///   - responseBytes: The bytes of the response that wait in the chain.
  mutating func update(requestBytes: Int, responseBytes: Int) -> Change {
    let requestChanged = request.update(waitingBytes: requestBytes, windowBytes: windowBytes)
    let responseChanged = response.update(waitingBytes: responseBytes, windowBytes: windowBytes)
    return Change(
      requestChanged: requestChanged, responseChanged: responseChanged,
      ready: request.takeReady() + response.takeReady())
  }
}
