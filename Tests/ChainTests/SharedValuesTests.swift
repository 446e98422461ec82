import RPCurlChain
import Testing

struct SharedValuesTests {
  /// JSON has no form of an infinite number.
  @Test func sumOfACounterIsFinite() throws {
    let values = SharedValues()
    try values.add(1.7e308, to: "c")
    #expect(throws: InvalidValue.self) { try values.add(1.7e308, to: "c") }
    #expect(values.counters.map(\.value) == [1.7e308])
  }
}
