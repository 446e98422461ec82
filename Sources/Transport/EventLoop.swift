import RPCurlBase
import RPCurlCCurl
import RPCurlPlatform
import RPCurlProtocols

/// The event loop of a client: transfers of libcurl, timers, file descriptors, and work from other threads.
///
/// All members belong to the thread that made the loop, except `mailbox`.
package final class EventLoop {
  /// Identifies a timer for `cancel`.
  package struct TimerID: Hashable, Sendable {
    fileprivate let id: TimerQueue.ID
  }

  /// The time after which a round handles timers, signals and descriptors first: transfers that receive more
  /// continue in the next round.
  package var roundTime = Duration.milliseconds(50)

  /// Called before each wait, when everything received has been processed; flush output here.
  ///
  /// Returns whether there is new work. The loop then runs another round before it waits.
  package var beforeWait: () -> Bool = { false }

  /// Whether all transfers of a round send their bytes on a connection together, in few packets. This saves time of both
  /// sides if many transfers start at once.
  package var sendsTogether = false

  /// Observes the connections of transfers that start after it is set.
  package var trace: ConnectionTrace?

  /// Called before each transfer with a libcurl that may lose responses; nil allows it. An error is that of the transfer.
  package var onOldLibcurl: ((OldLibcurlVersion) throws(TransportError) -> Void)?

  /// Whether the start of a response has the certificate of the server. Then each handshake of TLS takes more time.
  package var reportsCertificates: Bool {
    get { certificates != nil }
    set { certificates = newValue ? certificates ?? ServerCertificates() : nil }
  }
  private(set) var certificates: ServerCertificates?

  /// Accepts work from any thread.
  package let mailbox: Mailbox

  /// Workarounds, if this libcurl needs them.
  let oldLibcurl: OldLibcurl?
  /// Whether libcurl may not report the end of a response that comes before that of the request.
  package var losesEarlyEnds: Bool { oldLibcurl != nil }

  /// The sockets of all connections.
  let sockets = SocketTable()
  /// The addresses of servers.
  var peers = PeerAddress()
  /// Handles of completed transfers.
  let handles: EasyHandlePool

  let multi: UnsafeMutableRawPointer
  /// By the addresses of their handles. All dictionaries of a loop have integers as keys: at the start of the program, each
  /// type of keys costs a search among all conformances.
  private var transfers: [Int: Transfer] = [:]
  private var probes: [Int: ConnectionProbe] = [:]
  /// Transfers with actions that libcurl forbids within its callbacks.
  private var unsettled: [Transfer] = []
  /// Transfers that have read trailers in this round.
  private var awaitingRoundEnd: [Transfer] = []
  /// Transfers that continue in the next round.
  private var yielding: [Transfer] = []
  private var timers = TimerQueue()
  /// The time after which this round is late.
  private var roundEnd = MonotonicClock.now
  /// Work for the end of this round.
  private var postponed: [() -> Void] = []
  /// How many transfers libcurl was given since the last round.
  private var addedCount = 0
  /// Whether the loop has waited, or asked what is ready, before this round.
  private var hasWaited = true
  /// Whether the last round received bytes.
  private var hasReceived = false
  /// What to do when descriptors are ready.
  private(set) var watchers = Watchers()
  /// What the last wait was for. Its memory is used again.
  var waits: [curl_waitfd] = []
  /// How many waits in a row ended for another reason than a watched descriptor.
  var otherWakeUps = 0
  /// Whether the last wait ended because of a socket of libcurl.
  var wereSocketsReady = false
  private var repetition = Repetition.possible
  /// A handle in the multi without a connection, as `curl_easy_upkeep` needs it.
  private var keeper: UnsafeMutableRawPointer?
  /// The loops that run within this one.
  private(set) var companions: [Companion] = []
  /// The loop that this one runs within; nil if it runs by itself.
  private let main: EventLoop?

  /// A round that repeats the last one: libcurl may report an error of an HTTP/2 connection only at its next input, which may
  /// never come.
  private enum Repetition {
    /// The built-in libcurl reports errors at once.
    case unneeded
    case possible
    case begins
  }

  /// A loop that retains the one that refers to it.
  struct Companion {
    fileprivate(set) weak var loop: EventLoop?
  }

  /// Loads libcurl and makes a loop.
  package convenience init() throws(TransportError) {
    try self.init(within: nil)
  }

  /// Makes a loop with connections of its own that runs whenever another loop does, on its thread.
  ///
  /// - Parameter main: The other loop; nil for a loop that runs by itself.
  /// - Throws: ``TransportError`` if libcurl cannot be used, or is older than 8.8 and `main` is not nil.
  package init(within main: EventLoop?) throws(TransportError) {
    if let reason = ccurl_load() { throw TransportError(.library, String(cString: reason)) }
    guard let multi = ccurl_multi_init() else { throw TransportError(.library, "libcurl is out of memory") }
    self.multi = multi
    oldLibcurl = OldLibcurl()
    if ccurl_is_patched() { repetition = .unneeded }
    handles = EasyHandlePool(sockets)
    self.main = main
    mailbox = Mailbox(main?.multi ?? multi)
    guard let main else { return }
    guard ccurl_has_waitfds() else {
      throw TransportError(.library, "several loops on a thread need libcurl 8.8 or newer")
    }
    main.companions.append(Companion(loop: self))
  }

  /// Limits the number of connections to each server. Transfers wait for a connection that they can share.
  package func limitConnections(to count: Int) throws(TransportError) {
    try check(ccurl_multi_limit_connections(multi, count))
  }

  deinit {
    mailbox.close()
    for transfer in transfers.values {
      _ = ccurl_multi_remove_handle(multi, transfer.handle)
      transfer.loopReleased()
    }
    for transfer in unsettled { transfer.loopReleased() }
    for key in probes.keys { _ = ccurl_multi_remove_handle(multi, UnsafeMutableRawPointer(bitPattern: key)) }
    if let keeper {
      _ = ccurl_multi_remove_handle(multi, keeper)
      ccurl_easy_cleanup(keeper)
    }
    _ = ccurl_multi_cleanup(multi)
  }

  /// Runs until `isDone` returns true.
  ///
  /// - Throws: ``TransportError`` if libcurl fails.
  package func run(until isDone: () -> Bool) throws(TransportError) {
    while true {
      try performRound()
      for companion in companions { try companion.loop?.performRound() }
      endWithPostponed()
      if isDone() { return }
      if !beforeWait(), !continuesWithoutWait() { try wait() }
    }
  }

  /// Whether a transfer was started or ended, for which libcurl need not be asked what is ready. Not twice in a row:
  /// descriptors must not wait for long.
  private func continuesWithoutWait() -> Bool {
    hasWaited = !hasWaited || unsettled.isEmpty
    return !hasWaited
  }

  /// Calls `action` once at `due`, or soon after.
  @discardableResult
  package func schedule(at due: MonotonicClock.Instant, _ action: @escaping () -> Void) -> TimerID {
    TimerID(id: timers.add(due: due, action))
  }

  /// Removes a timer; does nothing if it has fired.
  package func cancel(_ timer: TimerID) {
    timers.cancel(timer.id)
  }

  /// Calls `action` when this round has processed what was received, before the loop waits.
  package func atEndOfRound(_ action: @escaping () -> Void) {
    postponed.append(action)
  }

  private func endWithPostponed() {
    guard !postponed.isEmpty else { return }
    let actions = postponed
    postponed = []
    for action in actions { action() }
  }

  /// Calls `action` whenever `descriptor` is readable, until `unwatch`.
  package func watch(_ descriptor: Int32, _ action: @escaping () -> Void) {
    watchers[descriptor, .reading] = action
  }

  /// Stops watching `descriptor`.
  package func unwatch(_ descriptor: Int32) {
    watchers[descriptor, .reading] = nil
  }

  /// Calls `action` whenever `descriptor` is writable, until `unwatchWriting`.
  package func watchWriting(_ descriptor: Int32, _ action: @escaping () -> Void) {
    watchers[descriptor, .writing] = action
  }

  /// Stops watching `descriptor` for writing.
  package func unwatchWriting(_ descriptor: Int32) {
    watchers[descriptor, .writing] = nil
  }

  // MARK: For Transfer

  /// Throws if transfers must not use this libcurl.
  func admitLibcurl() throws(TransportError) {
    guard oldLibcurl != nil else { return }
    try onOldLibcurl?(OldLibcurlVersion(name: OldLibcurl.name))
  }

  /// The number of exchanges that libcurl was given and that have not ended.
  var transferCount: Int { transfers.count }

  func add(_ transfer: Transfer, handle: UnsafeMutableRawPointer) throws(TransportError) {
    try check(ccurl_multi_add_handle(multi, handle))
    transfers[Int(bitPattern: handle)] = transfer
    addedCount += 1
  }

  /// Removes the handle of a transfer.
  func remove(_ handle: UnsafeMutableRawPointer) {
    _ = ccurl_multi_remove_handle(multi, handle)
    transfers[Int(bitPattern: handle)] = nil
  }

  func add(_ probe: ConnectionProbe, handle: UnsafeMutableRawPointer) throws(TransportError) {
    try check(ccurl_multi_add_handle(multi, handle))
    probes[Int(bitPattern: handle)] = probe
  }

  /// Removes the handle of a probe, if it was added.
  func remove(probe handle: UnsafeMutableRawPointer) {
    guard probes.removeValue(forKey: Int(bitPattern: handle)) != nil else { return }
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

  /// Whether this round has exceeded its time. Checked whenever bytes are received, and between the
  /// messages that they contain.
  package var isLate: Bool {
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

  func check(_ code: CURLMcode) throws(TransportError) {
    guard code == CURLM_OK else {
      throw TransportError(.library, String(cString: ccurl_multi_strerror(code)))
    }
  }

  // MARK: One round

  /// Whether the next round must not wait.
  var continuesAtOnce: Bool {
    !unsettled.isEmpty || !yielding.isEmpty || !postponed.isEmpty || repetition == .begins
      || oldLibcurl != nil && hasReceived
  }

  /// When the next timer is due; nil if there is no timer.
  var nextTimer: MonotonicClock.Instant? { timers.nextDue() }

  private func performRound() throws(TransportError) {
    mailbox.drain()
    fireTimers()
    try perform()
  }

  private func fireTimers() {
    guard timers.nextDue() != nil else { return }
    let now = MonotonicClock.now
    while let action = timers.removeFirst(dueAt: now) { action() }
  }

  private func perform() throws(TransportError) {
    hasReceived = false
    sockets.beginRound()
    roundEnd = .now + roundTime
    let resumed = yielding
    yielding = []
    for transfer in resumed { transfer.continueReceiving() }
    settle()
    var running: Int32 = 0
    // One request is one write already.
    let isCorked = sendsTogether && addedCount > 1
    addedCount = 0
    if isCorked { sockets.cork(true) }
    try check(ccurl_multi_perform(multi, &running))
    if isCorked { sockets.cork(false) }
    endRound()
    var result = CURLE_OK
    while let handle = ccurl_multi_next_done(multi, &result) {
      probes[Int(bitPattern: handle)]?.complete(result)
      transfers[Int(bitPattern: handle)]?.complete(result)
    }
    settle()
  }

  private func endRound() {
    let ended = awaitingRoundEnd
    awaitingRoundEnd = []
    for transfer in ended { transfer.endRound() }
    if repetition != .unneeded {
      repetition = repetition == .possible && mayHaveLateErrors ? .begins : .possible
    }
    guard oldLibcurl != nil else { return }
    for transfer in transfers.values { transfer.watchForLoss() }
  }

  /// Whether a connection may have failed whose transfers libcurl has not ended. It has a message for one of them, unless it
  /// is old.
  private var mayHaveLateErrors: Bool {
    oldLibcurl != nil && (main ?? self).wereSocketsReady
      || transfers.values.contains(where: \.easy.hasError)
  }

  /// Performs the actions requested within callbacks: adds, continues and removes handles.
  private func settle() {
    while !unsettled.isEmpty {
      let batch = unsettled
      unsettled = []
      for transfer in batch { transfer.settle() }
    }
  }
}
