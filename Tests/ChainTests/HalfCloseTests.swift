import Testing

@testable import RPCurlClient
@testable import RPCurlChain

/// A second half-close is a mistake of the chain: it fails tests of asynchronous interceptors, also those with `TestServer`.
@Suite struct HalfCloseTests {
  @Test func secondEndOfADirectionFailsTheProcess() async {
    await #expect(processExitsWith: .failure) {
      let side = AsyncSide(.readTyped)
      let node = PipelineNode(.request, (position: 0, isSerial: false), .requestEnd, .none)
      for _ in 1...2 {
        side.deliver(AsyncSlot(.requestEnd, nil, AnyToken(nil, .shown(node, .requestEnd))))
      }
    }
  }
}
