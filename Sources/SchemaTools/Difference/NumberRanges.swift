/// A set of numbers of fields or enum values, as sorted ranges with gaps between them.
struct NumberRanges: Equatable {
  private(set) var ranges: [ClosedRange<Int64>] = []

  /// The union of ranges within the numbers of 32 bits.
  init(_ given: some Sequence<ClosedRange<Int64>>) {
    for range in given.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = ranges.last, range.lowerBound <= last.upperBound + 1 {
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
  }

  /// Whether a range contains the number.
  func contains(_ number: Int64) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
    }
    return low < ranges.count && ranges[low].contains(number)
  }

  /// The numbers that are not in `other`.
  func subtracting(_ other: NumberRanges) -> NumberRanges {
    var missing: [ClosedRange<Int64>] = []
    var index = 0
    for range in ranges {
      var start = range.lowerBound
      while index < other.ranges.count, other.ranges[index].upperBound < start { index += 1 }
      while index < other.ranges.count, other.ranges[index].lowerBound <= range.upperBound {
        let next = other.ranges[index]
        if next.lowerBound > start { missing.append(start...(next.lowerBound - 1)) }
        start = next.upperBound + 1
        // It may also overlap the following range.
        if next.upperBound > range.upperBound { break }
        index += 1
      }
      if start <= range.upperBound { missing.append(start...range.upperBound) }
    }
    return NumberRanges(missing)
  }

  /// The ranges as in a `.proto` file: `4, 9 to 11, 100 to max`.
  ///
  /// - Parameter maximum: The largest number there is.
  func text(maximum: Int64) -> String {
    ranges.map { range in
      range.count == 1
        ? "\(range.lowerBound)"
        : "\(range.lowerBound) to \(range.upperBound == maximum ? "max" : "\(range.upperBound)")"
    }.joined(separator: ", ")
  }
}
