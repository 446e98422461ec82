import CFakeCurl
import RPCProtocols

@testable import Transport

/// A loop over a libcurl without a network. What its methods do happens in the middle of a round, as in callbacks.
final class FakeLibcurl {
  let loop: EventLoop
  /// What the server does in the rounds to come, one step each.
  private var steps: [() -> Void] = []

  init() throws {
    fake_reset()
    fake_install()
    loop = try EventLoop()
    let context = Unmanaged.passUnretained(self).toOpaque()
    fake_on_perform(
      { context in
        guard let context else { return }
        let fake = Unmanaged<FakeLibcurl>.fromOpaque(context).takeUnretainedValue()
        if !fake.steps.isEmpty { fake.steps.removeFirst()() }
      }, context)
  }

  deinit {
    fake_on_perform(nil, nil)
  }

  /// Runs one round for each step, and one more.
  func run(_ steps: () -> Void...) throws {
    self.steps = steps
    var rounds = 0
    try loop.run {
      rounds += 1
      return rounds > steps.count
    }
  }

  /// The handles that libcurl has.
  func handle(_ index: Int = 0) -> UnsafeMutableRawPointer? { fake_handle(index) }
}

/// Records what a transfer reports.
final class TransferRecorder: TransferDelegate {
  var events: [String] = []
  var body: [UInt8] = []
  var error: TransportError?
  /// Called at each event, from within libcurl's callbacks.
  var onEvent: (String) -> Void = { _ in }

  private func record(_ event: String) {
    events.append(event)
    onEvent(event)
  }

  func transfer(received head: ResponseStart) { record("head \(head.httpStatus)") }
  func transfer(received body: RawSpan) {
    self.body += body.withUnsafeBytes { Array($0) }
    record("body \(body.byteCount)")
  }
  func transfer(received trailers: Headers) { record("trailers \(trailers.count)") }
  func transfer(sentBytes: Int) { record("sent \(sentBytes)") }
  func transferWantsMore(_ isWanted: Bool) { record("wants \(isWanted)") }
  func transferEnded(error: TransportError?) {
    self.error = error
    record("ended")
  }
}
