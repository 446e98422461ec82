import RPCurlProtocols
import Testing

@testable import RPCurlChain

/// The values that wait at one node: they leave in the order of arrival.
@Suite struct ReorderBufferTests {
  private func message(_ number: UInt8) -> Item { .responseMessage(MessageValue(bytes: [number])) }

  /// What leaves a buffer now: the number of each message, and what else happens.
  private func outputs(of buffer: inout ReorderBuffer) -> [String] {
    var lines: [String] = []
    while let output = buffer.takeOutput() {
      switch output {
      case .item(let item, _): lines.append(text(item))
      case .injected(let item): lines.append("injected \(text(item))")
      case .nothing: lines.append("dropped")
      }
    }
    return lines
  }

  private func text(_ item: Item) -> String {
    switch item {
    case .responseMessage(let value): "\(value.bytesForm?.first ?? 0)"
    case .responseStart: "start"
    default: "end"
    }
  }

  @Test func valuesWaitForTheHeldOneBeforeThem() {
    var buffer = ReorderBuffer()
    buffer.append(.held(.requestMessage, message(1)), sequence: 1, sizeBytes: 10)
    buffer.append(.held(.requestMessage, message(2)), sequence: 2, sizeBytes: 10)
    buffer.append(.ready(message(3)), sequence: 3, sizeBytes: 10)
    buffer.settle(2, .dropped)
    let first = outputs(of: &buffer)
    #expect(first == [])
    #expect(buffer.headHold?.sequence == 1)
    buffer.settle(1, .ready(message(4)))
    let second = outputs(of: &buffer)
    #expect(second == ["4", "dropped", "3"])
    #expect(buffer.isEmpty)
  }

  @Test func injectedItemsLeaveBeforeTheirValueAlsoWhileItIsHeld() {
    var buffer = ReorderBuffer()
    buffer.append(.held(.requestEnd, .requestEnd), sequence: 1, sizeBytes: 10, injectedBefore: [message(1)])
    buffer.addInjected(message(2), before: 1)
    #expect(buffer.hasMessageNext && buffer.heldEnd == 1)
    let first = outputs(of: &buffer)
    #expect(first == ["injected 1", "injected 2"])
    #expect(buffer.injectedCount(1) == 2)
    buffer.settle(1, .ready(.requestEnd))
    let second = outputs(of: &buffer)
    #expect(second == ["end"])
  }

  @Test func aStartTakesThePlaceThatIsKeptForIt() {
    var buffer = ReorderBuffer()
    buffer.append(.awaitedStart, sequence: 1, sizeBytes: 0)
    buffer.append(.ready(message(1)), sequence: 2, sizeBytes: 10)
    #expect(buffer.count == 1 && buffer.awaitedStart == 1)
    let early = outputs(of: &buffer)
    #expect(early == [])
    buffer.append(.ready(.responseStart(ResponseStart())), sequence: 1, sizeBytes: 10)
    #expect(buffer.count == 2 && buffer.awaitedStart == nil && !buffer.hasMessageNext)
    let all = outputs(of: &buffer)
    #expect(all == ["start", "1"])
  }

  @Test func theFirstMessageIsNextOnceTheEndIsForwardedWithoutAStart() {
    var buffer = ReorderBuffer()
    buffer.append(.awaitedStart, sequence: 1, sizeBytes: 0)
    buffer.append(.ready(message(1)), sequence: 2, sizeBytes: 10)
    buffer.append(.held(.responseEnd, .responseEnd(ResponseEnd())), sequence: 3, sizeBytes: 10)
    buffer.giveUpStart()
    #expect(buffer.awaitedStart == 1 && buffer.headHold?.sequence == 3)
    buffer.settle(3, .ready(.responseEnd(ResponseEnd())))
    buffer.giveUpStart()
    #expect(buffer.awaitedStart == nil && buffer.hasMessageNext)
    let all = outputs(of: &buffer)
    #expect(all == ["1", "end"])
  }

  @Test func injectedItemsThatHaveLeftAreNotKept() {
    var buffer = ReorderBuffer()
    buffer.append(.held(.responseMessage, message(0)), sequence: 1, sizeBytes: 10)
    for number in 1...100 { buffer.addInjected(message(UInt8(number)), before: 1) }
    for number in 1...60 {
      guard case .injected(let item)? = buffer.takeOutput() else { break }
      #expect(text(item) == "\(number)")
    }
    #expect(buffer.injectedCount(1) == 100)
    let kept = buffer.released(before: nil).map(text)
    #expect(kept == (61...100).map { "\($0)" })
  }

  @Test(arguments: [nil, 2]) func anEndingKeepsWhatWasForwardedBeforeIt(_ last: Int?) {
    var buffer = ReorderBuffer()
    buffer.append(.ready(message(1)), sequence: 1, sizeBytes: 10)
    buffer.append(.ready(message(2)), sequence: 2, sizeBytes: 10)
    buffer.append(.held(.responseMessage, message(3)), sequence: 3, sizeBytes: 10)
    buffer.append(.ready(message(4)), sequence: 4, sizeBytes: 10)
    buffer.append(.ready(message(5)), sequence: 5, sizeBytes: 10, isOwn: true)
    let kept = buffer.released(before: last).map(text)
    #expect(kept == (last == nil ? ["1", "2", "5"] : ["1", "5"]))
  }

  @Test func removingEverythingReturnsItsSize() {
    var buffer = ReorderBuffer()
    for number in 1...100 { buffer.append(.ready(message(1)), sequence: number, sizeBytes: 10) }
    for _ in 1...60 { _ = buffer.takeOutput() }
    #expect(buffer.count == 40)
    let sizeBytes = buffer.removeAll()
    #expect(sizeBytes == 400)
    #expect(buffer.isEmpty)
  }
}
