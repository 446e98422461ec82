import Testing

@testable import RPCurlEngine

struct StreamMarkTests {
  @Test func repeatsAfterFiveStreams() {
    #expect((1...6).map { StreamMark($0).character } == ["●", "■", "▲", "◆", "★", "●"])
    #expect(Set((1...5).map { StreamMark($0).color }).count == 5)
    #expect(StreamMark(2).colored == "\u{1B}[32m■\u{1B}[0m")
    #expect(StreamMark(0).character == "●")
  }
}
