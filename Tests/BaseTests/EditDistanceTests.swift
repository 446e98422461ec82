import Testing

@testable import RPCurlBase

@Suite struct EditDistanceTests {
  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("ab", "ba", 1), ("same", "same", 0),
  ])
  func counts(_ a: String, _ b: String, _ expected: Int) {
    #expect(EditDistance.between(Array(a.utf8), Array(b.utf8)) == expected)
  }

  @Test func returnsNearestFirst() {
    #expect(EditDistance.nearest(to: "nmae", among: ["game", "name", "other"]) == ["name", "game"])
    #expect(EditDistance.nearest(to: "xyz", among: ["completely", "different"]).isEmpty)
  }
}
