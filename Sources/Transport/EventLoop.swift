import CCurl
import Glibc
import RPCProtocols

/// The event loop of a client: transfers of libcurl, timers, file descriptors, and work from other threads.
///
/// All members belong to the thread that made the loop, except `mailbox`.
public final class EventLoop {
  /// Identifies a timer for `cancel`.
  public struct TimerID: Hashable, Sendable {
    fileprivate let id: TimerQueue.ID
  }

  /// The time after which a round handles timers, signals and descriptors first: transfers that receive more
  /// continue in the next round.
  package var roundTime = Duration.milliseconds(50)

  /// Called before each wait, when everything received has been processed; flush output here.
  ///
  /// Returns whether there is new work. The loop then runs another round before it waits.
  public var beforeWait: () -> Bool = { false }

  /// Observes the connections of transfers that start after it is set.
  package var trace: ConnectionTrace?

  /// Accepts work from any thread.
  public let mailbox: Mailbox

  /// Workarounds, if this libcurl needs them.
  let oldLibcurl: OldLibcurl?

  /// The sockets of all connections.
  let sockets = SocketTable()

  private let multi: UnsafeMutableRawPointer
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
  private var probes: [UnsafeMutableRawPointer: ConnectionProbe] = [:]
  /// Transfers with actions that libcurl forbids within its callbacks.
  private var unsettled: [Transfer] = []
  /// Transfers that have read trailers in this round.
  private var awaitingRoundEnd: [Transfer] = []
  /// Transfers that continue in the next round.
  private var yielding: [Transfer] = []
  private var timers = TimerQueue()
  /// The time after which this round is late.
  private var roundEnd = MonotonicClock.now
  /// Whether the last round received bytes.
  private var hasReceived = false
  private var readable: [Int32: () -> Void] = [:]
  private var writable: [Int32: () -> Void] = [:]
  /// A handle in the multi without a connection, as `curl_easy_upkeep` needs it.
  private var keeper: UnsafeMutableRawPointer?

  /// Loads libcurl and makes a loop.
  public init() throws(TransportError) {
    if let reason = ccurl_load() { throw TransportError(.library, String(cString: reason)) }
    guard let multi = ccurl_multi_init() else { throw TransportError(.library, "libcurl is out of memory") }
    self.multi = multi
    oldLibcurl = OldLibcurl()
    mailbox = Mailbox(multi)
  }

  deinit {
    mailbox.close()
    for (handle, transfer) in transfers {
      _ = ccurl_multi_remove_handle(multi, handle)
      transfer.loopReleased()
    }
    for transfer in unsettled { transfer.loopReleased() }
    for handle in probes.keys { _ = ccurl_multi_remove_handle(multi, handle) }
    if let keeper {
      _ = ccurl_multi_remove_handle(multi, keeper)
      ccurl_easy_cleanup(keeper)
    }
    _ = ccurl_multi_cleanup(multi)
  }

  /// Runs until `isDone` returns true.
  ///
  /// - Throws: ``TransportError`` if libcurl fails.
  public func run(until isDone: () -> Bool) throws(TransportError) {
    while true {
      mailbox.drain()
      fireTimers()
      try perform()
      if isDone() { return }
      if !beforeWait() { try wait() }
    }
  }

  /// Calls `action` once at `due`, or soon after.
  @discardableResult
  public func schedule(at due: MonotonicClock.Instant, _ action: @escaping () -> Void) -> TimerID {
    TimerID(id: timers.add(due: due, action))
  }

  /// Removes a timer; does nothing if it has fired.
  public func cancel(_ timer: TimerID) {
    timers.cancel(timer.id)
  }

  /// Calls `action` whenever `descriptor` is readable, until `unwatch`.
  public func watch(_ descriptor: Int32, _ action: @escaping () -> Void) {
    readable[descriptor] = action
  }

  /// Stops watching `descriptor`.
  public func unwatch(_ descriptor: Int32) {
    readable[descriptor] = nil
  }

  /// Calls `action` whenever `descriptor` is writable, until `unwatchWriting`.
  public func watchWriting(_ descriptor: Int32, _ action: @escaping () -> Void) {
    writable[descriptor] = action
  }

  /// Stops watching `descriptor` for writing.
  public func unwatchWriting(_ descriptor: Int32) {
    writable[descriptor] = nil
  }

  // MARK: For Transfer

  func add(_ transfer: Transfer, handle: UnsafeMutableRawPointer) throws(TransportError) {
    try check(ccurl_multi_add_handle(multi, handle))
    transfers[handle] = transfer
  }

  /// Removes the handle of a transfer.
  func remove(_ handle: UnsafeMutableRawPointer) {
    _ = ccurl_multi_remove_handle(multi, handle)
    transfers[handle] = nil
  }

  func add(_ probe: ConnectionProbe, handle: UnsafeMutableRawPointer) throws(TransportError) {
    try check(ccurl_multi_add_handle(multi, handle))
    probes[handle] = probe
  }

  /// Removes the handle of a probe, if it was added.
  func remove(probe handle: UnsafeMutableRawPointer) {
    guard probes.removeValue(forKey: handle) != nil else { return }
    _ = ccurl_multi_remove_handle(multi, handle)
  }

  /// Schedules `transfer` to settle after libcurl's callbacks have returned.
  func settleLater(_ transfer: Transfer) {
    unsettled.append(transfer)
  }

  /// Notifies `transfer` when this round ends.
  func awaitRoundEnd(_ transfer: Transfer) {
    awaitingRoundEnd.append(transfer)
  }

  /// Notifies `transfer` when the next round begins.
  func resumeNextRound(_ transfer: Transfer) {
    yielding.append(transfer)
  }

  /// Whether this round has exceeded its time. Checked whenever bytes are received.
  var isLate: Bool {
    hasReceived = true
    return MonotonicClock.now > roundEnd
  }

  /// Sends a PING on each HTTP/2 connection. Returns false if libcurl fails.
  func ping() -> Bool {
    if keeper == nil { keeper = makeKeeper() }
    return keeper.map { ccurl_easy_upkeep($0) == CURLE_OK } ?? false
  }

  /// Makes a handle whose transfer fails at once and stays in the multi.
  private func makeKeeper() -> UnsafeMutableRawPointer? {
    guard let keeper = ccurl_easy_init() else { return nil }
    let options = TransferHandle(keeper)
    do throws(TransportError) {
      try options.set(CURLOPT_URL, "none:")
      try options.set(CURLOPT_UPKEEP_INTERVAL_MS, 1)
      try check(ccurl_multi_add_handle(multi, keeper))
    } catch {
      ccurl_easy_cleanup(keeper)
      return nil
    }
    return keeper
  }

  private func check(_ code: CURLMcode) throws(TransportError) {
    guard code == CURLM_OK else {
      throw TransportError(.library, String(cString: ccurl_multi_strerror(code)))
    }
  }

  // MARK: One round

  private func fireTimers() {
    guard timers.nextDue() != nil else { return }
    let now = MonotonicClock.now
    while let action = timers.removeFirst(dueAt: now) { action() }
  }

  private func perform() throws(TransportError) {
    hasReceived = false
    roundEnd = .now + roundTime
    let resumed = yielding
    yielding = []
    for transfer in resumed { transfer.continueReceiving() }
    settle()
    var running: Int32 = 0
    try check(ccurl_multi_perform(multi, &running))
    endRound()
    var result = CURLE_OK
    while let handle = ccurl_multi_next_done(multi, &result) {
      if let probe = probes[handle] { probe.complete(result) }
      transfers[handle]?.complete(result)
    }
    settle()
  }

  private func endRound() {
    let ended = awaitingRoundEnd
    awaitingRoundEnd = []
    for transfer in ended { transfer.endRound() }
    guard oldLibcurl != nil else { return }
    for transfer in transfers.values { transfer.watchForLoss() }
  }

  /// Performs the actions requested within callbacks: adds, continues and removes handles.
  private func settle() {
    while !unsettled.isEmpty {
      let batch = unsettled
      unsettled = []
      for transfer in batch { transfer.settle() }
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
    try check(code)
    if ready > 0, !polls.isEmpty { serve(&polls) }
  }

  /// Checks the watched descriptors again: libcurl does not report a closed peer, which also counts as ready.
  private func serve(_ polls: inout [pollfd]) {
    guard poll(&polls, nfds_t(polls.count), 0) > 0 else { return }
    for poll in polls where poll.revents != 0 {
      // An action may have unwatched later descriptors.
      let actions = poll.events == Int16(POLLOUT) ? writable : readable
      actions[poll.fd]?()
    }
  }

  /// The timeout of the wait. libcurl shortens it if its own timers are due sooner.
  private var millisecondsToWait: Int32 {
    // Work that a timer or a transfer of this round has posted: libcurl may have cleared the wake-up meanwhile.
    guard mailbox.isEmpty else { return 0 }
    guard unsettled.isEmpty, yielding.isEmpty, oldLibcurl == nil || !hasReceived else { return 0 }
    guard let next = timers.nextDue() else { return 60_000 }
    // Rounded up: waking too early only causes another wait.
    let milliseconds = (next - .now + .nanoseconds(999_999)).milliseconds
    return Int32(min(max(milliseconds, 0), 60_000))
  }
}
