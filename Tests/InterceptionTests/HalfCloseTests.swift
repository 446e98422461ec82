import Testing

@testable import AsyncInterception

/// A second half-close is a mistake of the chain: it fails tests of asynchronous interceptors, also those with `TestServer`.
@Suite struct HalfCloseTests {
  @Test func secondEndOfADirectionFailsTheProcess() async {
    await #expect(processExitsWith: .failure) {
      let side = AsyncSide(.readTyped)
      let end = AsyncSlot(message: nil, error: nil, inject: { _ in }, settle: { _, _ in })
      side.deliver(end)
      side.deliver(end)
    }
  }
}
