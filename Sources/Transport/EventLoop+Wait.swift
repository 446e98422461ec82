import CCurl
import Glibc
import RPCProtocols

/// The wait at the end of a round: for sockets, descriptors, timers and other threads.
extension EventLoop {
  /// The longest wait.
  private static let longestMilliseconds: Int32 = 60_000

  func wait() throws(TransportError) {
    var polls = watchedDescriptors
    var milliseconds = millisecondsToWait
    var sockets: [curl_waitfd] = []
    for companion in companions {
      guard let loop = companion.loop else { continue }
      polls += loop.watchedDescriptors
      milliseconds = min(milliseconds, loop.millisecondsToWait)
      let timeout = try loop.addSockets(to: &sockets)
      if timeout >= 0 { milliseconds = min(milliseconds, Int32(clamping: timeout)) }
    }
    var waits = polls.map { poll in
      let isWriting = poll.events == Int16(POLLOUT)
      return curl_waitfd(
        fd: poll.fd, events: Int16(isWriting ? CURL_WAIT_POLLOUT : CURL_WAIT_POLLIN), revents: 0)
    }
    waits += sockets
    var ready: Int32 = 0
    let count = UInt32(waits.count)
    let code = waits.withUnsafeMutableBufferPointer {
      ccurl_multi_poll(multi, $0.baseAddress, count, milliseconds, &ready)
    }
    try check(code)
    if ready > 0, !polls.isEmpty { serve(&polls) }
  }

  private var watchedDescriptors: [pollfd] {
    readable.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      + writable.descriptors.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
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

  /// Checks the watched descriptors again: libcurl does not report a closed peer, which also counts as ready.
  private func serve(_ polls: inout [pollfd]) {
    guard poll(&polls, nfds_t(polls.count), 0) > 0 else { return }
    for poll in polls where poll.revents != 0 {
      serve(poll)
      for companion in companions { companion.loop?.serve(poll) }
    }
  }

  private func serve(_ poll: pollfd) {
    // An action may have unwatched later descriptors.
    let actions = poll.events == Int16(POLLOUT) ? writable : readable
    actions[poll.fd]?()
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
  private var all: [(descriptor: Int32, action: () -> Void)] = []

  /// The watched descriptors.
  var descriptors: [Int32] { all.map(\.descriptor) }

  /// The action for a descriptor; nil if it is not watched.
  subscript(descriptor: Int32) -> (() -> Void)? {
    get { all.first { $0.descriptor == descriptor }?.action }
    set {
      all.removeAll { $0.descriptor == descriptor }
      if let newValue { all.append((descriptor, newValue)) }
    }
  }
}
