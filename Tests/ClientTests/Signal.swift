import RPCurlBase
import RPCurlCFakeCurl
import RPCurlClient
import RPCurlClientTesting

/// Makes a server for clients that do not load libcurl: other tests of this process use one without a network.
func testServer(_ schema: Schema = TestSchema.schema) -> TestServer {
  fake_install()
  return TestServer(schema: schema)
}

/// A value that tasks wait for.
final class Signal<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>

  init(_ value: Value) { state = Locked(State(value: value)) }

  var value: Value { state.withLock { $0.value } }

  /// Changes the value, and returns the new one.
  @discardableResult
  func change(_ body: @Sendable (inout Value) -> Void) -> Value {
    let (value, waiters) = state.withLock { state in
      body(&state.value)
      defer { state.waiters = [] }
      return (state.value, state.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return value
  }

  /// Waits until a condition holds.
  func wait(_ holds: @Sendable (Value) -> Bool) async {
    while true {
      let value = self.value
      if holds(value) { return }
      await withCheckedContinuation { waiter in
        let waits = state.withLock { state in
          guard !holds(state.value) else { return false }
          state.waiters.append(waiter)
          return true
        }
        if !waits { waiter.resume() }
      }
    }
  }
}

extension Signal where Value == Int {
  /// The value after it has not changed for a while, although other tasks run.
  func settled() async -> Int {
    var (last, unchanged) = (value, 0)
    while unchanged < 50 {
      try? await Task.sleep(for: .milliseconds(2))
      unchanged = value == last ? unchanged + 1 : 0
      last = value
    }
    return last
  }
}
