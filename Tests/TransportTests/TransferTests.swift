import RPCurlBase
import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlPlatform
import RPCurlProtocols
import RPCurlTransportSupport
import Testing

@testable import RPCurlTransport

struct TransferTests {
  private let fake = FakeLibcurl()
  private let loop: EventLoop
  private let recorder = TransferRecorder()

  init() throws {
    loop = try EventLoop()
    // The libcurl of the tests does not deliver again what a round that is late refuses.
    loop.roundTime = .seconds(60)
  }

  private func transfer(
    _ body: Transfer.Body = .stream, url: String = "http://h/pkg.S/M", options: ConnectionOptions = .init(),
    requiresHTTP2: Bool = false
  ) throws -> Transfer {
    var request = HTTPRequest(url: url, headers: Headers([("a", "b"), ("c", "")]))
    request.requiresHTTP2 = requiresHTTP2
    return try Transfer(request, body: body, options: options, loop: loop, delegate: recorder)
  }

  @Test func completesExchange() throws {
    let transfer = try transfer(.whole([1, 2, 3]))
    #expect(fake.handle() == nil, "it is added outside of callbacks")
    try fake.run(
      loop,
      {
        let handle = fake.handle()
        #expect(fake_connect(handle) == 0)
        #expect(fake_list_contains(handle, CURLOPT_HTTPHEADER, "a: b"))
        #expect(fake_list_contains(handle, CURLOPT_HTTPHEADER, "c;"))
        #expect(fake_long(handle, CURLOPT_POSTFIELDSIZE) == 3)
        #expect(fake.read(handle) == [1, 2, 3])
        fake.send(handle, "HTTP/2 200", "x: y", "")
        #expect(fake_body(handle, "abc", 3) == 3)
        fake.send(handle, "grpc-status: 0")
        fake_complete(handle, CURLE_OK, nil)
      })
    #expect(recorder.events == ["sent 3", "head 200", "body 3", "trailers 1", "ended"])
    #expect(recorder.body == Array("abc".utf8))
    #expect(recorder.error == nil)
    #expect(transfer.receivedBytes == 3)
    #expect(fake.handle() == nil)
    #expect(fake_violations() == 0)
  }

  @Test func deliversTrailersWhileRequestIsOpen() throws {
    let transfer = try transfer()
    try fake.run(
      loop,
      {
        fake.send(fake.handle(), "HTTP/2 200", "", "grpc-status: 5")
      })
    #expect(recorder.events == ["head 200", "trailers 1"])
    transfer.close()
    try fake.run(loop)
    #expect(fake.handle() == nil)
  }

  @Test(arguments: [(0x075801, 2), (0x081500, nil)] as [(UInt32, Int?)])
  func linesThatComeTogetherAreOneByAnOldLibcurlOnly(_ version: UInt32, _ trailers: Int?) throws {
    fake_set_version(version)
    let loop = try EventLoop()
    let request = HTTPRequest(url: "http://h/pkg.S/M", headers: Headers())
    let transfer = try Transfer(
      request, body: .whole([]), options: .init(), loop: loop, delegate: recorder)
    try fake.run(
      loop,
      {
        fake.send(fake.handle(), "HTTP/2 200", "", "grpc-status: 5\r\ngrpc-message: x")
        fake_complete(fake.handle(), CURLE_OK, nil)
      })
    #expect(recorder.events == ["head 200"] + (trailers.map { ["trailers \($0)"] } ?? []) + ["ended"])
    #expect((recorder.error == nil) == (trailers != nil))
    transfer.close()
  }

  @Test func deliversTrailersOfHTTP3AsTheyArrive() throws {
    let transfer = try transfer(.whole([]))
    try fake.run(
      loop,
      { fake.send(fake.handle(), "HTTP/3 200", "", "a: b") },
      {
        fake.send(fake.handle(), "grpc-status: 5", "grpc-message: x")
        fake_complete(fake.handle(), CURLE_OK, nil)
      })
    #expect(recorder.events == ["head 200", "some trailers 1", "some trailers 2", "ended"])
    _ = transfer
  }

  @Test func transferStartsWithinACallback() throws {
    let first = try transfer()
    let second = TransferRecorder()
    var started: Transfer?
    recorder.onEvent = { [loop] event in
      guard event == "head 200" else { return }
      started = try? Transfer(
        HTTPRequest(url: "http://h/pkg.S/N", headers: Headers()), body: .stream, options: .init(),
        loop: loop,
        delegate: second)
      first.close()
    }
    try fake.run(loop, { fake.send(fake.handle(), "HTTP/2 200", "") })
    #expect(started != nil)
    #expect(fake.handle() != nil && fake.handle(1) == nil)
    #expect(fake_violations() == 0)
    try fake.run(
      loop,
      {
        fake.send(fake.handle(), "HTTP/2 204", "")
        fake_complete(fake.handle(), CURLE_OK, nil)
      })
    #expect(second.events == ["head 204", "ended"])
  }

  @Test func uploadPausesAndContinues() throws {
    let transfer = try transfer()
    // libcurl sends it in chunks over HTTP/1.1, and in frames over HTTP/2.
    #expect(!fake_list_contains(transfer.handle, CURLOPT_HTTPHEADER, "Transfer-Encoding:"))
    try fake.run(loop, { #expect(fake_read(fake.handle(), nil, 0) == Int(CURL_READFUNC_PAUSE)) })
    transfer.send([7])
    try fake.run(
      loop,
      {
        #expect(fake_pause_mask(fake.handle()) == 0)
        #expect(fake.read(fake.handle()) == [7])
        #expect(fake_read(fake.handle(), nil, 0) == Int(CURL_READFUNC_PAUSE))
      })
    transfer.finishSending()
    try fake.run(loop, { #expect(fake.read(fake.handle()) == []) })
    #expect(fake_violations() == 0)
  }

  @Test func callerIsNotifiedToPauseAndContinue() throws {
    let transfer = try transfer()
    transfer.send([UInt8](repeating: 0, count: RequestBody.limitBytes + 1))
    #expect(recorder.events == ["wants false"])
    try fake.run(loop, { _ = fake.read(fake.handle(), RequestBody.limitBytes) })
    #expect(recorder.events.last == "sent \(RequestBody.limitBytes)")
    #expect(recorder.events.contains("wants true"))
  }

  @Test func downloadPausesAndContinues() throws {
    let transfer = try transfer(.whole([]))
    transfer.pauseReceiving()
    try fake.run(
      loop,
      {
        fake.send(fake.handle(), "HTTP/2 200", "")
        #expect(fake_body(fake.handle(), "abc", 3) == Int(CURL_WRITEFUNC_PAUSE))
      })
    #expect(recorder.body.isEmpty)
    transfer.resumeReceiving()
    try fake.run(
      loop,
      {
        #expect(fake_pause_mask(fake.handle()) == 0)
        #expect(fake_body(fake.handle(), "abc", 3) == 3)
      })
    #expect(recorder.body.count == 3)
  }

  /// libcurl may divide what it delivers again into other pieces.
  @Test(arguments: [false, true]) func deliversRestOfAPieceOnce(pauses: Bool) throws {
    let transfer = try transfer(.whole([]))
    recorder.mostBytes = 4
    try fake.run(
      loop,
      {
        fake.send(fake.handle(), "HTTP/2 200", "")
        if pauses { recorder.onEvent = { [weak transfer] _ in transfer?.pauseReceiving() } }
        #expect(fake_body(fake.handle(), "abcdefgh", 8) == Int(CURL_WRITEFUNC_PAUSE))
      },
      {
        recorder.onEvent = { _ in }
        transfer.resumeReceiving()
      },
      {
        #expect(fake_pause_mask(fake.handle()) == 0)
        #expect(fake_body(fake.handle(), "abc", 3) == 3)
        #expect(fake_body(fake.handle(), "defghijk", 8) == Int(CURL_WRITEFUNC_PAUSE))
      }, {}, { #expect(fake_body(fake.handle(), "defghijkl", 9) == 9) })
    #expect(recorder.body == Array("abcdefghijkl".utf8))
    #expect(transfer.receivedBytes == 12)
    #expect(fake_violations() == 0)
  }

  @Test func timersFireDuringLateRound() throws {
    loop.roundTime = .milliseconds(50)
    let transfer = try transfer(.whole([]))
    var fired = false
    try fake.run(
      loop,
      {
        // Within the round, so that it cannot fire before.
        loop.schedule(at: .now + .milliseconds(1)) {
          fired = true
          transfer.close()
        }
        fake.send(fake.handle(), "HTTP/2 200", "")
        // A server that floods: without a limit, the round would never end.
        var accepted = 3
        while accepted == 3 { accepted = fake_body(fake.handle(), "abc", 3) }
        #expect(accepted == Int(CURL_WRITEFUNC_PAUSE))
      })
    #expect(fired)
    try fake.run(loop)
    #expect(fake.handle() == nil)
    #expect(fake_violations() == 0)
  }

  @Test func closeWithinACallbackEndsTheTransfer() throws {
    let transfer = try transfer()
    recorder.onEvent = { [weak transfer] _ in transfer?.close() }
    try fake.run(
      loop,
      {
        fake.send(fake.handle(), "HTTP/2 200")
        #expect(fake_line(fake.handle(), "\r\n") == 0)
        #expect(fake_body(fake.handle(), "abc", 3) == 0)
        #expect(fake_read(fake.handle(), nil, 0) == Int(CURL_READFUNC_ABORT))
        fake_complete(fake.handle(), CURLE_WRITE_ERROR, "Failed writing body")
      })
    #expect(recorder.events == ["head 200"])
    #expect(fake.handle() == nil)
    #expect(fake_violations() == 0)
  }

  @Test(arguments: [CURLE_OUT_OF_MEMORY, CURLcode(rawValue: 100)])
  func reportsTooLongResponseLine(_ code: CURLcode) throws {
    let transfer = try transfer()
    try fake.run(
      loop,
      {
        #expect(fake_line(fake.handle(), "HTTP/1.1 200 OK\r\n") == 17)
        fake_complete(fake.handle(), code, nil)
      })
    #expect(recorder.error?.kind == .broken)
    #expect(recorder.error?.message.contains("longer than libcurl accepts") == true)
    _ = transfer
  }

  @Test func reportsLackOfMemoryBeforeResponse() throws {
    let transfer = try transfer()
    try fake.run(loop, { fake_complete(fake.handle(), CURLE_OUT_OF_MEMORY, nil) })
    #expect(recorder.error?.kind == .library)
    _ = transfer
  }

  @Test func replacesConnectionClosedByServer() throws {
    let transfer = try transfer(.whole([1]))
    let connection = try LoopbackConnection()
    connection.closeFar()
    try fake.run(
      loop,
      {
        fake_set_reused(fake.handle(), true)
        fake_open_socket(fake.handle(), connection.near)
        #expect(fake_connect(fake.handle()) == CURL_PREREQFUNC_ABORT)
        fake_complete(fake.handle(), CURLE_ABORTED_BY_CALLBACK, nil)
      },
      {
        #expect(fake_long(fake.handle(), CURLOPT_FRESH_CONNECT) == 1)
        #expect(fake_long(fake.handle(), CURLOPT_FORBID_REUSE) == 0)
        fake_set_reused(fake.handle(), false)
        #expect(fake_connect(fake.handle()) == CURL_PREREQFUNC_OK)
        #expect(fake.read(fake.handle()) == [1])
      })
    #expect(recorder.events == ["sent 1"])
    #expect(fake_violations() == 0)
    transfer.close()
  }

  /// A way in which libcurl comes to send a request again.
  enum Repeat: CaseIterable {
    case afterReset, afterResetOfFirstConnection, afterHTTP1, afterRefusal, overHTTP1, firstOverHTTP1, ofGet,
      ofUnsent
  }

  @Test(arguments: Repeat.allCases) func sendsRequestAgainOnlyIfServerHasNotProcessedIt(_ cause: Repeat)
    throws
  {
    var options = ConnectionOptions()
    options.httpVersion = cause == .afterHTTP1 ? .http1 : .http2
    var request = HTTPRequest(url: "http://h/pkg.S/M", headers: Headers())
    if cause == .ofGet { request.method = "GET" }
    let transfer = try Transfer(
      request, body: .whole([1]), options: options, loop: loop, delegate: recorder)
    let isSentAgain = [.afterRefusal, .overHTTP1, .firstOverHTTP1, .ofGet, .ofUnsent].contains(cause)
    try fake.run(
      loop,
      {
        fake_set_reused(fake.handle(), cause != .afterResetOfFirstConnection)
        #expect(fake_connect(fake.handle()) == CURL_PREREQFUNC_OK)
        _ = fake.read(fake.handle())
        if cause != .ofUnsent { fake_set_request_size(fake.handle(), 100) }
      },
      {
        switch cause {
        case .afterHTTP1, .afterRefusal: break
        case .overHTTP1:
          fake_report(fake.handle(), "HTTP/2 stream 1 reset by server (error 0xd HTTP_1_1_REQUIRED)")
        case .firstOverHTTP1: fake_report(fake.handle(), "Empty reply from server")
        case .afterReset, .afterResetOfFirstConnection, .ofGet, .ofUnsent:
          fake_report(fake.handle(), "Recv failure: Connection reset by peer")
        }
        fake_reset_report(fake.handle())
        fake_set_reused(fake.handle(), false)
        #expect(fake_connect(fake.handle()) == (isSentAgain ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT))
        // GET has no body.
        if isSentAgain, cause != .ofGet { #expect(fake.read(fake.handle()) == [1]) }
      })
    let detail = cause == .afterHTTP1 ? "" : "Connection reset by peer"
    let words = "the server closed the connection without a response" + (detail.isEmpty ? "" : " (\(detail))")
    #expect(recorder.error?.cause == (isSentAgain ? nil : .closed(detail)))
    #expect(recorder.error?.message == (isSentAgain ? nil : words))
    transfer.close()
  }

  @Test(arguments: [CURLE_SEND_ERROR, CURLE_RECV_ERROR], [true, false])
  func restartsRequestThatCouldNotBeSent(code: CURLcode, isPartlySent: Bool) throws {
    let transfer = try transfer(.whole([1]))
    try fake.run(
      loop,
      {
        fake_set_reused(fake.handle(), true)
        #expect(fake_connect(fake.handle()) == CURL_PREREQFUNC_OK)
        _ = fake.read(fake.handle())
        if isPartlySent { fake_set_request_size(fake.handle(), 100) }
        fake_complete(fake.handle(), code, "Send failure")
      })
    #expect((recorder.error != nil) == isPartlySent)
    transfer.close()
  }

  @Test func reusesOpenConnection() throws {
    let transfer = try transfer(.whole([1]))
    let connection = try LoopbackConnection()
    try fake.run(
      loop,
      {
        fake_set_reused(fake.handle(), true)
        fake_open_socket(fake.handle(), connection.near)
        #expect(fake_connect(fake.handle()) == CURL_PREREQFUNC_OK)
      })
    #expect(loop.sockets.socket(localPort: ccurl_local_port(connection.near)) == connection.near)
    // libcurl closes its sockets through the table.
    #expect(fake_close_socket(fake.handle(), dup(connection.near)) == 0)
    transfer.close()
  }

  @Test(arguments: [("h2", true), ("http/1.1", false), ("", false)])
  func requestThatRequiresHTTP2ChecksNegotiatedProtocol(name: String, isSent: Bool) throws {
    let transfer = try transfer(url: "https://h/pkg.S/M", requiresHTTP2: true)
    try name.withCString { text in
      try fake.run(
        loop,
        {
          fake_set_negotiated(fake.handle(), text)
          #expect(fake_connect(fake.handle()) == (isSent ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT))
        })
    }
    #expect(recorder.error?.kind == (isSent ? nil : .httpVersion))
    transfer.close()
  }

  @Test func http2WithoutTLSUsesTunnel() throws {
    var options = ConnectionOptions()
    options.httpVersion = .http2
    options.proxy = "http://proxy:8080"
    let transfer = try transfer(options: options)
    try fake.run(
      loop,
      {
        #expect(fake_long(fake.handle(), CURLOPT_HTTPPROXYTUNNEL) == 1)
        #expect(fake_string(fake.handle(), CURLOPT_PROXY).map { String(cString: $0) } == "http://proxy:8080")
      })
    transfer.close()
  }

  @Test func connectingTimesOut() throws {
    let transfer = try transfer()
    try fake.run(loop, { #expect(fake_long(fake.handle(), CURLOPT_CONNECTTIMEOUT_MS) == 10_000) })
    transfer.close()
  }

  @Test func releasedLoopReleasesItsTransfers() throws {
    fake_reset()
    var loop: EventLoop? = try EventLoop()
    let recorder = TransferRecorder()
    let transfer = try loop.map {
      try Transfer(
        HTTPRequest(url: "http://h/pkg.S/M", headers: Headers()), body: .stream, options: .init(), loop: $0,
        delegate: recorder)
    }
    var rounds = 0
    let mailbox = loop?.mailbox
    // Each round waits for one.
    mailbox?.post {}
    try loop?.run {
      rounds += 1
      mailbox?.post {}
      return rounds > 1
    }
    loop = nil
    transfer?.close()
    #expect(recorder.events.isEmpty)
    #expect(fake_violations() == 0)
    #expect(fake_live_handles() == 1, "the transfer's own")
  }

  @Test func anyOrderOfCallbacksReleasesEverything() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      var transfers: [Transfer] = []
      let fake = FakeLibcurl()
      let loop = try EventLoop()
      let recorder = TransferRecorder()
      recorder.onEvent = { event in
        guard Int.random(in: 0..<8, using: &random) == 0, let one = transfers.randomElement() else { return }
        Bool.random() ? one.close() : one.finish()
      }
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        transfers.append(
          try Transfer(
            HTTPRequest(url: "http://h/pkg.S/M", headers: Headers()),
            body: Bool.random(using: &random) ? .stream : .whole([1, 2]), options: .init(), loop: loop,
            delegate: recorder))
      }
      for _ in 0..<Int.random(in: 0...20, using: &random) {
        try fake.run(loop, { Self.act(fake, transfers, &random) })
      }
      for transfer in transfers { transfer.close() }
      try fake.run(loop)
      #expect(fake.handle() == nil)
      #expect(fake_violations() == 0)
      transfers = []
      recorder.onEvent = { _ in }
      #expect(fake_live_handles() == 0)
    }
  }

  private static func act(
    _ fake: FakeLibcurl, _ transfers: [Transfer], _ random: inout SystemRandomNumberGenerator
  ) {
    guard let transfer = transfers.randomElement(using: &random) else { return }
    var buffer = [CChar](repeating: 0, count: 4)
    let handle = fake.handle(Int.random(in: 0..<transfers.count, using: &random))
    switch Int.random(in: 0..<12, using: &random) {
    case 0: transfer.send([1, 2, 3])
    case 1: transfer.finishSending()
    case 2: transfer.pauseReceiving()
    case 3: transfer.resumeReceiving()
    case 4: transfer.close()
    case 5: transfer.finish()
    case _ where handle == nil: break
    case 6: _ = fake_connect(handle)
    case 7: _ = fake_read(handle, &buffer, buffer.count)
    case 8:
      for line in ["HTTP/2 200\r\n", "a: b\r\n", "\r\n"] { _ = fake_line(handle, line) }
    case 9: _ = fake_body(handle, "abc", 3)
    case 10: _ = fake_line(handle, "grpc-status: 0\r\n")
    default: fake_complete(handle, Bool.random(using: &random) ? CURLE_OK : CURLE_RECV_ERROR, "broken")
    }
  }
}
