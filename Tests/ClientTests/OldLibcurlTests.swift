import RPCurlBase
@testable import RPCurlTransport
import Testing

@testable import RPCurlClient

/// What a client does with a libcurl that loses responses.
struct OldLibcurlTests {
  private let version = OldLibcurlVersion(name: "libcurl 7.88.1")

  @Test func isRefusedWithTheWaysToANewerOne() {
    let check = ClientOptions().oldLibcurlCheck()
    for _ in 1...2 {
      let error = #expect(throws: TransportError.self) { try check(version) }
      #expect(error?.kind == .oldLibrary)
      #expect(error?.message.hasPrefix("libcurl 7.88.1 may lose responses: install 8.14.0 or newer") == true)
      for way in ["make libcurl", "RPCURL_LIBCURL", "allowsOldLibcurl"] {
        #expect(error?.message.contains(way) == true)
      }
    }
  }

  @Test func isReportedOnceIfItIsAllowed() throws {
    let records = Locked<[LogRecord]>([])
    var options = ClientOptions()
    options.allowsOldLibcurl = true
    options.log = { record in records.withLock { $0.append(record) } }
    let check = options.oldLibcurlCheck()
    for _ in 1...2 { try check(version) }
    let found = records.withLock { $0 }
    #expect(found.map(\.level) == [.warning])
    #expect(found.map(\.source) == ["client"])
    #expect(found.map(\.text) == ["libcurl 7.88.1 may lose responses: 8.14.0 or newer does not"])
  }
}
