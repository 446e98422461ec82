import RPCurlCServer
import RPCurlPlatform
import RPCurlTransport

/// The sockets of a listener, which the loop watches as one descriptor.
final class Poller {
  /// What a socket is ready for.
  struct Readiness {
    var reading = false
    var writing = false
    /// Neither side can send any more. Reported always.
    var isBroken = false
  }

  /// The most sockets of one wait. The rest is reported by the next.
  private static let batch = 64
  private let descriptor: Int32
  private let loop: EventLoop

  /// Makes a poller; nil and `errno` without a descriptor.
  ///
  /// - Parameter ready: Called with the identifier of each socket that is ready.
  init?(_ loop: EventLoop, ready: @escaping (_ id: Int, Readiness) -> Void) {
    let made = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard made >= 0 else { return nil }
    (descriptor, self.loop) = (made, loop)
    loop.watch(made) {
      var events = [epoll_event](repeating: epoll_event(), count: Self.batch)
      let count = epoll_wait(made, &events, Int32(Self.batch), 0)
      for event in events.prefix(max(Int(count), 0)) {
        let has = { (mask: UInt32) in event.events & mask != 0 }
        ready(
          Int(event.data.u64),
          Readiness(
            reading: has(cserver_reading), writing: has(cserver_writing), isBroken: has(cserver_broken)))
      }
    }
  }

  /// Waits no more.
  func end() {
    loop.unwatch(descriptor)
    close(descriptor)
  }

  /// Adds a socket. Returns false without memory.
  func add(_ socket: Int32, id: Int) -> Bool {
    control(EPOLL_CTL_ADD, socket, id, reading: true, writing: false)
  }

  /// Sets what a socket is waited for.
  func set(_ socket: Int32, id: Int, reading: Bool, writing: Bool) {
    _ = control(EPOLL_CTL_MOD, socket, id, reading: reading, writing: writing)
  }

  private func control(_ operation: Int32, _ socket: Int32, _ id: Int, reading: Bool, writing: Bool) -> Bool {
    var event = epoll_event()
    event.events = (reading ? cserver_reading : 0) | (writing ? cserver_writing : 0)
    event.data.u64 = UInt64(id)
    return epoll_ctl(descriptor, operation, socket, &event) == 0
  }
}
