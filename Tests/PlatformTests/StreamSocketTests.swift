import RPCurlPlatform
import Testing

@Suite("Sockets of connections")
struct StreamSocketTests {
  @Test("A socket does not block, and programs do not inherit it")
  func flags() {
    let socket = StreamSocket.make(AF_UNIX)
    defer { close(socket) }
    #expect(fcntl(socket, F_GETFL) & O_NONBLOCK != 0)
    #expect(fcntl(socket, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test("A failure is reported by errno")
  func failure() {
    #expect(StreamSocket.make(-1) == -1)
    #expect(errno == EAFNOSUPPORT)
  }
}
