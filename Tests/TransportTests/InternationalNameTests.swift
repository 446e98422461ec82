import Testing

@testable import RPCurlTransport

@Suite struct InternationalNameTests {
  @Test(arguments: [
    ("http://example.test:80/ü", "http://example.test:80/ü"),
    ("https://grün.example/a.B/C", "https://xn--grn-ioa.example/a.B/C"),
    ("http://user:pässwort@GRÜN.example:8080", "http://user:pässwort@xn--grn-ioa.example:8080"),
    ("grün.example:443:127.0.0.1", "xn--grn-ioa.example:443:127.0.0.1"),
    ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
    ("faß.example", "xn--fa-hia.example"),
  ])
  func convertsHost(_ text: String, _ expected: String) throws {
    #expect(try InternationalName.ascii(text) == expected)
  }

  @Test func rejectsInvalidName() {
    let error = #expect(throws: TransportError.self) {
      try InternationalName.ascii("http://\u{301}a.example")
    }
    #expect(error?.kind == .request)
    #expect(error?.message.hasPrefix("the name \u{301}a.example: ") == true)
  }
}
