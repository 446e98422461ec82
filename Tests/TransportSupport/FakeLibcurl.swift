import RPCurlCFakeCurl
import RPCurlTransport

/// Replaces libcurl by one without a network, for loops made on this thread while it exists. The steps of
/// `run` are called within libcurl, like callbacks.
package final class FakeLibcurl {
  /// The actions of the server in the next rounds, one step each.
  private var steps: [() -> Void] = []

  /// Installs the fake.
  package init() {
    fake_reset()
    fake_install()
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

  /// Runs one round of `loop` for each step, and one more.
  package func run(_ loop: EventLoop, _ steps: (() -> Void)...) throws {
    self.steps = steps
    var rounds = 0
    try loop.run {
      rounds += 1
      return rounds > steps.count
    }
  }

  /// The handle added at this index; nil past the last one.
  package func handle(_ index: Int = 0) -> UnsafeMutableRawPointer? { fake_handle(index) }

  /// Calls the callback for header lines with each of `lines`.
  package func send(_ handle: UnsafeMutableRawPointer?, _ lines: String...) {
    for line in lines { _ = fake_line(handle, "\(line)\r\n") }
  }

  /// The next bytes of a request's body, at most `capacity`; nil if the callback paused or ended the upload.
  package func read(_ handle: UnsafeMutableRawPointer?, _ capacity: Int = 64) -> [UInt8]? {
    var buffer = [CChar](repeating: 0, count: capacity)
    let count = fake_read(handle, &buffer, capacity)
    return count <= capacity ? buffer.prefix(count).map { UInt8(bitPattern: $0) } : nil
  }
}
