import RPCurlBase
import RPCurlCFakeCurl
import RPCurlPlatform
import RPCurlProtocols
import RPCurlTransportSupport
import Testing

@testable import RPCurlTransport

struct EventLoopTests {
  private let fake = FakeLibcurl()
  private let loop: EventLoop

  init() throws {
    loop = try EventLoop()
  }

  @Test func timersFireInTheirOrder() throws {
    let now = MonotonicClock.now
    var fired: [Int] = []
    for number in [3, 1, 2] {
      loop.schedule(at: now + .milliseconds(number)) { fired.append(number) }
    }
    let canceled = loop.schedule(at: now) { fired.append(0) }
    loop.cancel(canceled)
    try loop.run { fired.count == 3 }
    #expect(fired == [1, 2, 3])
  }

  @Test func timerThatIsCanceledByAnEarlierOneDoesNotFire() throws {
    let now = MonotonicClock.now
    var fired: [Int] = []
    var second: EventLoop.TimerID?
    loop.schedule(at: now) {
      fired.append(1)
      if let second { loop.cancel(second) }
    }
    second = loop.schedule(at: now) { fired.append(2) }
    loop.schedule(at: now) { fired.append(3) }
    try loop.run { fired.last == 3 }
    #expect(fired == [1, 3])
  }

  @Test func workForTheEndOfARoundRunsBeforeTheWait() throws {
    var order: [String] = []
    loop.schedule(at: .now) { [loop] in
      loop.atEndOfRound {
        order.append("end")
        loop.atEndOfRound { order.append("end of the next") }
      }
      order.append("timer")
    }
    loop.beforeWait = {
      order.append("wait")
      return false
    }
    let begin = MonotonicClock.now
    try loop.run { order.contains("end of the next") }
    #expect(order.filter { $0 != "wait" } == ["timer", "end", "end of the next"])
    #expect(MonotonicClock.now - begin < .seconds(10))
  }

  @Test func runsWorkFromOtherThreads() throws {
    var count = 0
    let mailbox = loop.mailbox
    nonisolated(unsafe) var received = 0
    for _ in 0..<100 { mailbox.post { received += 1 } }
    try loop.run {
      count += 1
      return received == 100
    }
    #expect(count == 1)
  }

  /// libcurl may clear the wake-up of a post before the wait begins.
  @Test func doesNotSleepAfterTimerHasPostedWork() throws {
    let mailbox = loop.mailbox
    nonisolated(unsafe) var isRun = false
    loop.schedule(at: .now) { mailbox.post { isRun = true } }
    try loop.run { isRun }
    #expect(fake_longest_waits() == 0)
  }

  @Test func doesNotSleepIfBeforeWaitReturnsTrue() throws {
    var isFlushed = false
    loop.beforeWait = {
      defer { isFlushed = true }
      return !isFlushed
    }
    try loop.run { isFlushed }
    #expect(fake_longest_waits() == 0)
  }

  /// The longest wait while there is work would be a stall.
  @Test func doesNotSleepWhileTransferHasWork() throws {
    let recorder = TransferRecorder()
    var options = ConnectionOptions()
    options.httpVersion = .http2
    let transfer = try Transfer(
      HTTPRequest(url: "http://h/pkg.S/M", headers: Headers()), body: .stream, options: options,
      loop: loop,
      delegate: recorder)
    // Requests of `beforeWait` to a transfer are processed before the loop sleeps.
    var isAsked = false
    loop.beforeWait = {
      guard !isAsked else { return false }
      isAsked = true
      transfer.close()
      return false
    }
    try loop.run { isAsked && fake.handle() == nil }
    #expect(fake_longest_waits() == 0)
  }

  /// What libcurl was given in a round is sent in the next one, and descriptors are served all the same.
  @Test func asksWhatIsReadyInEverySecondRoundIfTransfersStartInEach() throws {
    let recorder = TransferRecorder()
    var transfers: [Transfer] = []
    try loop.run {
      let transfer = try? Transfer(
        HTTPRequest(url: "http://h/pkg.S/M", headers: Headers()), body: .whole([1]), options: .init(),
        loop: loop,
        delegate: recorder)
      if let transfer { transfers.append(transfer) }
      return transfers.count == 21
    }
    #expect(fake_polls() == 10)
    for transfer in transfers { transfer.close() }
    try loop.run { fake.handle() == nil }
    #expect(fake_violations() == 0)
  }

  /// libcurl reports a descriptor with data. One whose peer is closed it only counts, together with the sockets of transfers.
  @Test(arguments: [0, 1]) func noticesDataAtOnceAndClosedPeerInSecondWaitAtLatest(readySockets: Int32) throws
  {
    fake_set_ready_sockets(readySockets)
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let input = ends[0]
    defer { close(input) }
    var sizes: [Int] = []
    loop.watch(input) {
      var byte: UInt8 = 0
      sizes.append(read(input, &byte, 1))
    }
    try #require(write(ends[1], [7], 1) == 1)
    try loop.run { !sizes.isEmpty }
    #expect(fake_polls() == 1)
    close(ends[1])
    try loop.run { sizes.count == 2 }
    #expect(sizes == [1, 0])
    #expect(fake_polls() <= 3)
  }

  @Test func loopsWithinAnotherRunWithIt() throws {
    let inner = try [EventLoop(within: loop), EventLoop(within: loop)]
    nonisolated(unsafe) var events: Set<String> = []
    for (index, one) in inner.enumerated() {
      one.mailbox.post { events.insert("work \(index)") }
      one.schedule(at: .now + .milliseconds(1)) { events.insert("timer \(index)") }
    }
    let waits = fake_longest_waits()
    try loop.run { events.count == 4 }
    // The loop waits for their timers, too.
    #expect(fake_longest_waits() == waits)
  }

  @Test func loopThatIsReleasedDoesNotRunAnyMore() throws {
    var inner: EventLoop? = try EventLoop(within: loop)
    nonisolated(unsafe) var events: [Int] = []
    inner?.schedule(at: .now) { events.append(1) }
    inner = nil
    loop.schedule(at: .now + .milliseconds(1)) { events.append(2) }
    try loop.run { events.contains(2) }
    #expect(events == [2])
  }
}
