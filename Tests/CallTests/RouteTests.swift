import RPCurlProtocols
import RPCurlTransport
import Testing

@testable import RPCurlCall

@Suite struct RouteTests {
  private func exposure(
    _ url: String = "http://localhost:81", resolve: [String] = [], former: [String] = [],
    connectTo: [String] = [], proxy: String? = nil, unixSocket: String? = nil,
    environment: [String: String] = [:]
  ) throws -> String? {
    var options = ConnectionOptions()
    options.resolve = resolve
    options.connectTo = connectTo
    options.proxy = proxy
    options.unixSocket = unixSocket
    let route = Route(options, formerAddresses: former) { environment[$0] }
    return route.exposure(of: try #require(Origin(url: url)))
  }

  @Test(arguments: [
    ("http://localhost:81", false), ("http://a.localhost", false), ("http://127.0.0.1", false),
    ("http://[::1]:81", false), ("https://example.com", false), ("http://example.com", true),
    ("http://127.0.0.1.5", true), ("http://127.0.0.256", true), ("http://0.0.0.0", true),
  ])
  func exposureDependsOnURLWithoutOptions(_ url: String, _ isExposed: Bool) throws {
    #expect((try exposure(url) != nil) == isExposed)
  }

  @Test(arguments: [
    ("localhost:81:192.0.2.1", true), ("LOCALHOST:81:192.0.2.1", true), ("+localhost:81:192.0.2.1", true),
    ("*:81:192.0.2.1", true), ("localhost:81:127.0.0.1,192.0.2.1", true),
    ("localhost:81:[2001:db8::1]", true),
    ("localhost:82:192.0.2.1", false), ("other:81:192.0.2.1", false), ("localhost:81:127.0.0.2", false),
    ("localhost:81:[::1]", false), ("-localhost:81", false), ("", false), ("localhost", false),
  ])
  func exposureDependsOnResolvedAddress(_ entry: String, _ isExposed: Bool) throws {
    #expect((try exposure(resolve: [entry]) != nil) == isExposed)
    #expect((try exposure(former: [entry]) != nil) == isExposed)
  }

  @Test(arguments: [
    ("localhost:81:192.0.2.1:81", true), ("::example.com:", true), (":81:[2001:db8::1]:81", true),
    ("localhost:81:127.0.0.1:82", false), ("::[::1]:82", false), ("localhost:81::82", false),
    ("[::1]:81:localhost:", false),
  ])
  func exposureDependsOnConnectTo(_ entry: String, _ isExposed: Bool) throws {
    #expect((try exposure(connectTo: [entry]) != nil) == isExposed)
  }

  @Test func addressOnThisMachineIsNotExposed() throws {
    #expect(try exposure("http://example.com", resolve: ["example.com:80:127.0.0.1"]) == nil)
    #expect(try exposure("http://[::1]:81", resolve: ["[::1]:81:192.0.2.1"]) != nil)
  }

  @Test(arguments: [
    (["http_proxy": "http://192.0.2.1:8080"], true), (["ALL_PROXY": "socks5://192.0.2.1"], true),
    (["all_proxy": "192.0.2.1:1"], true), (["http_proxy": "", "ALL_PROXY": "socks5://192.0.2.1"], true),
    (["HTTP_PROXY": "http://192.0.2.1:8080"], false), (["https_proxy": "http://192.0.2.1"], false),
    (["http_proxy": ""], false), (["http_proxy": "http://127.0.0.1:8080"], true),
    (["http_proxy": "h", "no_proxy": "*"], false), (["http_proxy": "h", "NO_PROXY": "a, .localhost"], false),
    (["http_proxy": "h", "no_proxy": "LOCALHOST"], false), (["http_proxy": "h", "no_proxy": "host"], true),
    (["http_proxy": "h", "no_proxy": "localhost:81"], true), (["http_proxy": "h", "no_proxy": ""], true),
  ])
  func proxyOfEnvironmentExposes(_ environment: [String: String], _ isExposed: Bool) throws {
    #expect((try exposure(environment: environment) != nil) == isExposed)
  }

  @Test func proxyOfOptionsExposes() throws {
    #expect(try exposure(proxy: "http://192.0.2.1:8080") == "to localhost:81 through a proxy")
    #expect(try exposure("https://localhost", proxy: "http://192.0.2.1:8080") == nil)
    #expect(try exposure(proxy: "", environment: ["http_proxy": "h"]) == nil)
  }

  @Test func hostNamedLikeAScheme() throws {
    let resolve = ["https:81:127.0.0.1"]
    #expect(try exposure("http://https:81", resolve: resolve, environment: ["https_proxy": "h"]) == nil)
    #expect(try exposure("http://https:81", resolve: resolve, environment: ["http_proxy": "h"]) != nil)
  }

  @Test func unixSocketStaysOnThisMachine() throws {
    #expect(try exposure("http://example.com", unixSocket: "/run/s") == nil)
  }
}
