import RPCurlBase
import RPCurlCFakeCurl
import RPCurlPlatform
import RPCurlProtocols
import RPCurlTransportSupport
import Testing

@testable import RPCurlTransport

struct KeepAliveTests {
  private let fake = FakeLibcurl()
  private let loop: EventLoop
  private let recorder = TransferRecorder()

  init() throws {
    loop = try EventLoop()
  }

  private func start(
    on socket: Int32, _ version: ConnectionOptions.HTTPVersion = .http2PriorKnowledge,
    url: String = "http://h/pkg.S/M", timeout: Duration? = nil
  ) throws -> Transfer {
    var options = ConnectionOptions()
    options.httpVersion = version
    options.keepaliveTime = .milliseconds(20)
    options.keepaliveTimeout = timeout
    let request = HTTPRequest(url: url, headers: Headers())
    let transfer = try Transfer(request, body: .stream, options: options, loop: loop, delegate: recorder)
    try fake.run(
      loop,
      {
        fake_open_socket(fake.handle(), socket)
        #expect(fake_connect(fake.handle()) == 0)
      })
    return transfer
  }

  /// With TLS, no protocol was negotiated.
  @Test(arguments: ["http://h/pkg.S/M", "https://h/pkg.S/M"]) func reportsSilentPeerAfterPing(_ url: String)
    throws
  {
    let connection = try LoopbackConnection()
    let transfer = try start(on: connection.near, url: url)
    try loop.run { recorder.error != nil }
    // A machine that stops for a while may have it ask twice.
    #expect(fake_upkeeps() >= 1)
    #expect(recorder.error?.message.contains("PING") == true)
    #expect(fake_violations() == 0)
    transfer.close()
  }

  @Test func timeoutOfProbesDiffersFromTheirTime() throws {
    let connection = try LoopbackConnection()
    let transfer = try start(on: connection.near, timeout: .milliseconds(30))
    try loop.run { recorder.error != nil }
    #expect(recorder.error?.message == "the server did not respond to an HTTP/2 PING within 0.03 seconds")
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
        var byte: UInt8 = 0
        #expect(read(connection.near, &byte, 1) == 1)
      }
      return responded == 5 || recorder.error != nil
    }
    #expect(recorder.error == nil)
    transfer.close()
  }

  @Test func asksAgainAfterReceivingIsResumed() throws {
    let connection = try LoopbackConnection()
    let transfer = try start(on: connection.near)
    try loop.run { fake_upkeeps() == 1 }
    transfer.resumeReceiving()
    try loop.run { fake_upkeeps() == 2 || recorder.error != nil }
    #expect(recorder.error == nil)
    transfer.close()
  }

  /// As the peer of a transfer that is paused for long, whose receive buffer is full.
  @Test func doesNotAskPeerWhoseDataIsUnread() throws {
    let connection = try LoopbackConnection()
    #expect(write(connection.far, "x", 1) == 1)
    try expectNoPing(to: connection)
  }

  @Test func asksNothingOverHTTP1() throws {
    try expectNoPing(to: LoopbackConnection(), .http1)
  }

  @Test func oldLibcurlSendsNoPing() throws {
    fake_set_version(0x075801)
    try expectNoPing(to: LoopbackConnection())
  }

  private func expectNoPing(
    to connection: LoopbackConnection, _ version: ConnectionOptions.HTTPVersion = .http2PriorKnowledge
  ) throws {
    let transfer = try start(on: connection.near, version)
    let until = MonotonicClock.now + .milliseconds(100)
    try loop.run { MonotonicClock.now > until }
    #expect(fake_upkeeps() == 0)
    #expect(recorder.error == nil)
    transfer.close()
  }
}
