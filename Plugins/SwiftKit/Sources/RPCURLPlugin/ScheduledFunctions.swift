import CRPCURLPlugin
import Synchronization

/// The functions that are scheduled for a call, or for a plugin outside of calls.
final class ScheduledFunctions: Sendable {
  /// Identifies a scheduled function.
  typealias Number = ObjectIdentifier

  /// The functions; `nil` once they are dropped, after which the host runs none of them.
  private let waiting = Mutex<[Number: ScheduledFunction]?>([:])

  /// Schedules a function, which is retained until it runs or is dropped.
  func schedule(
    _ body: @escaping () -> Void, _ host: Host, _ start: (rpcurl_function, UnsafeMutableRawPointer) -> Int32
  ) throws(HostError) -> Number {
    let function = ScheduledFunction(self, body)
    let number = ObjectIdentifier(function)
    let isOpen = waiting.withLock { waiting in
      waiting?[number] = function
      return waiting != nil
    }
    guard isOpen else { throw HostError(code: RPCURL_EENDED, description: "the call has ended") }
    let result = start(
      { _, argument in
        guard let argument else { return }
        Unmanaged<ScheduledFunction>.fromOpaque(argument).takeUnretainedValue().run()
      }, Unmanaged.passUnretained(function).toOpaque())
    if result < 0 { drop(number) }
    try host.check(result)
    return number
  }

  /// Drops a function, which the host no longer runs.
  func drop(_ number: Number) { withExtendedLifetime(take(number)) {} }

  /// Drops all functions: the host no longer runs them.
  func close() {
    // Released outside the lock: they may have the last references to objects that schedule functions.
    let dropped = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    withExtendedLifetime(dropped) {}
  }

  fileprivate func take(_ number: Number) -> ScheduledFunction? {
    waiting.withLock { $0?.removeValue(forKey: number) }
  }
}

/// A scheduled function. It is passed to the loop's thread, and only that thread runs it.
private final class ScheduledFunction: @unchecked Sendable {
  private unowned let owner: ScheduledFunctions
  private let body: () -> Void

  init(_ owner: ScheduledFunctions, _ body: @escaping () -> Void) {
    self.owner = owner
    self.body = body
  }

  func run() { owner.take(ObjectIdentifier(self))?.body() }
}
