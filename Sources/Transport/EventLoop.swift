import CCurl
import Glibc
import Synchronization

/// The one loop of the process: transfers of libcurl, timers, further file descriptors, and work that other
/// threads hand over.
///
/// Everything here belongs to the thread that made the loop, but for its `mailbox`.
public final class EventLoop {
  /// Names a timer, to cancel it.
  public struct TimerID: Hashable, Sendable {
    fileprivate let number: Int
  }

  private struct Timer {
    let id: TimerID
    let due: ContinuousClock.Instant
    let action: () -> Void
  }

  /// Called before each wait, when everything that came has been worked off: the moment to flush output.
  public var beforeWait: () -> Void = {}

  /// Hears what libcurl says about the connections of transfers that start after it is set.
  public var trace: ConnectionTrace?

  /// Takes work from any thread.
  public let mailbox: Mailbox

  /// What is known of connections for HTTP/2 without TLS.
  var plainHTTP2 = PlainHTTP2()

  private let multi: UnsafeMutableRawPointer
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
  /// Transfers with something to do that libcurl forbids within its callbacks.
  private var unsettled: [Transfer] = []
  private var timers: [Timer] = []
  private var lastTimer = 0
  /// Whether the last round brought bytes. Then another follows without waiting for the socket: libcurl 7.88 may
  /// have read more of an HTTP/2 connection than it handed on, and would look again only at its next timer.
  private var hasReceived = false
  private var readable: [Int32: () -> Void] = [:]
  private var writable: [Int32: () -> Void] = [:]

  /// Loads libcurl and makes a loop.
  public init() throws(TransportError) {
    if let reason = ccurl_load() { throw TransportError(.library, String(cString: reason)) }
    guard let multi = ccurl_multi_init() else { throw TransportError(.library, "libcurl is out of memory") }
    self.multi = multi
    mailbox = Mailbox(multi)
  }

  deinit {
    mailbox.close()
    for transfer in transfers.values {
      transfer.close()
      transfer.discard(from: multi)
    }
    _ = ccurl_multi_cleanup(multi)
  }

  /// Runs until `isDone` holds.
  public func run(until isDone: () -> Bool) throws(TransportError) {
    while true {
      mailbox.drain()
      fireTimers()
      try perform()
      if isDone() { return }
      beforeWait()
      try wait()
    }
  }

  /// Calls `action` once at `due`, or soon after.
  @discardableResult
  public func schedule(at due: ContinuousClock.Instant, _ action: @escaping () -> Void) -> TimerID {
    lastTimer += 1
    let id = TimerID(number: lastTimer)
    timers.append(Timer(id: id, due: due, action: action))
    return id
  }

  /// Forgets a timer; one that has fired is no error.
  public func cancel(_ id: TimerID) {
    timers.removeAll { $0.id == id }
  }

  /// Calls `action` whenever `descriptor` can be read, until it is unwatched.
  public func watch(_ descriptor: Int32, _ action: @escaping () -> Void) {
    readable[descriptor] = action
  }

  /// Stops watching `descriptor`.
  public func unwatch(_ descriptor: Int32) {
    readable[descriptor] = nil
  }

  /// Calls `action` whenever `descriptor` can be written, until it is unwatched.
  public func watchWriting(_ descriptor: Int32, _ action: @escaping () -> Void) {
    writable[descriptor] = action
  }

  /// Stops watching `descriptor` for writing.
  public func unwatchWriting(_ descriptor: Int32) {
    writable[descriptor] = nil
  }

  // MARK: For Transfer

  func add(_ transfer: Transfer, handle: UnsafeMutableRawPointer) throws(TransportError) {
    let code = ccurl_multi_add_handle(multi, handle)
    guard code == CURLM_OK else {
      throw TransportError(.library, String(cString: ccurl_multi_strerror(code)))
    }
    transfers[handle] = transfer
  }

  /// Takes the handle of a transfer back that is done, and may start anew.
  func remove(_ handle: UnsafeMutableRawPointer) {
    _ = ccurl_multi_remove_handle(multi, handle)
    transfers[handle] = nil
  }

  func settleLater(_ transfer: Transfer) {
    unsettled.append(transfer)
  }

  func noteReceived() {
    hasReceived = true
  }

  // MARK: One round

  private func fireTimers() {
    guard !timers.isEmpty else { return }
    let now = ContinuousClock.now
    let due = timers.filter { $0.due <= now }.sorted { $0.due < $1.due }
    for timer in due {
      // One that came before may have cancelled it.
      guard let index = timers.firstIndex(where: { $0.id == timer.id }) else { continue }
      timers.remove(at: index)
      timer.action()
    }
  }

  private func perform() throws(TransportError) {
    settle()
    hasReceived = false
    var running: Int32 = 0
    let code = ccurl_multi_perform(multi, &running)
    guard code == CURLM_OK else {
      throw TransportError(.library, String(cString: ccurl_multi_strerror(code)))
    }
    for transfer in transfers.values { transfer.endRound() }
    var result = CURLE_OK
    while let handle = ccurl_multi_next_done(multi, &result) {
      transfers[handle]?.complete(result)
    }
    settle()
  }

  /// Does what callbacks asked for: removes what is over, continues what was paused.
  private func settle() {
    while !unsettled.isEmpty {
      let batch = unsettled
      unsettled = []
      for transfer in batch {
        if let handle = transfer.settle(in: multi) { transfers[handle] = nil }
      }
    }
  }

  private func wait() throws(TransportError) {
    var polls = readable.keys.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    polls += writable.keys.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
    var waits = polls.map { poll in
      let isWriting = poll.events == Int16(POLLOUT)
      return curl_waitfd(
        fd: poll.fd, events: Int16(isWriting ? CURL_WAIT_POLLOUT : CURL_WAIT_POLLIN), revents: 0)
    }
    var ready: Int32 = 0
    let count = UInt32(waits.count)
    let code = waits.withUnsafeMutableBufferPointer {
      ccurl_multi_poll(multi, $0.baseAddress, count, millisecondsToWait, &ready)
    }
    guard code == CURLM_OK else {
      throw TransportError(.library, String(cString: ccurl_multi_strerror(code)))
    }
    if ready > 0, !polls.isEmpty { serve(&polls) }
  }

  /// Looks at the watched descriptors again: libcurl does not tell of one whose other end is closed, which is
  /// ready too, to tell so.
  private func serve(_ polls: inout [pollfd]) {
    guard poll(&polls, nfds_t(polls.count), 0) > 0 else { return }
    for poll in polls where poll.revents != 0 {
      // An action may have unwatched what comes after it.
      let actions = poll.events == Int16(POLLOUT) ? writable : readable
      actions[poll.fd]?()
    }
  }

  /// libcurl shortens the wait by itself where its own timers are due sooner.
  private var millisecondsToWait: Int32 {
    guard unsettled.isEmpty, !hasReceived else { return 0 }
    guard let next = timers.map(\.due).min() else { return 60_000 }
    let (seconds, attoseconds) = (next - .now).components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 60 else { return 60_000 }
    // Rounded up: waking a moment early would only mean to wait again.
    return Int32(seconds) * 1000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}

/// Work for the loop from any thread.
public final class Mailbox: Sendable {
  private struct State {
    var work: [@Sendable () -> Void] = []
    nonisolated(unsafe) var multi: UnsafeMutableRawPointer?
  }

  private let state: Mutex<State>

  fileprivate init(_ multi: UnsafeMutableRawPointer) {
    nonisolated(unsafe) let multi = multi
    state = Mutex(State(multi: multi))
  }

  /// Has `work` run on the loop's thread, soon. After the loop's end it is dropped.
  public func post(_ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard let multi = state.multi else { return }
      state.work.append(work)
      // Within the lock, so that the loop cannot end between the look and the call.
      _ = ccurl_multi_wakeup(multi)
    }
  }

  fileprivate func drain() {
    let work = state.withLock { state in
      defer { state.work = [] }
      return state.work
    }
    for item in work { item() }
  }

  fileprivate func close() {
    state.withLock { $0.multi = nil }
  }
}
