import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlProtocols
import RPCurlTransportSupport
import Testing

@testable import RPCurlTransport

/// Transfers that use the handle of an earlier one.
struct EasyHandleTests {
  private let fake = FakeLibcurl()
  private let loop: EventLoop

  init() throws {
    loop = try EventLoop()
    loop.roundTime = .seconds(60)
  }

  /// Makes a transfer, lets the server act, and releases it. Returns what was set for it.
  @discardableResult
  private func exchange(
    _ body: [UInt8] = [1], headers: [(String, String)] = [("a", "b")], url: String = "http://h/pkg.S/M",
    sharesConnection: Bool = true, finishes: Bool = true,
    server: @escaping (FakeLibcurl, UnsafeMutableRawPointer?) -> Void = Self.respond
  ) throws -> (handle: UnsafeMutableRawPointer?, bodyBytes: Int, fields: [String], events: [String]) {
    let recorder = TransferRecorder()
    var options = ConnectionOptions()
    options.sharesConnection = sharesConnection
    let transfer = try Transfer(
      HTTPRequest(url: url, headers: Headers(headers)), body: .whole(body), options: options, loop: loop,
      delegate: recorder)
    var found: (UnsafeMutableRawPointer?, Int, [String]) = (nil, 0, [])
    try fake.run(
      loop,
      {
        let handle = fake.handle()
        let fields = ["a: b", "a: c"].filter { (field: String) in
          fake_list_contains(handle, CURLOPT_HTTPHEADER, field)
        }
        found = (handle, fake_long(handle, CURLOPT_POSTFIELDSIZE), fields)
        server(fake, handle)
      })
    if finishes { transfer.finish() } else { transfer.close() }
    try fake.run(loop)
    #expect(fake.handle() == nil)
    return (found.0, found.1, found.2, recorder.events)
  }

  private static func respond(_ fake: FakeLibcurl, _ handle: UnsafeMutableRawPointer?) {
    #expect(fake_connect(handle) == 0)
    _ = fake.read(handle)
    fake.send(handle, "HTTP/2 200", "", "grpc-status: 0")
    fake_complete(handle, CURLE_OK, nil)
  }

  @Test func secondTransferUsesTheHandleOfTheFirst() throws {
    let first = try exchange([1, 2, 3])
    #expect(fake_live_handles() == 1, "it is kept")
    let second = try exchange([4], headers: [("a", "c")])
    #expect(second.handle == first.handle)
    #expect((first.bodyBytes, second.bodyBytes) == (3, 1))
    #expect((first.fields, second.fields) == (["a: b"], ["a: c"]))
    #expect(first.events == ["sent 3", "head 200", "trailers 1", "ended"])
    #expect(second.events == ["sent 1", "head 200", "trailers 1", "ended"])
    #expect(fake_violations() == 0)
  }

  @Test func valueThatLibcurlWouldLeaveOutIsRefused() throws {
    func transfer(_ count: Int) throws -> Transfer {
      let value = String(repeating: "a", count: count)
      return try Transfer(
        HTTPRequest(url: "http://h/pkg.S/M", headers: Headers([("x-big", value)])), body: .whole([1]),
        options: .init(), loop: loop, delegate: TransferRecorder())
    }
    try transfer(307_199).close()
    let error = #expect(throws: TransportError.self) { try transfer(307_200) }
    #expect(error?.kind == .request)
    #expect(
      error?.message
        == "the value of the header x-big has 307200 bytes, more than the 307199 that can be sent")
  }

  @Test func headersThatHTTP2CannotSendAreRefused() throws {
    func transfer(_ count: Int, _ version: ConnectionOptions.HTTPVersion) throws -> Transfer {
      var options = ConnectionOptions()
      options.httpVersion = version
      let value = String(repeating: "a", count: count)
      return try Transfer(
        HTTPRequest(url: "http://h/pkg.S/M", headers: Headers([("host", "hh"), ("x-big", value)])),
        body: .whole([1]), options: .init(options), loop: loop, delegate: TransferRecorder())
    }
    // The names and values, 12 bytes for each of the 6 fields, and 17.
    let others =
      ":methodPOST:schemehttp:authorityhh:path/pkg.S/Mcontent-length1x-big".utf8.count + 6 * 12 + 17
    try transfer(65_536 - others, .http2).close()
    try transfer(65_537 - others, .http1).close()
    let error = #expect(throws: TransportError.self) { try transfer(65_537 - others, .http2) }
    #expect(error?.kind == .request)
    #expect(
      error?.message
        == "the headers have 65537 bytes, with 12 for each, more than the 65536 that can be sent over HTTP/2; "
        + "the longest is x-big with \(65_537 - others) bytes")
  }

  @Test func nameForTLSChangesOnlyTLS() throws {
    var options = ConnectionOptions()
    (options.serverName, options.isInsecure) = ("demo.example", true)
    options.connectTo = ["LOCALHOST:1:other:2", "demo.example:1:other:3"]
    let transfer = try Transfer(
      HTTPRequest(url: "https://localhost:1/pkg.S/M", headers: Headers()), body: .whole([1]),
      options: options,
      loop: loop, delegate: TransferRecorder())
    let handle = transfer.handle
    #expect(fake_list_contains(handle, CURLOPT_CONNECT_TO, ":1:other:2"))
    #expect(!fake_list_contains(handle, CURLOPT_CONNECT_TO, "demo.example:1:other:3"))
    #expect(fake_list_contains(handle, CURLOPT_HTTPHEADER, "host: localhost:1"))
    #expect(fake_string(handle, CURLOPT_NOPROXY) != nil, "the former host decides")
    transfer.close()
  }

  @Test func transfersAtTheSameTimeHaveTheirOwn() throws {
    try exchange()
    var options = ConnectionOptions()
    options.sharesConnection = true
    let recorder = TransferRecorder()
    let transfers = try (0..<2).map { _ in
      try Transfer(
        HTTPRequest(url: "http://h/pkg.S/M", headers: Headers()), body: .whole([1]), options: options,
        loop: loop,
        delegate: recorder)
    }
    #expect(fake_live_handles() == 2)
    #expect(transfers[0].handle != transfers[1].handle)
  }

  @Test func anotherServerHasItsOwn() throws {
    try exchange()
    try exchange(url: "http://other/pkg.S/M")
    #expect(fake_live_handles() == 1, "the first is released")
  }

  @Test(arguments: [false, true])
  func incompleteTransferReleasesItsHandle(isRefused: Bool) throws {
    try exchange(finishes: false) { fake, handle in
      #expect(fake_connect(handle) == 0)
      if isRefused { fake_complete(handle, CURLE_COULDNT_CONNECT, "refused") }
    }
    #expect(fake_live_handles() == 0)
  }

  @Test func transferWithUnsentBytesReleasesItsHandle() throws {
    try exchange([1, 2, 3]) { fake, handle in
      #expect(fake_connect(handle) == 0)
      _ = fake.read(handle, 2)
      fake.send(handle, "HTTP/2 200", "", "grpc-status: 0")
    }
    #expect(fake_live_handles() == 0)
  }

  @Test func transferThatSharesNoConnectionReleasesItsHandle() throws {
    try exchange(sharesConnection: false)
    #expect(fake_live_handles() == 0)
  }

  @Test func callbacksAfterTheEndOfATransferAreIgnored() throws {
    let handle = try exchange().handle
    #expect(fake.read(handle) == nil)
    #expect(fake_body(handle, "abc", 3) == 0)
  }
}

struct HeaderLineTests {
  @Test(arguments: [
    ("HTTP/2 200 \r\n", "status 2 200"), ("HTTP/1.1 404 Not Found\r\n", "status 1.1 404"),
    ("HTTP/2\r\n", "unknown"),
    ("HTTP/2 2x0\r\n", "unknown"), ("HTTP/2 1234567890123\r\n", "unknown"), ("HTTP/ 200\r\n", "unknown"),
    ("a:b\r\n", "field a=b"), ("a: \t b c\t \r\n", "field a=b c"), ("a:\r\n", "field a="), (":\n", "field ="),
    ("a: b\rc\r\n", "broken"), ("a: b\r\r\n", "field a=b"), ("\r\n", "end"), ("\n", "end"),
    ("word\r\n", "unknown"),
    ("", "unknown"), ("\r", "unknown"), ("a: b", "unknown"), ("HTTP/1.1 200 OK\r", "unknown"),
  ])
  func readsLine(_ line: String, _ expected: String) {
    let found = Array(line.utf8).withUnsafeBytes { HeaderLine($0) }
    switch found {
    case .status(let version, let code): #expect("status \(version) \(code)" == expected)
    case .field(let name, let value): #expect("field \(name)=\(value)" == expected)
    case .end: #expect("end" == expected)
    case .broken: #expect("broken" == expected)
    case .unknown: #expect("unknown" == expected)
    }
  }

  @Test func keepsBytesOfAValueThatAreNotUTF8() {
    guard
      case .field("a", "caf\u{E9}") = (Array("a: caf".utf8) + [0xE9, 0x0A]).withUnsafeBytes(HeaderLine.init)
    else {
      Issue.record("not the field")
      return
    }
  }
}
