@_silgen_name("__sanitizer_install_malloc_and_free_hooks")
private func installHooks(
  _ allocated: @convention(c) (UnsafeRawPointer?, Int) -> Void,
  _ freed: @convention(c) (UnsafeRawPointer?) -> Void
) -> CInt

@_silgen_name("__sanitizer_get_allocated_size")
private func allocatedSize(_ pointer: UnsafeRawPointer?) -> Int

/// How much memory is allocated, counted by the sanitizer's hooks.
private enum Allocations {
  nonisolated(unsafe) static var current = 0
  nonisolated(unsafe) static var highest = 0

  static let areCounted: Bool =
    installHooks(
      { _, size in
        Allocations.current += size
        if Allocations.current > Allocations.highest { Allocations.highest = Allocations.current }
      },
      { pointer in Allocations.current -= allocatedSize(pointer) }) > 0
}

extension Fuzz {
  /// What an entry point may need for an input of a few bytes: errors with their texts, types that it meets first.
  private static let constantBytes = 64 << 10

  /// Calls `body`, which may allocate no more than its documentation says: so many times the input, and three times
  /// what it gives.
  static func bounded<Result>(
    _ what: String, _ input: [UInt8], times multiple: Int = 100, constantBytes: Int = Fuzz.constantBytes,
    outputBytes: (Result) -> Int = { _ in 0 }, _ body: () -> Result
  ) -> Result {
    require(Allocations.areCounted, "allocations can be counted")
    let before = Allocations.current
    Allocations.highest = before
    let result = body()
    let bytes = Allocations.highest - before
    let limit = multiple * input.count + 3 * outputBytes(result) + constantBytes
    require(
      bytes <= limit, "\(what) needs no more than \(limit) bytes of memory, but it took \(bytes)", input)
    return result
  }
}
