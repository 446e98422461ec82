import RPCurlProtocolsSupport
import Testing

@testable import RPCurlProtocols

@Suite struct CrossOriginTests {
  private static let hosts = ["127.0.0.1:8080", "localhost", "[::1]:8080", "Proxy.Example"]
  private static let page = "https://app.example:8443"

  private func decide(
    _ headers: [(String, String)], method: String = "POST", authority: String = "localhost:8080",
    origins: [String] = [page]
  ) -> CrossOrigin.Decision {
    CrossOrigin(hosts: Self.hosts, origins: origins).decide(
      ServerRequestHead(method: method, path: "/a.B/C", authority: authority, headers: Headers(headers)))
  }

  private func status(_ decision: CrossOrigin.Decision) -> Int? {
    if case .respond(let response) = decision { response.head?.status } else { nil }
  }

  @Test(arguments: [
    "localhost", "localhost:1", "LOCALHOST:8080", "127.0.0.1", "[::1]", "[::1]:9", "proxy.example:80",
  ])
  func acceptsItsNames(authority: String) {
    #expect(decide([], authority: authority) == .accept(Headers()))
    #expect(decide([("host", authority)], authority: authority) == .accept(Headers()))
  }

  @Test(arguments: [
    "", "evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.2", "localhost:x",
    "user@localhost",
    "localhost, evil", "127.0.0.1.", "[::2]", "localhost:8080@evil.example", ":8080", "local host",
  ])
  func refusesOtherHosts(authority: String) {
    #expect(status(decide([], authority: authority)) == 421)
    #expect(status(decide([("host", authority)])) == 421)
    #expect(status(decide([("origin", Self.page)], authority: authority)) == 421)
  }

  @Test(arguments: [
    ("192.0.2.1:8080", true), ("[2001:db8::1]:8080", true), ("localhost", true), ("evil.example", false),
    ("192.0.2.1.evil.example", false), ("", false), (":8080", false),
  ])
  func acceptsAnyAddressOfAServerOnAllAddresses(authority: String, isAccepted: Bool) {
    let rules = CrossOrigin(hosts: ["localhost"], acceptsAddresses: true)
    let decision = rules.decide(ServerRequestHead(path: "/a.B/C", authority: authority))
    #expect((decision == .accept(Headers())) == isAccepted)
  }

  @Test func acceptsAnyHostWithoutNames() {
    for authority in ["", "%2Ftmp%2Fsocket", "evil.example"] {
      let head = ServerRequestHead(path: "/a.B/C", authority: authority)
      #expect(CrossOrigin(hosts: nil).decide(head) == .accept(Headers()))
    }
  }

  @Test(arguments: [
    ("HTTPS://App.Example:443/", "https://app.example"), ("http://a:80", "http://a"),
    ("http://a:443", "http://a:443"),
    ("http://[::1]:5173", "http://[::1]:5173"), ("chrome-extension://abc/", "chrome-extension://abc"),
    ("*", "*"),
  ])
  func writesOriginsAsBrowsers(text: String, origin: String) {
    #expect(CrossOrigin.normalized(text) == origin)
    #expect(status(decide([("origin", origin)], origins: [text])) == nil)
  }

  @Test(arguments: [
    "", "null", "app.example", "https://", "https:///", "://a", "https://a/b", "https://a//", "https://u@a",
    "https://a b",
    "https://a:x", "https://a,https://b", "https://a?", "https://é", "https://a\r",
  ])
  func rejectsWhatIsNoOrigin(text: String) {
    #expect(CrossOrigin.normalized(text) == nil)
  }

  @Test func refusesOriginsThatAreNotAllowed() {
    for origin in [
      "https://evil.example", "null", "", "https://app.example", "http://app.example:8443",
      "http://localhost:8080", "*",
    ] {
      #expect(status(decide([("origin", origin)])) == 403)
      #expect(status(decide([("origin", origin)], method: "GET")) == 403)
      #expect(
        status(decide([("origin", origin), ("access-control-request-method", "POST")], method: "OPTIONS"))
          == 403)
    }
    #expect(status(decide([("origin", Self.page)], origins: [])) == 403)
    #expect(status(decide([("origin", Self.page), ("origin", "https://evil.example")])) == 403)
    #expect(status(decide([("origin", "a\r\nb")], origins: ["*"])) == 403)
  }

  /// A page can cause these without an origin, as for an image or a link.
  @Test(arguments: [
    [("sec-fetch-site", "cross-site")], [("sec-fetch-site", "same-site")],
    [("sec-fetch-site", "same-origin")],
    [("referer", "https://evil.example/a")], [("referer", "garbage")], [("referer", "")],
    [("sec-fetch-site", "cross-site"), ("referer", "https://app.example:8443.evil.example/")],
  ])
  func requestsOfPagesWithoutOriginAreRefused(headers: [(String, String)]) {
    #expect(status(decide(headers, method: "GET")) == 403)
    #expect(status(decide(headers)) == 403)
  }

  @Test func requestsOfOtherClientsNeedNoPermission() {
    #expect(decide([], method: "GET", origins: []) == .accept(Headers()))
    #expect(decide([("sec-fetch-site", "none")], method: "GET", origins: []) == .accept(Headers()))
  }

  @Test(arguments: [[("origin", page)], [("sec-fetch-site", "cross-site"), ("referer", "\(page)/p?q")]])
  func allowedOriginMayReadTheResponse(headers: [(String, String)]) {
    let fields = Headers([
      ("access-control-allow-origin", Self.page), ("vary", "origin"), ("access-control-expose-headers", "*"),
    ])
    #expect(decide(headers, origins: ["HTTPS://App.example:8443"]) == .accept(fields))
  }

  @Test func anyOriginIsNotNamed() {
    guard case .accept(let fields) = decide([("origin", "null")], origins: ["*"]) else {
      Issue.record("it is accepted")
      return
    }
    #expect(fields.first("access-control-allow-origin") == "*")
    #expect(fields.first("access-control-allow-credentials") == nil)
  }

  @Test func preflightNamesWhatIsAllowed() {
    let asked = [
      ("origin", Self.page), ("access-control-request-method", "POST"),
      ("access-control-request-headers", "authorization,x-grpc-web"),
      ("access-control-request-private-network", "true"),
    ]
    let fields = Headers([
      ("access-control-allow-origin", Self.page), ("vary", "origin"),
      ("access-control-allow-methods", "GET, POST"),
      ("access-control-allow-headers", "authorization,x-grpc-web"),
      ("access-control-allow-private-network", "true"),
      ("access-control-max-age", "7200"),
    ])
    let response = ServerResponse(head: ServerResponseHead(status: 204, headers: fields))
    #expect(decide(asked, method: "OPTIONS") == .respond(response))
  }

  @Test func preflightRepeatsOnlyNames() {
    let asked = [
      ("origin", Self.page), ("access-control-request-method", "POST"),
      ("access-control-request-headers", "a b: c"),
    ]
    guard case .respond(let response) = decide(asked, method: "OPTIONS") else { return }
    #expect(response.head?.headers.first("access-control-allow-headers") == nil)
  }
}
