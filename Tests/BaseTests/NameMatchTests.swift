import Testing

@testable import RPCurlBase

struct NameMatchTests {
  @Test(arguments: [
    ("", ["GetItem", "Get", "listItems"]), ("Get", ["GetItem", "Get"]), ("get", ["GetItem", "Get"]),
    ("LIST", ["listItems"]), ("item", ["GetItem", "listItems"]), ("I", []), ("none", []),
    ("geti", ["GetItem"]),
  ])
  func finds(_ typed: String, _ expected: [String]) {
    let names = ["GetItem", "Get", "listItems"]
    #expect(NameMatch.indices(of: typed, in: names).map { names[$0] } == expected)
  }

  @Test func infrastructureIsLast() {
    let names = ["google.protobuf.Any", "a.B", "grpc.health.v1.Health", "google.api.Http"]
    #expect(
      NameMatch.ownFirst(names) == ["a.B", "google.api.Http", "google.protobuf.Any", "grpc.health.v1.Health"])
  }
}
