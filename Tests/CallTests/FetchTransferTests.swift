import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlChain
import RPCurlProtocols
import RPCurlTransport
import RPCurlTransportSupport
import Testing

@testable import RPCurlCall

/// Plain HTTP requests of interceptors, over a libcurl without a network.
struct FetchTransferTests {
  private let fake = FakeLibcurl()

  /// Starts a request, which must end at once, and returns its error.
  private func error(of fetch: HTTPFetch) throws -> RPCError? {
    let client = try LoopClient()
    var result: Result<HTTPFetchResponse, RPCError>?
    let transfer = FetchTransfer(fetch) { result = $0 }
    transfer.start(on: client.loop, options: ConnectionOptions())
    #expect(transfer.isOver)
    #expect(fake.handle() == nil)
    transfer.cancel()
    try client.loop.run { result != nil }
    guard case .failure(let error)? = result else { return nil }
    return error
  }

  @Test(arguments: [
    "", "h", "file:///etc/passwd", "ftp://h/", "http:/h", " http://h/", "http://h/a b",
    "http://h/\0.example", "http://h/\r\nx: y", "http://h/\u{7f}", "http://user:secret@h/",
  ])
  func refusesURL(_ url: String) throws {
    let error = try error(of: HTTPFetch(url: url))
    #expect(error?.message == "the URL is not an http(s) URL without user information")
    #expect(error?.code == .invalidArgument)
  }

  /// The rule of the loop for a libcurl that loses responses applies to every transfer, with an old libcurl only.
  @Test(arguments: [(UInt32(0x080d00), true), (0x080e00, false)])
  func oldLibcurlIsRefused(_ version: UInt32, _ isOld: Bool) throws {
    fake_set_version(version)
    let client = try LoopClient()
    var names: [String] = []
    client.loop.onOldLibcurl = { (version) throws(TransportError) in
      names.append(version.name)
      throw TransportError(.oldLibrary, "old")
    }
    var result: Result<HTTPFetchResponse, RPCError>?
    let transfer = FetchTransfer(HTTPFetch(url: "http://h/")) { result = $0 }
    transfer.start(on: client.loop, options: ConnectionOptions())
    #expect(transfer.isOver == isOld)
    transfer.cancel()
    #expect(names == (isOld ? ["libcurl fake"] : []))
    guard isOld else { return }
    try client.loop.run { result != nil }
    let error = #expect(throws: RPCError.self) { try result?.get() }
    #expect(error?.code == .failedPrecondition)
    #expect(error?.message == "old")
  }

  /// The options of the call that belong to its server: all but those that name the other one.
  @Test(arguments: [
    ("https://h/", true), ("https://H:443/x", true), ("https://h:1/", false), ("https://other/", false),
  ])
  func onlyServerOfTheCallReceivesItsOptions(_ url: String, _ isServer: Bool) throws {
    let client = try LoopClient()
    var options = ConnectionOptions()
    options.isInsecure = true
    options.certificate = ConnectionOptions.Certificate(file: "c")
    options.connectTo = ["::evil:1", "other:443:local:1"]
    let transfer = FetchTransfer(HTTPFetch(url: url)) { _ in }
    transfer.start(on: client.loop, options: options, for: Origin(url: "https://h"))
    try fake.run(
      client.loop,
      {
        let handle = fake.handle()
        #expect((fake_long(handle, CURLOPT_SSL_VERIFYPEER) == 0) == isServer)
        #expect((fake_string(handle, CURLOPT_SSLCERT) != nil) == isServer)
        #expect(fake_list_contains(handle, CURLOPT_CONNECT_TO, "::evil:1") == isServer)
        #expect(fake_list_contains(handle, CURLOPT_CONNECT_TO, "other:443:local:1"))
      })
    transfer.cancel()
    try fake.run(client.loop)
  }

  @Test(arguments: [("x y", "1"), ("", "1"), ("x", "1\r\ny: 2"), ("x", "1\0")])
  func refusesHeader(_ name: String, _ value: String) throws {
    let error = try error(of: HTTPFetch(url: "https://h/", headers: Headers([(name, value)])))
    #expect(error?.message == "the header \(name) cannot be sent")
  }
}
