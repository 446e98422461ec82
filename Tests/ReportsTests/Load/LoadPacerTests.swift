import Testing

@testable import RPCurlReports

struct LoadPacerTests {
  /// Starts calls without ends until a time. Returns their due times.
  private func starts(_ pacer: inout LoadPacer, at now: Duration, running: Int = 0) -> [Duration] {
    var list: [Duration] = []
    while case .start(let due, _) = pacer.next(at: now, running: running + list.count) { list.append(due) }
    return list
  }

  @Test func closedLoopRunsANumberOfCallsAtATime() {
    var pacer = LoadPacer(LoadShape(.closed, jobs: 3, duration: .seconds(10)))
    #expect(starts(&pacer, at: .zero) == [.zero, .zero, .zero])
    #expect(pacer.next(at: .seconds(1), running: 3) == .wait(until: .seconds(10)))
    #expect(pacer.next(at: .seconds(2), running: 2) == .start(due: .seconds(2), isMeasured: true))
    #expect(pacer.next(at: .seconds(10), running: 2) == .finish(end: .seconds(10)))
    #expect(pacer.missed(at: .seconds(10)) == 0)
  }

  @Test func measuresTheCallsAfterTheWarmUp() {
    var pacer = LoadPacer(LoadShape(.closed, jobs: 1, warmUp: .seconds(5), duration: .seconds(1)))
    #expect(
      pacer.next(at: .milliseconds(4999), running: 0) == .start(due: .milliseconds(4999), isMeasured: false))
    #expect(pacer.next(at: .seconds(5), running: 0) == .start(due: .seconds(5), isMeasured: true))
    #expect(
      pacer.next(at: .milliseconds(5999), running: 0) == .start(due: .milliseconds(5999), isMeasured: true))
    #expect(pacer.next(at: .seconds(6), running: 0) == .finish(end: .seconds(6)))
    #expect(pacer.measured == 2)
  }

  @Test func endsAfterANumberOfMeasuredCalls() {
    var pacer = LoadPacer(LoadShape(.closed, jobs: 2, duration: nil, requests: 3))
    #expect(starts(&pacer, at: .zero).count == 2)
    #expect(pacer.next(at: .zero, running: 2) == .wait(until: nil))
    #expect(starts(&pacer, at: .seconds(1), running: 1).count == 1)
    #expect(pacer.next(at: .seconds(2), running: 0) == .finish(end: .seconds(2)))
    #expect(pacer.startOfLimit(finishedAt: .seconds(2)) == .seconds(2))
  }

  @Test func openLoopStartsCallsAtTheirDueTimes() {
    var pacer = LoadPacer(LoadShape(.open(rate: 4, ramp: .zero), jobs: 100, duration: .seconds(1)))
    #expect(pacer.next(at: .zero, running: 0) == .start(due: .zero, isMeasured: true))
    #expect(pacer.next(at: .zero, running: 1) == .wait(until: .milliseconds(250)))
    #expect(
      pacer.next(at: .milliseconds(250), running: 0) == .start(due: .milliseconds(250), isMeasured: true))
    // The loop was late: the calls keep their due times.
    #expect(starts(&pacer, at: .milliseconds(900)) == [.milliseconds(500), .milliseconds(750)])
    #expect(pacer.next(at: .milliseconds(900), running: 0) == .finish(end: .seconds(1)))
    #expect(pacer.startOfLimit(finishedAt: .milliseconds(900)) == .seconds(1))
    #expect(pacer.missed(at: .seconds(2)) == 0)
  }

  @Test func callsThatCannotStartKeepTheirDueTimes() {
    var pacer = LoadPacer(LoadShape(.open(rate: 10, ramp: .zero), jobs: 2, duration: .seconds(1)))
    #expect(starts(&pacer, at: .milliseconds(500)) == [.zero, .milliseconds(100)])
    #expect(pacer.next(at: .milliseconds(500), running: 2) == .wait(until: .seconds(1)))
    #expect(starts(&pacer, at: .milliseconds(800), running: 1) == [.milliseconds(200)])
    // Due at 0.3 to 0.9 s.
    #expect(pacer.missed(at: .seconds(1)) == 7)
    #expect(pacer.missed(at: .milliseconds(501)) == 3)
    #expect(pacer.next(at: .seconds(1), running: 2) == .finish(end: .seconds(1)))
  }

  @Test func callsOfALateLoopStartAfterTheEnd() {
    var pacer = LoadPacer(LoadShape(.open(rate: 10, ramp: .zero), jobs: 8, duration: .seconds(1)))
    #expect(starts(&pacer, at: .seconds(3)).count == 8)
    #expect(pacer.next(at: .seconds(3), running: 8) == .finish(end: .seconds(1)))
    #expect(pacer.missed(at: .seconds(1)) == 2)
  }

  @Test func callsAtARateTakeTheTimeUntilTheNextOne() {
    var pacer = LoadPacer(LoadShape(.open(rate: 2, ramp: .zero), jobs: 9, duration: nil, requests: 3))
    #expect(starts(&pacer, at: .seconds(1)).count == 3)
    #expect(pacer.next(at: .seconds(1), running: 3) == .finish(end: .milliseconds(1500)))
    #expect(pacer.startOfLimit(finishedAt: .seconds(1)) == .seconds(1))
  }

  @Test func missedCallsAreThoseOfTheMeasuredPart() {
    var pacer = LoadPacer(
      LoadShape(.open(rate: 10, ramp: .zero), jobs: 1, warmUp: .seconds(1), duration: .seconds(1)))
    #expect(starts(&pacer, at: .milliseconds(500)) == [.zero])
    #expect(pacer.next(at: .seconds(2), running: 1) == .finish(end: .seconds(2)))
    #expect(pacer.missed(at: .seconds(2)) == 10)
    var limited = LoadPacer(LoadShape(.open(rate: 10, ramp: .zero), jobs: 1, duration: nil, requests: 4))
    #expect(starts(&limited, at: .seconds(9)) == [.zero])
    #expect(limited.missed(at: .seconds(9)) == 3)
  }

  @Test func rateGrowsFromZeroInTheRamp() {
    let schedule = LoadSchedule(rate: 100, ramp: 10)
    #expect(schedule.due(0) == .zero)
    // Half of the ramp has a quarter of its 500 calls.
    #expect(schedule.due(125) == .seconds(5))
    #expect(schedule.due(500) == .seconds(10))
    #expect(schedule.due(600) == .seconds(11))
    for index in 1..<700 { #expect(schedule.due(index) > schedule.due(index - 1)) }
  }

  @Test func rampIsNotMeasured() {
    var pacer = LoadPacer(
      LoadShape(.open(rate: 10, ramp: .seconds(2)), jobs: 100, warmUp: .seconds(1), duration: .seconds(1)))
    var counts = [false: 0, true: 0]
    while case .start(let due, let isMeasured) = pacer.next(at: .milliseconds(3999), running: 0) {
      counts[isMeasured, default: 0] += 1
      #expect(isMeasured == (due >= .seconds(3)))
    }
    #expect(counts == [false: 20, true: 10])
  }

  @Test(arguments: [0.3, 1, 7, 200, 12_345.678], [0.0, 0.5, 10])
  func countIsTheInverseOfTheDueTimes(rate: Double, ramp: Double) {
    let schedule = LoadSchedule(rate: rate, ramp: ramp)
    for index in [0, 1, 2, 10, 99, 1000, 54_321] {
      let due = schedule.due(index)
      #expect(schedule.count(before: due + .microseconds(1)) == index + 1)
      #expect(schedule.count(before: due) == index)
    }
  }
}
