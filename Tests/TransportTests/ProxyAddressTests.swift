import Testing

@testable import RPCurlTransport

struct ProxyAddressTests {
  private func name(_ url: String, _ proxy: String?, _ environment: [String: String] = [:]) -> String? {
    var options = ConnectionOptions()
    options.proxy = proxy
    return ProxyAddress.name(for: url, options) { environment[$0] }
  }

  @Test(arguments: [
    ("proxy", "http://proxy"), ("http://proxy:3128/", "http://proxy:3128"),
    ("socks5h://u:p@[::1]:1080", "socks5h://[::1]:1080"), ("u:p@ss/w@proxy:1", "http://proxy:1"),
  ]) func namesTheProxyWithoutCredentials(proxy: String, expected: String) {
    #expect(name("http://h", proxy) == expected)
  }

  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1", true), ("10.1.2.3", "a, 10.1.0.0/16", true),
    ("10.2.2.3", "10.1.0.0/16", false),
    ("[::1]", "::/127", true), ("A.Demo.Example", "demo.example", true), ("a", "*", true), ("a", "", false),
    ("localhost", "a localhost", false), ("localhost", "a , localhost", true),
    // As in lib/noproxy.c of libcurl 8.
    ("a.demo.", "demo", true), ("a.demo", "demo.", true), ("a.demo", ".demo.", true),
    ("a.demo", "..demo", false),
    ("demo..", "demo", false), ("a", ".", false), ("127.0.0.1.", "127.0.0.1", true),
    ("127.0.0.1", "127.0.0.1.", false),
    ("10.1.2.3", "0.0.0.0/0", false), ("10.1.2.3", "10.1.2.3/0", true), ("10.1.2.3", "10.1.2.3/", true),
    ("10.1.2.3", "10.1.2.0/24x", true), ("10.1.2.3", "10.1.2.3/33", false),
    ("10.1.2.3", "10.1.2.3/-1", false),
    ("10.1.2.3", "2.3", false), ("[::1]", "0:0::1", true), ("[::1]", "[::1]", false),
    ("[::1]", "::2/0", false),
    ("10.demo", "10.0.0.0/8", false),
  ]) func exemptsHosts(host: String, list: String, isExempt: Bool) {
    #expect(ProxyExemption.exempts(host) { $0 == "no_proxy" ? list : nil } == isExempt)
  }

  @Test func readsVariablesOfScheme() {
    let environment = ["http_proxy": "a", "HTTP_PROXY": "b", "HTTPS_PROXY": "c", "ALL_PROXY": "d"]
    #expect(name("http://h", nil, environment) == "http://a")
    #expect(name("https://h", nil, environment) == "http://c")
    #expect(name("http://h", nil, ["HTTP_PROXY": "b", "ALL_PROXY": "d"]) == "http://d")
    #expect(name("http://h", nil, ["http_proxy": "", "ALL_PROXY": "d"]) == "http://d")
    #expect(name("http://h", "", environment) == nil)
    #expect(name("http://h", nil) == nil)
  }

  @Test func exemptHostsAndSocketsHaveNoProxy() {
    let environment = ["http_proxy": "a", "no_proxy": "h.test,10.0.0.0/8"]
    #expect(name("http://h.test:1/path", nil, environment) == nil)
    #expect(name("http://h.test", "b", environment) == nil)
    #expect(name("http://10.1.2.3", nil, environment) == nil)
    #expect(name("http://other.test", nil, environment) == "http://a")
    var options = ConnectionOptions()
    #expect(
      ProxyAddress.setting(for: "http://10.1.2.3", options, exemptsNetworks: false) { environment[$0] } == "a"
    )
    options.unixSocket = "s"
    #expect(ProxyAddress.setting(for: "http://other.test", options) { environment[$0] } == nil)
  }
}
