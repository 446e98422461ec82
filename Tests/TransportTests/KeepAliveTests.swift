import CFakeCurl
import Glibc
import RPCProtocols
import Testing
import TransportSupport

@testable import Transport

struct KeepAliveTests {
  private let fake = FakeLibcurl()
  private let loop: EventLoop
  private let recorder = TransferRecorder()

  init() throws {
    loop = try EventLoop()
  }

  /// A TCP connection over the loopback interface: both ends.
  private func connection() -> (near: Int32, far: Int32) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let near = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        #expect(bind(listener, address, size) == 0 && listen(listener, 1) == 0)
        #expect(getsockname(listener, address, &size) == 0)
        #expect(connect(near, address, size) == 0)
      }
    }
    return (near, accept(listener, nil, nil))
  }

  private func start(on socket: Int32) throws -> Transfer {
    var options = ConnectionOptions()
    options.keepaliveTime = .milliseconds(20)
    let request = HTTPRequest(url: "http://h/pkg.S/M", headers: Headers())
    let transfer = try Transfer(request, body: .stream, options: options, loop: loop, delegate: recorder)
    try fake.run(
      loop,
      {
        fake_set_silence_socket(fake.handle(), socket)
        #expect(fake_connect(fake.handle()) == 0)
      })
    return transfer
  }

  @Test func silentPeerIsAskedAndThenGivenUp() throws {
    let connection = connection()
    defer { [connection.near, connection.far].forEach { close($0) } }
    let transfer = try start(on: connection.near)
    try loop.run { recorder.error != nil }
    #expect(fake_upkeeps() == 1)
    #expect(recorder.error?.message.contains("PING") == true)
    #expect(fake_violations() == 0)
    transfer.close()
  }

  @Test func peerThatRespondsStaysConnected() throws {
    let connection = connection()
    defer { [connection.near, connection.far].forEach { close($0) } }
    let transfer = try start(on: connection.near)
    // Responds to five PINGs.
    var responded: Int32 = 0
    try loop.run {
      if fake_upkeeps() > responded {
        responded += 1
        #expect(write(connection.far, "x", 1) == 1)
      }
      return responded == 5 || recorder.error != nil
    }
    #expect(recorder.error == nil)
    transfer.close()
  }

  @Test func oldLibcurlSendsNoPing() throws {
    fake_set_version(0x075801)
    let connection = connection()
    defer { [connection.near, connection.far].forEach { close($0) } }
    let transfer = try start(on: connection.near)
    let until = ContinuousClock.now + .milliseconds(100)
    try loop.run { ContinuousClock.now > until }
    #expect(fake_upkeeps() == 0)
    #expect(recorder.error == nil)
    transfer.close()
  }
}
