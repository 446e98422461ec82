import Testing

/// Runs the tests of all suites with this trait one at a time.
///
/// Their tests wait for compilers and other processes, each on a thread of the pool that asynchronous tests need too. A
/// test that waits for its turn here occupies no thread.
struct OneAtATime: SuiteTrait, TestTrait, TestScoping {
  private actor Gate {
    private var isOpen = true
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func enter() async {
      guard !isOpen else { return isOpen = false }
      await withCheckedContinuation { waiters.append($0) }
    }

    func leave() {
      if waiters.isEmpty { isOpen = true } else { waiters.removeFirst().resume() }
    }
  }

  private static let gate = Gate()

  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await Self.gate.enter()
    do {
      try await function()
      await Self.gate.leave()
    } catch {
      await Self.gate.leave()
      throw error
    }
  }
}

extension Trait where Self == OneAtATime {
  /// One test at a time, of all suites with this trait.
  static var oneAtATime: Self { Self() }
}
