import Testing

@testable import RPCurlBase

@Suite struct EditDistanceTests {
  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 1), ("same", "same", 0),
    ("abcd", "axcd", 1),
  ])
  func counts(_ a: String, _ b: String, _ expected: Int) {
    #expect(EditDistance.between(Array(a.utf8), Array(b.utf8)) == expected)
  }

  @Test func returnsNearestFirst() {
    let names = ["language", "name", "names", "other"]
    #expect(EditDistance.nearest(to: "nmaes", among: names) == ["names"])
    #expect(EditDistance.nearest(to: "NAMS", among: names) == ["name", "names"])
    #expect(EditDistance.nearest(to: "nams", among: names, limit: 1) == ["name"])
    #expect(EditDistance.nearest(to: "langauges", among: names) == ["language"])
    #expect(EditDistance.nearest(to: "aStrin", among: ["a_string", "aSpring"]) == ["a_string"])
    #expect(EditDistance.nearest(to: "maxtime", among: ["--max-time", "--max-tries"]) == ["--max-time"])
    #expect(EditDistance.nearest(to: "x", among: ["y", "X", "xy"]) == ["X"])
    #expect(EditDistance.nearest(to: "xyz", among: ["completely", "different"]).isEmpty)
  }
}
