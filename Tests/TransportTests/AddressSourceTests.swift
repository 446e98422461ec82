import RPCurlProtocols
import Testing

@testable import RPCurlTransport

struct AddressSourceTests {
  private func source(_ url: String, _ change: (inout ConnectionOptions) -> Void = { _ in }) -> AddressSource
  {
    var options = ConnectionOptions()
    options.proxy = ""
    change(&options)
    return AddressSource(url, options)
  }

  @Test func theSystemResolvesNames() {
    #expect(source("https://Demo.test/prefix") == .name("demo.test", port: 443))
    #expect(source("http://demo.test:8080") == .name("demo.test", port: 8080))
  }

  @Test func addressesNeedNoLookup() {
    #expect(source("http://127.0.0.1") == .addresses(["127.0.0.1"], port: 80))
    #expect(source("http://[::1]:1") == .addresses(["::1"], port: 1))
  }

  @Test(arguments: [
    ("localhost", "127.0.0.1", true), ("A.localhost", "::1", true), ("localhost", "0.0.0.0", true),
    ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "0.0.0.0", true), ("[::1]", "::", true),
    ("127.0.0.1", "::", true), ("0.0.0.0", "127.0.0.1", true), ("[0:0::1]", "::1", true),
    ("Given.test", "192.0.2.1", true),
    ("127.0.0.2", "127.0.0.1", false), ("[::1]", "127.0.0.1", false), ("[::1]", "0.0.0.0", false),
    ("192.0.2.1", "127.0.0.1", false),
    ("localhost", "192.0.2.1", false), ("192.0.2.1", "0.0.0.0", false), ("other.test", "0.0.0.0", false),
  ])
  func findsASocketOfThisMachine(_ target: String, _ listening: String, _ isReached: Bool) {
    func reaches(_ port: Int, _ change: (inout ConnectionOptions) -> Void = { _ in }) -> Bool {
      source("http://\(target):\(port)/p", change).reaches(listening, port: 1, name: "given.test")
    }
    #expect(reaches(1) == isReached)
    #expect(!reaches(2))
    #expect(
      reaches(2) { $0.connectTo = ["::127.0.0.1:1"] } == (["127.0.0.1", "0.0.0.0", "::"].contains(listening)))
    #expect(!reaches(1) { $0.connectTo = ["::192.0.2.9:1"] })
    #expect(!reaches(1) { $0.proxy = "http://proxy:1" })
  }

  @Test func proxiesAndSocketsHaveNoAddresses() {
    #expect(source("http://localhost:1") == .localhost(port: 1))
    #expect(source("http://a.localhost:1") == .localhost(port: 1))
    #expect(source("http://demo.test") { $0.proxy = "http://proxy:1" } == .none)
    #expect(source("http://localhost") { $0.unixSocket = "a" } == .none)
    #expect(source("http://localhost") { $0.abstractUnixSocket = "a" } == .none)
    #expect(source("no URL") == .none)
  }

  @Test func resolveGivesTheAddressesOfAName() {
    let entries = ["demo.test:1:192.0.2.1", "+demo.test:1:192.0.2.2,[2001:db8::1]", "other.test:1:192.0.2.3"]
    #expect(
      source("http://demo.test:1") { $0.resolve = entries }
        == .addresses(["192.0.2.2", "2001:db8::1"], port: 1))
    #expect(source("http://demo.test:2") { $0.resolve = entries } == .name("demo.test", port: 2))
    #expect(
      source("http://demo.test:1") { $0.resolve = ["*:1:192.0.2.9"] } == .addresses(["192.0.2.9"], port: 1))
  }

  @Test func connectToReplacesHostAndPort() {
    #expect(
      source("http://demo.test:1") { $0.connectTo = ["demo.test:1:b.test:2"] } == .name("b.test", port: 2))
    #expect(source("http://demo.test:1") { $0.connectTo = ["::[::1]:"] } == .addresses(["::1"], port: 1))
    #expect(
      source("http://demo.test:1") { $0.connectTo = ["c.test::b.test:2"] } == .name("demo.test", port: 1))
    let both = source("http://demo.test:1") {
      ($0.connectTo, $0.resolve) = (["::b.test:2"], ["b.test:2:192.0.2.1"])
    }
    #expect(both == .addresses(["192.0.2.1"], port: 2))
  }

  @Test func connectionsToAnAddressKeepTheNameOfTheServer() {
    var options = ConnectionOptions()
    options.connectTo = ["demo.test:1:b.test:2"]
    #expect(options.connecting(to: ServerAddress("::1", port: 2)).connectTo == ["::[::1]:2"])
    #expect(options.connecting(to: ServerAddress("192.0.2.1", port: 2)).connectTo == ["::192.0.2.1:2"])
  }
}
