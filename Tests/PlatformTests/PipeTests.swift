import Testing

@testable import RPCurlPlatform

struct PipeTests {
  @Test func endsAreClosedInOtherPrograms() throws {
    let pipe = try #require(Pipe())
    for end in [pipe.readEnd, pipe.writeEnd] {
      #expect(fcntl(end, F_GETFD) == FD_CLOEXEC)
      close(end)
    }
  }
}
