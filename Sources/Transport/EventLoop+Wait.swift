import RPCurlBase
import RPCurlCCurl
import RPCurlPlatform
import RPCurlProtocols

/// The wait at the end of a round: for sockets, descriptors, timers and other threads.
extension EventLoop {
  /// The longest wait.
  private static let longestMilliseconds: Int32 = 60_000

  func wait() throws(TransportError) {
    // Taken, since an action may run the loop.
    var waits = self.waits
    self.waits = []
    waits.removeAll(keepingCapacity: true)
    waits += watchers.waits
    var milliseconds = millisecondsToWait
    for companion in companions {
      guard let loop = companion.loop else { continue }
      waits += loop.watchers.waits
      milliseconds = min(milliseconds, loop.millisecondsToWait)
    }
    let watchedCount = waits.count
    for companion in companions {
      guard let timeout = try companion.loop?.addSockets(to: &waits) else { continue }
      if timeout >= 0 { milliseconds = min(milliseconds, Int32(clamping: timeout)) }
    }
    var ready: Int32 = 0
    let code = waits.withUnsafeMutableBufferPointer {
      ccurl_multi_poll(multi, $0.baseAddress, UInt32($0.count), milliseconds, &ready)
    }
    try check(code)
    waits.removeLast(waits.count - watchedCount)
    wereSocketsReady = false
    if ready > 0 { serve(&waits, ready: Int(ready)) }
    self.waits = waits
  }

  /// Adds the sockets that libcurl waits for. Returns the milliseconds until its next timer; -1 if there is no timer.
  private func addSockets(to sockets: inout [curl_waitfd]) throws(TransportError) -> Int {
    let old = sockets.count
    var capacity = 4
    while true {
      var count: UInt32 = 0
      sockets += Array(repeating: curl_waitfd(), count: capacity)
      let code = sockets.withUnsafeMutableBufferPointer {
        ccurl_multi_waitfds(multi, $0.baseAddress.map { $0 + old }, UInt32(capacity), &count)
      }
      try check(code)
      sockets.removeLast(capacity - min(Int(count), capacity))
      guard count > capacity else { return ccurl_multi_timeout(multi) }
      sockets.removeLast(capacity)
      capacity = Int(count)
    }
  }

  /// Calls the actions of watched descriptors.
  ///
  /// - Parameter ready: How many descriptors and sockets are ready.
  private func serve(_ waits: inout [curl_waitfd], ready: Int) {
    let reported = waits.reduce(0) { $0 + ($1.revents == 0 ? 0 : 1) }
    wereSocketsReady = ready > reported
    otherWakeUps = wereSocketsReady ? otherWakeUps + 1 : 0
    // Most of them are due to the sockets of transfers.
    if otherWakeUps > 1 { findClosedPeers(&waits) }
    for wait in waits where wait.revents != 0 {
      // An action may unwatch later descriptors.
      watchers[wait.fd, Watchers.Events(wait)]?()
      for companion in companions { companion.loop?.watchers[wait.fd, Watchers.Events(wait)]?() }
    }
  }

  /// Marks descriptors whose peer is closed as ready: libcurl counts them, but does not report them.
  private func findClosedPeers(_ waits: inout [curl_waitfd]) {
    otherWakeUps = 0
    var polls = waits.map { pollfd(fd: $0.fd, events: 0, revents: 0) }
    guard poll(&polls, nfds_t(polls.count), 0) > 0 else { return }
    for index in waits.indices where polls[index].revents != 0 { waits[index].revents = waits[index].events }
  }

  /// The timeout of the wait. libcurl shortens it if its own timers are due sooner.
  private var millisecondsToWait: Int32 {
    // Work that a timer or a transfer of this round has posted: libcurl may have cleared the wake-up meanwhile.
    guard mailbox.isEmpty else { return 0 }
    guard !continuesAtOnce else { return 0 }
    guard let due = nextTimer else { return Self.longestMilliseconds }
    // Rounded up: waking too early only causes another wait.
    let milliseconds = (due - .now + .nanoseconds(999_999)).milliseconds
    return Int32(min(max(milliseconds, 0), Int64(Self.longestMilliseconds)))
  }
}

/// What to do when descriptors are ready.
struct Watchers {
  /// What a descriptor is watched for.
  enum Events {
    case reading
    case writing

    init(_ wait: curl_waitfd) {
      self = wait.events == Int16(CURL_WAIT_POLLOUT) ? .writing : .reading
    }
  }

  /// The watched descriptors, as libcurl takes them.
  private(set) var waits: [curl_waitfd] = []
  private var actions: [() -> Void] = []

  /// The action for a descriptor; nil if it is not watched.
  subscript(descriptor: Int32, events: Events) -> (() -> Void)? {
    get { index(descriptor, events).map { actions[$0] } }
    set {
      if let index = index(descriptor, events) {
        waits.remove(at: index)
        actions.remove(at: index)
      }
      guard let newValue else { return }
      let mask = events == .writing ? CURL_WAIT_POLLOUT : CURL_WAIT_POLLIN
      waits.append(curl_waitfd(fd: descriptor, events: Int16(mask), revents: 0))
      actions.append(newValue)
    }
  }

  private func index(_ descriptor: Int32, _ events: Events) -> Int? {
    waits.firstIndex { $0.fd == descriptor && Events($0) == events }
  }
}
