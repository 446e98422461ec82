import Testing

@testable import RPCurlSchemaTools

struct NumberRangesTests {
  @Test func mergesRangesThatOverlapOrTouch() {
    #expect(NumberRanges([5...9, 1...2, 3...4, 8...20, 30...30]).ranges == [1...20, 30...30])
    #expect(NumberRanges([]).ranges.isEmpty)
  }

  @Test(
    arguments: [
      ([1...10], [], [1...10]), ([1...10], [1...10], []), ([1...10], [0...20], []),
      ([1...10], [3...4, 6...6], [1...2, 5...5, 7...10]), ([1...3, 7...9], [2...8], [1...1, 9...9]),
      ([1...3, 7...9], [4...6], [1...3, 7...9]), ([5...5], [6...9], [5...5]), ([5...9], [1...5], [6...9]),
      ([1...2, 4...5, 7...8], [2...7], [1...1, 8...8]),
    ] as [([ClosedRange<Int64>], [ClosedRange<Int64>], [ClosedRange<Int64>])])
  func subtracts(
    old: [ClosedRange<Int64>], new: [ClosedRange<Int64>], missing: [ClosedRange<Int64>]
  ) {
    let (before, after) = (NumberRanges(old), NumberRanges(new))
    #expect(before.subtracting(after).ranges == missing)
    for number in Int64(0)...21 {
      let isMissing = before.contains(number) && !after.contains(number)
      #expect(NumberRanges(missing).contains(number) == isMissing, "\(number)")
    }
  }

  @Test func hasTheTextOfAProtoFile() {
    #expect(NumberRanges([4...4, 9...11, 100...200]).text(maximum: 200) == "4, 9 to 11, 100 to max")
  }
}
