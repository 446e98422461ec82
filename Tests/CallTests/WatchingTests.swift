import RPCurlBase
import RPCurlCFakeCurl
import RPCurlChain
import RPCurlPlatform
import RPCurlTransportSupport
import Testing

@testable import RPCurlCall

/// Descriptors that factories of interceptors watch, over a libcurl without a network.
struct WatchingTests {
  private let fake = FakeLibcurl()

  /// Also where the loop of the client runs within another one.
  @Test(arguments: [false, true]) func callsActionsWhileADescriptorIsWatched(isWithin: Bool) throws {
    let outer = try LoopClient()
    let client = isWithin ? try LoopClient(within: outer) : outer
    let registration = InterceptorRegistration(name: "x", factory: ClosureFactory { _, _ in nil })
    let network = client.network(for: registration.id, log: { _ in })
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (input, output) = (ends[0], ends[1])
    defer {
      close(input)
      close(output)
    }
    var bytes: [UInt8] = []
    network.watch(input, .reading) {
      var byte: UInt8 = 0
      if read(input, &byte, 1) == 1 { bytes.append(byte) }
      if byte == 3 { network.watch(input, .reading, nil) }
    }
    network.watch(output, .writing) {
      network.watch(output, .writing, nil)
      var sent: [UInt8] = [1, 2, 3, 4]
      write(output, &sent, 4)
    }
    try outer.loop.run { bytes.last == 3 }
    var isLater = false
    network.after(.milliseconds(2)) { isLater = true }
    try outer.loop.run { isLater }
    #expect(bytes == [1, 2, 3])
  }

  @Test func networkThatOutlivesItsLoopDoesNothing() throws {
    var client: LoopClient? = try LoopClient()
    let registration = InterceptorRegistration(name: "x", factory: ClosureFactory { _, _ in nil })
    let network = try #require(client).network(for: registration.id, log: { _ in })
    client = nil
    network.watch(0, .reading) { Issue.record("there is no loop") }
    network.watch(0, .reading, nil)
  }
}
