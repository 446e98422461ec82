import RPCurlReports

/// A level that changes evenly in each stage of a load: a number of steps in a second, or of steps that run. Times are those
/// since the start of the run.
struct Level {
  /// A time in which the level changes evenly. Times are in seconds.
  private struct Slope {
    let start: Double
    let length: Double
    /// The level at both ends.
    let first: Double
    let last: Double
    /// The number of steps at this rate that are due before it, and in it.
    let before: Double
    let count: Double

    var end: Double { start + length }

    /// The change of the level in a second.
    var change: Double { length.isFinite ? (last - first) / length : 0 }
  }

  /// A fraction of a step that is not one: levels are rounded.
  private static let tolerance = 1e-9

  private var slopes: [Slope] = []
  /// The level at the end.
  private var last: Double

  /// Makes the level of a load.
  ///
  /// - Parameters:
  ///   - start: The level at the start.
  ///   - stages: The stages, in their order.
  init(from start: Double, _ stages: [LoadShape.Stage]) {
    last = start
    var (time, count) = (Duration.zero, 0.0)
    for stage in stages {
      let begin = time / .seconds(1)
      var length = Double.infinity
      if let duration = stage.duration {
        time += duration
        length = time / .seconds(1) - begin
      }
      let mean = (last + stage.level) / 2
      // The level of a stage without a length changes at once.
      if length > 0 {
        let slope = Slope(
          start: begin, length: length, first: last, last: stage.level, before: count,
          count: mean > 0 ? mean * length : 0)
        slopes.append(slope)
        count += slope.count
      }
      last = stage.level
    }
  }

  /// Whether it does not change.
  var isConstant: Bool { slopes.allSatisfy { $0.first == last && $0.last == last } }

  // MARK: Steps at a rate

  /// When a step is due; nil if it is due after the end.
  ///
  /// - Parameter index: The number of steps before it.
  func due(_ index: Int) -> Duration? {
    let index = Double(index)
    guard let slope = slopes.first(where: { index < $0.before + $0.count }) else { return nil }
    // first·t + change·t²/2 = count, in the form that is exact for each change.
    let count = max(index - slope.before, 0)
    let root = max(slope.first * slope.first + 2 * slope.change * count, 0).squareRoot()
    let time = count > 0 ? slope.start + 2 * count / (slope.first + root) : slope.start
    return Self.duration(time)
  }

  private static func duration(_ seconds: Double) -> Duration {
    .nanoseconds(Int64(min((seconds * 1e9).rounded(), 9e18)))
  }

  /// The number of steps that are due before a time.
  func count(before time: Duration) -> Int {
    let seconds = time / .seconds(1)
    var estimate = 0.0
    for slope in slopes where seconds > slope.start {
      let part = min(seconds, slope.end) - slope.start
      estimate = slope.before + slope.first * part + slope.change * part * part / 2
    }
    var count = Int(min(max(estimate, 0), 1e15))
    // Due times are whole nanoseconds.
    while let due = due(count), due < time { count += 1 }
    while count > 0, due(count - 1).map({ $0 >= time }) ?? true { count -= 1 }
    return count
  }

  // MARK: Steps that run

  /// The number of steps that run at a time: the level, rounded up.
  func steps(at time: Duration) -> Int {
    let seconds = time / .seconds(1)
    guard let slope = slopes.first(where: { seconds < $0.end }) else { return Self.rounded(last) }
    return Self.rounded(slope.first + slope.change * (seconds - slope.start))
  }

  private static func rounded(_ level: Double) -> Int { Int((level - tolerance).rounded(.up)) }

  /// The first time at which more than a number of steps run; nil if there is none.
  ///
  /// - Parameter now: A time at which they do not.
  func time(above count: Int, after now: Duration) -> Duration? {
    let seconds = now / .seconds(1)
    for slope in slopes where seconds < slope.end && count < Self.rounded(max(slope.first, slope.last)) {
      guard count >= Self.rounded(slope.first) else {
        // It falls below within this stage, unless the stage is yet to begin.
        if slope.start > seconds { return Self.duration(slope.start) }
        continue
      }
      let growth = Double(count) + 2 * Self.tolerance - slope.first
      return max(Self.duration(slope.start + growth / slope.change), now + .nanoseconds(1))
    }
    return nil
  }
}
