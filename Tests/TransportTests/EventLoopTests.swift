import CFakeCurl
import RPCProtocols
import Testing

@testable import Transport

struct EventLoopTests {
  private let fake: FakeLibcurl

  init() throws {
    fake = try FakeLibcurl()
  }

  @Test func timersFireInTheirOrder() throws {
    let now = ContinuousClock.now
    var fired: [Int] = []
    for number in [3, 1, 2] {
      fake.loop.schedule(at: now + .milliseconds(number)) { fired.append(number) }
    }
    let canceled = fake.loop.schedule(at: now) { fired.append(0) }
    fake.loop.cancel(canceled)
    try fake.loop.run { fired.count == 3 }
    #expect(fired == [1, 2, 3])
  }

  @Test func timerThatIsCanceledByAnEarlierOneDoesNotFire() throws {
    let now = ContinuousClock.now
    var fired: [Int] = []
    var second: EventLoop.TimerID?
    fake.loop.schedule(at: now) {
      fired.append(1)
      if let second { fake.loop.cancel(second) }
    }
    second = fake.loop.schedule(at: now) { fired.append(2) }
    fake.loop.schedule(at: now) { fired.append(3) }
    try fake.loop.run { fired.last == 3 }
    #expect(fired == [1, 3])
  }

  @Test func workIsTakenFromOtherThreads() throws {
    var count = 0
    let mailbox = fake.loop.mailbox
    nonisolated(unsafe) var received = 0
    for _ in 0..<100 { mailbox.post { received += 1 } }
    try fake.loop.run {
      count += 1
      return received == 100
    }
    #expect(count == 1)
  }

  /// A wait of the longest time while something is to be done would be a stall.
  @Test func loopDoesNotSleepWhileATransferHasSomethingToDo() throws {
    let recorder = TransferRecorder()
    var options = ConnectionOptions()
    options.httpVersion = .http2
    let transfer = try Transfer(
      HTTPRequest(url: "http://h/pkg.S/M", headers: Headers()), body: .stream, options: options,
      loop: fake.loop,
      delegate: recorder)
    // What `beforeWait` asks of a transfer is done before the loop sleeps.
    var isAsked = false
    fake.loop.beforeWait = {
      guard !isAsked else { return }
      isAsked = true
      transfer.close()
    }
    try fake.loop.run { isAsked && fake.handle() == nil }
    #expect(fake_longest_waits() == 0)
  }
}
