import Testing

@testable import RPCurlProtocols

@Suite struct HeadersTests {
  @Test(
    arguments: [
      (["AAEC"], [[0, 1, 2]]), (["AAE="], [[0, 1]]), (["AAE"], [[0, 1]]), ([""], [[]]),
      (["AAE=,AAEC", "Ag"], [[0, 1], [0, 1, 2], [2]]), (["AA , Ag=="], [[0], [2]]), ([], []),
    ] as [([String], [[UInt8]])])
  func readsJoinedAndPaddedBinaryValues(values: [String], bytes: [[UInt8]]) {
    let headers = Headers(values.map { ("x-bin", $0) } + [("x", "AAAA")])
    #expect(headers.binaryValues("x-bin") == bytes)
    #expect(headers.values("x-bin") == values)
  }

  @Test func valueThatIsNotBase64HasNoBytes() {
    #expect(Headers([("x-bin", "AA,!!,Ag")]).binaryValues("X-Bin") == [[0], nil, [2]])
  }

  @Test func orderAndDuplicatesAreKept() {
    let pairs = [("b", "1"), ("A", "2"), ("b", "3")]
    #expect(Headers(pairs).fields.map(\.name) == ["b", "a", "b"])
    #expect(Headers(pairs).values("B") == ["1", "3"])
  }

  @Test(arguments: [
    ("a", "a"), (" \ta b\t ", "a b"), ("", ""), (" ", ""), (" \u{301}a \u{301} ", "\u{301}a \u{301}"),
  ])
  func trimsBlanksAroundValue(text: String, value: String) {
    #expect(HeaderSyntax.trimmed(text) == value)
  }
}
