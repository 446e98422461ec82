import RPCurlReports
import Testing

@testable import RPCurlEngine

struct LevelTests {
  /// A load of stages, by milliseconds.
  struct Load {
    let start: Double
    let stages: [(milliseconds: Int, level: Double)]

    var level: Level {
      Level(from: start, stages.map { LoadShape.Stage(.milliseconds($0.milliseconds), to: $0.level) })
    }

    /// The level at each millisecond, and the sum of the level until then: of trapezoids, which are exact for a level that
    /// changes evenly.
    var reference: [(level: Double, sum: Double)] {
      var (list, last, sum) = ([(level: Double, sum: Double)](), start, 0.0)
      for stage in stages {
        for millisecond in 0..<stage.milliseconds {
          func level(_ time: Int) -> Double {
            last + (stage.level - last) * Double(time) / Double(stage.milliseconds)
          }
          list.append((level(millisecond), sum))
          sum += (level(millisecond) + level(millisecond + 1)) / 2000
        }
        last = stage.level
      }
      return list + [(last, sum)]
    }
  }

  static let loads = [
    Load(start: 100, stages: [(3000, 100)]),
    Load(start: 0, stages: [(3000, 70), (2000, 70), (1000, 0)]),
    Load(start: 12.5, stages: [(700, 12.5), (0, 250), (900, 250), (0, 3), (2000, 0.001)]),
    Load(start: 0, stages: [(1000, 0), (0, 40), (500, 40), (0, 0), (1500, 0), (1000, 33)]),
    Load(start: 9000, stages: [(100, 1), (100, 9000)]),
  ]

  @Test(arguments: loads.indices) func countIsTheSumOfTheLevel(_ index: Int) {
    let (level, reference) = (Self.loads[index].level, Self.loads[index].reference)
    for (millisecond, point) in reference.enumerated() {
      // A step is due at 0, and each time that the sum reaches a whole number.
      let count = Double(level.count(before: .milliseconds(millisecond)))
      #expect(abs(count - point.sum.rounded(.up)) < 1 + 1e-6, "\(millisecond): \(count), \(point.sum)")
      #expect(count + 1e-6 >= point.sum && count < point.sum + 1 + 1e-6, "\(millisecond)")
    }
  }

  @Test(arguments: loads.indices) func dueTimesAreWhereTheSumIsWhole(_ index: Int) {
    let (level, reference) = (Self.loads[index].level, Self.loads[index].reference)
    var (number, last) = (0, Duration.zero)
    while let due = level.due(number) {
      #expect(due >= last)
      let place = min(Int(due / .milliseconds(1)), reference.count - 1)
      // Within the millisecond in which the sum reaches the number.
      #expect(reference[place].sum <= Double(number) + 1e-6)
      if place + 1 < reference.count { #expect(reference[place + 1].sum >= Double(number) - 1e-6) }
      (number, last) = (number + 1, due)
    }
    let all = reference.last?.sum ?? 0
    #expect(abs(Double(number) - all.rounded(.up)) < 1e-6)
  }

  @Test(arguments: loads.indices) func stepsThatRunAreTheLevelRoundedUp(_ index: Int) {
    let (level, reference) = (Self.loads[index].level, Self.loads[index].reference)
    for (millisecond, point) in reference.enumerated() {
      let steps = level.steps(at: .milliseconds(millisecond))
      #expect(abs(Double(steps) - point.level) < 1 + 1e-6 && Double(steps) > point.level - 1e-6)
    }
  }

  @Test(arguments: loads.indices) func timeAboveIsTheFirstWithMoreSteps(_ index: Int) {
    let (level, reference) = (Self.loads[index].level, Self.loads[index].reference)
    for count in [0, 1, 5, 30, 69, 70, 249, 250, 8999] {
      for now in stride(from: 0, to: reference.count, by: 37) {
        guard level.steps(at: .milliseconds(now)) <= count else { continue }
        let next = reference[now...].firstIndex { $0.level > Double(count) + 1e-6 }
        guard let time = level.time(above: count, after: .milliseconds(now)) else {
          #expect(next == nil, "\(count) after \(now)")
          continue
        }
        #expect(time > .milliseconds(now) && level.steps(at: time + .microseconds(1)) > count)
        // It is at most a millisecond before the one in which the reference has more.
        #expect(
          next.map { abs(Double($0) - time / .milliseconds(1)) <= 1 } ?? false,
          "\(count) after \(now): \(time)")
      }
    }
  }

  @Test func rateGrowsFromZeroInARamp() {
    let level = Level(from: 0, [LoadShape.Stage(.seconds(10), to: 100), .init(nil, to: 100)])
    #expect(level.due(0) == .zero)
    // Half of the ramp has a quarter of its 500 calls.
    #expect(level.due(125) == .seconds(5))
    #expect(level.due(500) == .seconds(10))
    #expect(level.due(600) == .seconds(11))
    #expect(!level.isConstant && Level(from: 3, [.init(.seconds(1), to: 3), .init(nil, to: 3)]).isConstant)
  }

  @Test(arguments: [0.3, 1, 7, 200, 12_345.678], [0.0, 0.5, 10])
  func countIsTheInverseOfTheDueTimes(rate: Double, ramp: Double) {
    let level = Level(from: ramp > 0 ? 0 : rate, [.init(.seconds(ramp), to: rate), .init(nil, to: rate)])
    for index in [0, 1, 2, 10, 99, 1000, 54_321] {
      guard let due = level.due(index) else { return #expect(Bool(false), "\(index)") }
      #expect(level.count(before: due + .microseconds(1)) == index + 1)
      #expect(level.count(before: due) == index)
    }
  }
}
