import RPCurlPlatform
import Testing

@testable import RPCurlPluginHost

/// The loop of the calls of a check.
struct SelfTestLoopTests {
  private let loop = SelfTestLoop()

  @Test func callsActionsWhileADescriptorIsWatched() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (input, output) = (ends[0], ends[1])
    defer { close(input) }
    var sizes: [Int] = []
    loop.watch(input, .reading) {
      var bytes: [UInt8] = [0, 0]
      sizes.append(read(input, &bytes, 2))
    }
    loop.watch(output, .writing) { [loop] in
      loop.watch(output, .writing, nil)
      var sent: [UInt8] = [1, 2, 3]
      write(output, &sent, 3)
    }
    #expect(loop.run(for: .seconds(10), until: { sizes.count == 2 }))
    close(output)
    #expect(loop.run(for: .seconds(10), until: { sizes.count == 3 }))
    #expect(sizes == [2, 1, 0])
    loop.watch(input, .reading, nil)
    #expect(!loop.run(for: .milliseconds(5), until: { false }))
    #expect(sizes.count == 3)
  }

  @Test func endsAtItsTimeAlthoughADescriptorIsAlwaysReady() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    close(ends[1])
    defer { close(ends[0]) }
    var count = 0
    loop.watch(ends[0], .reading) { count += 1 }
    #expect(!loop.run(for: .milliseconds(5), until: { false }))
    #expect(count > 0)
  }
}
