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

  private func start(on socket: Int32) throws -> Transfer {
    var options = ConnectionOptions()
    options.keepaliveTime = .milliseconds(20)
    let request = HTTPRequest(url: "http://h/pkg.S/M", headers: Headers())
    let transfer = try Transfer(request, body: .stream, options: options, loop: loop, delegate: recorder)
    try fake.run(
      loop,
      {
        fake_open_socket(fake.handle(), socket)
        #expect(fake_connect(fake.handle()) == 0)
      })
    return transfer
  }

  @Test func reportsSilentPeerAfterPing() throws {
    let connection = try LoopbackConnection()
    let transfer = try start(on: connection.near)
    try loop.run { recorder.error != nil }
    // A machine that stops for a while may have it ask twice.
    #expect(fake_upkeeps() >= 1)
    #expect(recorder.error?.message.contains("PING") == true)
    #expect(fake_violations() == 0)
    transfer.close()
  }

  @Test func keepsConnectionOfRespondingPeer() throws {
    let connection = try LoopbackConnection()
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
    let connection = try LoopbackConnection()
    let transfer = try start(on: connection.near)
    let until = MonotonicClock.now + .milliseconds(100)
    try loop.run { MonotonicClock.now > until }
    #expect(fake_upkeeps() == 0)
    #expect(recorder.error == nil)
    transfer.close()
  }
}
