import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlTransportSupport
import Testing

@testable import RPCurlTransport

struct AddressSearchTests {
  private let fake = FakeLibcurl()
  private let loop: EventLoop

  init() throws {
    loop = try EventLoop()
  }

  private func search(_ addresses: String, onChange: @escaping () -> Void) -> AddressSearch {
    var options = ConnectionOptions()
    options.proxy = ""
    options.resolve = ["demo.test:1:\(addresses)"]
    return AddressSearch(of: "http://demo.test:1", options, loop: loop, onChange: onChange)
  }

  @Test func anAddressIsUsableBeforeTheOthersAreKnown() throws {
    var changes = 0
    let search = search("192.0.2.1,192.0.2.2") { changes += 1 }
    #expect(search.addresses.isEmpty && !search.isOver)
    try fake.run(loop, { fake_complete(fake.handle(1), CURLE_OK, nil) })
    #expect(search.addresses.map(\.text) == ["192.0.2.2:1"])
    #expect(search.failures.isEmpty)
    #expect(!search.isOver)
    #expect(changes == 1)
    try fake.run(loop, { fake_complete(fake.handle(), CURLE_OK, nil) })
    #expect(search.addresses.map(\.text) == ["192.0.2.1:1", "192.0.2.2:1"])
    #expect(search.isOver)
    #expect(changes == 2)
    #expect(fake.handle() == nil)
  }

  @Test func aSingleAddressIsNotConnectedTo() {
    let search = search("192.0.2.1") {}
    #expect(search.isOver)
    #expect(search.addresses.map(\.text) == ["192.0.2.1:1"])
    #expect(fake.handle() == nil)
  }
}
