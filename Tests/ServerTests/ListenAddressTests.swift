import RPCurlBase
import RPCurlPlatform
import RPCurlProtocols
import RPCurlTransport
import RPCurlTransportSupport
import Testing

@testable import RPCurlServer

struct ListenAddressTests {
  private let fake = FakeLibcurl()
  private let loop: EventLoop
  private let directory: String

  init() throws {
    loop = try EventLoop()
    directory = "/tmp/rpcurl-listen-\(UInt64.random(in: 0 ... .max))"
    mkdir(directory, 0o700)
  }

  private func listen(_ text: String) throws -> Listener {
    try Listener(ListenAddress(parsing: text), loop: loop) { _, _ in nil }
  }

  @Test func parsesAddresses() throws {
    #expect(try ListenAddress(parsing: "127.0.0.1:80") == .host("127.0.0.1", port: 80))
    #expect(try ListenAddress(parsing: "[::1]:0") == .host("::1", port: 0))
    #expect(try ListenAddress(parsing: "unix:/a b") == .unix(path: "/a b"))
    #expect(try ListenAddress(parsing: "localhost:1").isLocal && !ListenAddress(parsing: "0.0.0.0:1").isLocal)
  }

  @Test(arguments: ["", "80", ":80", "host", "host:", "host:x", "host:65536", "::1:80:", "unix:"])
  func rejectsInvalidAddress(_ text: String) {
    #expect(throws: (any Error).self) { try ListenAddress(parsing: text) }
  }

  @Test func namesItsPort() throws {
    let first = try listen("127.0.0.1:0")
    #expect(first.address.hasPrefix("127.0.0.1:") && !first.address.hasSuffix(":0"))
    #expect(try listen("[::1]:0").address.hasPrefix("[::1]:"))
    let error = #expect(throws: SystemError.self) { try listen(first.address) }
    #expect(error?.reason == "\(first.address): Address already in use")
    #expect(error?.hint == "choose another port, or port 0 for a free one")
  }

  @Test func reportsHostThatIsNotOfThisMachine() throws {
    #expect(throws: SystemError.self) { try listen("192.0.2.1:0") }
    #expect(throws: SystemError.self) { try listen("name.invalid:0") }
  }

  @Test func replacesSocketOfEndedProcessOnly() throws {
    let path = directory + "/socket"
    var listener: Listener? = try listen("unix:" + path)
    #expect(listener?.address == "unix:" + path)
    let error = #expect(throws: SystemError.self) { try listen("unix:" + path) }
    #expect(error?.reason == "another process listens at this socket" && error?.path == path)
    listener = nil
    #expect(access(path, F_OK) != 0)
    // A socket that is left over.
    let socket = try ListeningSocket(.unix(path: path))
    close(socket.descriptor)
    #expect(access(path, F_OK) == 0)
    listener = try listen("unix:" + path)
    withExtendedLifetime(listener) {}
  }

  @Test func neverRemovesWhatIsNoSocket() throws {
    let path = directory + "/file"
    close(open(path, O_CREAT | O_WRONLY, 0o600))
    let error = #expect(throws: SystemError.self) { try listen("unix:" + path) }
    #expect(error?.reason == "exists, and is not a socket" && access(path, F_OK) == 0)
  }

  @Test func keepsSocketOfItsSuccessor() throws {
    let path = directory + "/socket"
    var first = try ListeningSocket(.unix(path: path))
    unlink(path)
    var second = try ListeningSocket(.unix(path: path))
    first.end()
    #expect(access(path, F_OK) == 0)
    second.end()
    #expect(access(path, F_OK) != 0)
  }

  @Test func reportsTooLongPath() {
    #expect(throws: SystemError.self) { try listen("unix:/" + String(repeating: "a", count: 200)) }
  }
}
