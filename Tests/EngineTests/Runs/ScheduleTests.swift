import RPCurlReports
import Testing

@testable import RPCurlEngine

struct ScheduleTests {
  /// Starts calls without ends until a time. Returns their due times.
  private func starts(_ schedule: inout Schedule, at now: Duration, running: Int = 0) -> [Duration] {
    var list: [Duration] = []
    while case .start(let due, _) = schedule.next(at: now, running: running + list.count) { list.append(due) }
    return list
  }

  @Test func closedLoopRunsANumberOfCallsAtATime() {
    var schedule = Schedule(LoadShape(.closed, at: 3, duration: .seconds(10)))
    #expect(starts(&schedule, at: .zero) == [.zero, .zero, .zero])
    #expect(schedule.next(at: .seconds(1), running: 3) == .wait(until: .seconds(10)))
    #expect(schedule.next(at: .seconds(2), running: 2) == .start(due: .seconds(2), isMeasured: true))
    #expect(schedule.next(at: .seconds(10), running: 2) == .finish(end: .seconds(10)))
    #expect(schedule.missed(at: .seconds(10)) == 0)
  }

  @Test func measuresTheCallsAfterTheWarmUp() {
    var schedule = Schedule(LoadShape(.closed, at: 1, warmUp: .seconds(5), duration: .seconds(1)))
    #expect(
      schedule.next(at: .milliseconds(4999), running: 0)
        == .start(due: .milliseconds(4999), isMeasured: false))
    #expect(schedule.next(at: .seconds(5), running: 0) == .start(due: .seconds(5), isMeasured: true))
    #expect(
      schedule.next(at: .milliseconds(5999), running: 0) == .start(due: .milliseconds(5999), isMeasured: true)
    )
    #expect(schedule.next(at: .seconds(6), running: 0) == .finish(end: .seconds(6)))
    #expect(schedule.measured == 2)
  }

  @Test func endsAfterANumberOfMeasuredCalls() {
    var schedule = Schedule(LoadShape(.closed, at: 2, duration: nil, requests: 3))
    #expect(starts(&schedule, at: .zero).count == 2)
    #expect(schedule.next(at: .zero, running: 2) == .wait(until: nil))
    #expect(starts(&schedule, at: .seconds(1), running: 1).count == 1)
    #expect(schedule.next(at: .seconds(2), running: 0) == .finish(end: .seconds(2)))
    #expect(schedule.startOfLimit(finishedAt: .seconds(2)) == .seconds(2))
  }

  @Test func openLoopStartsCallsAtTheirDueTimes() {
    var schedule = Schedule(LoadShape(.open(jobs: 100), at: 4, duration: .seconds(1)))
    #expect(schedule.next(at: .zero, running: 0) == .start(due: .zero, isMeasured: true))
    #expect(schedule.next(at: .zero, running: 1) == .wait(until: .milliseconds(250)))
    #expect(
      schedule.next(at: .milliseconds(250), running: 0) == .start(due: .milliseconds(250), isMeasured: true))
    // The loop was late: the calls keep their due times.
    #expect(starts(&schedule, at: .milliseconds(900)) == [.milliseconds(500), .milliseconds(750)])
    #expect(schedule.next(at: .milliseconds(900), running: 0) == .finish(end: .seconds(1)))
    #expect(schedule.startOfLimit(finishedAt: .milliseconds(900)) == .seconds(1))
    #expect(schedule.missed(at: .seconds(2)) == 0)
  }

  @Test func callsThatCannotStartKeepTheirDueTimes() {
    var schedule = Schedule(LoadShape(.open(jobs: 2), at: 10, duration: .seconds(1)))
    #expect(starts(&schedule, at: .milliseconds(500)) == [.zero, .milliseconds(100)])
    #expect(schedule.next(at: .milliseconds(500), running: 2) == .wait(until: .seconds(1)))
    #expect(starts(&schedule, at: .milliseconds(800), running: 1) == [.milliseconds(200)])
    // Due at 0.3 to 0.9 s.
    #expect(schedule.missed(at: .seconds(1)) == 7)
    #expect(schedule.missed(at: .milliseconds(501)) == 3)
    #expect(schedule.next(at: .seconds(1), running: 2) == .finish(end: .seconds(1)))
  }

  @Test func callsOfALateLoopStartAfterTheEnd() {
    var schedule = Schedule(LoadShape(.open(jobs: 8), at: 10, duration: .seconds(1)))
    #expect(starts(&schedule, at: .seconds(3)).count == 8)
    #expect(schedule.next(at: .seconds(3), running: 8) == .finish(end: .seconds(1)))
    #expect(schedule.missed(at: .seconds(1)) == 2)
  }

  @Test func callsAtARateTakeTheTimeUntilTheNextOne() {
    var schedule = Schedule(LoadShape(.open(jobs: 9), at: 2, duration: nil, requests: 3))
    #expect(starts(&schedule, at: .seconds(1)).count == 3)
    #expect(schedule.next(at: .seconds(1), running: 3) == .finish(end: .milliseconds(1500)))
    #expect(schedule.startOfLimit(finishedAt: .seconds(1)) == .seconds(1))
  }

  @Test func missedCallsAreThoseOfTheMeasuredPart() {
    var schedule = Schedule(
      LoadShape(.open(jobs: 1), at: 10, warmUp: .seconds(1), duration: .seconds(1)))
    #expect(starts(&schedule, at: .milliseconds(500)) == [.zero])
    #expect(schedule.next(at: .seconds(2), running: 1) == .finish(end: .seconds(2)))
    #expect(schedule.missed(at: .seconds(2)) == 10)
    var limited = Schedule(LoadShape(.open(jobs: 1), at: 10, duration: nil, requests: 4))
    #expect(starts(&limited, at: .seconds(9)) == [.zero])
    #expect(limited.missed(at: .seconds(9)) == 3)
  }

  @Test func rampIsNotMeasured() {
    var schedule = Schedule(
      LoadShape(.open(jobs: 100), at: 10, ramp: .seconds(2), warmUp: .seconds(1), duration: .seconds(1)))
    var counts = [false: 0, true: 0]
    while case .start(let due, let isMeasured) = schedule.next(at: .milliseconds(3999), running: 0) {
      counts[isMeasured, default: 0] += 1
      #expect(isMeasured == (due >= .seconds(3)))
    }
    #expect(counts == [false: 20, true: 10])
  }

  @Test func stagesChangeTheRate() {
    let stages = [LoadShape.Stage(.seconds(2), to: 10), .init(.zero, to: 20), .init(.seconds(1), to: 20)]
    var schedule = Schedule(LoadShape(.open(jobs: 100), at: 0, warmUp: .seconds(1), stages))
    let times = starts(&schedule, at: .seconds(4))
    #expect(times.count == 30 && schedule.measured == 30)
    #expect(times.first == .seconds(1) && times[10] == .seconds(3) && times[11] == .milliseconds(3050))
    #expect(schedule.next(at: .seconds(4), running: 0) == .finish(end: .seconds(4)))
    #expect(schedule.missed(at: .seconds(4)) == 0)
    var late = Schedule(LoadShape(.open(jobs: 1), at: 0, stages))
    #expect(starts(&late, at: .seconds(1)).count == 1)
    #expect(late.missed(at: .milliseconds(1999)) == 9 && late.missed(at: .seconds(9)) == 29)
  }

  @Test func stagesEndWithoutSteps() {
    var schedule = Schedule(
      LoadShape(
        .open(jobs: 9), at: 5, [.init(.seconds(1), to: 5), .init(.zero, to: 0), .init(.seconds(2), to: 0)]))
    #expect(starts(&schedule, at: .seconds(2)).count == 5)
    #expect(schedule.next(at: .seconds(2), running: 0) == .finish(end: .seconds(3)))
    #expect(schedule.startOfLimit(finishedAt: .seconds(2)) == .seconds(3))
  }

  @Test func stagesChangeTheStepsThatRun() {
    var schedule = Schedule(
      LoadShape(
        .closed, at: 0, [.init(.seconds(4), to: 4), .init(.seconds(2), to: 0), .init(.seconds(1), to: 0)]))
    guard case .wait(let first?) = schedule.next(at: .zero, running: 0) else { return #expect(Bool(false)) }
    #expect(first > .zero && first < .microseconds(1))
    #expect(starts(&schedule, at: first).count == 1)
    guard case .wait(let second?) = schedule.next(at: first, running: 1) else { return #expect(Bool(false)) }
    #expect(second > .seconds(1) && second < .seconds(1) + .microseconds(1))
    #expect(schedule.next(at: second, running: 1) == .start(due: second, isMeasured: true))
    #expect(starts(&schedule, at: .seconds(4)).count == 4)
    // The steps that run end by themselves.
    #expect(schedule.next(at: .seconds(5), running: 3) == .wait(until: .seconds(7)))
    #expect(starts(&schedule, at: .seconds(5), running: 1).count == 1)
    #expect(schedule.next(at: .milliseconds(6500), running: 0) == .wait(until: .seconds(7)))
    #expect(schedule.next(at: .seconds(7), running: 0) == .finish(end: .seconds(7)))
  }

  @Test func stepsOfAnIntervalFollowLateOnesAtOnce() {
    var schedule = Schedule(count: 4, every: .seconds(2))
    #expect(schedule.next(at: .seconds(5), running: 0) == .start(due: .seconds(5), isMeasured: true))
    #expect(schedule.next(at: .seconds(6), running: 0) == .wait(until: .seconds(7)))
    #expect(
      schedule.next(at: .milliseconds(7001), running: 0) == .start(due: .milliseconds(7001), isMeasured: true)
    )
    // The last one took 10 s. It is not made up for.
    #expect(starts(&schedule, at: .seconds(17)) == [.seconds(17)])
    #expect(schedule.next(at: .seconds(17), running: 0) == .wait(until: .seconds(19)))
    #expect(starts(&schedule, at: .seconds(19)).count == 1)
    #expect(schedule.next(at: .seconds(30), running: 0) == .finish(end: .seconds(30)))
  }

  @Test func stepsWithoutAnIntervalRunANumberAtATime() {
    var schedule = Schedule(jobs: 2)
    #expect(starts(&schedule, at: .zero).count == 2)
    #expect(schedule.next(at: .zero, running: 2) == .wait(until: nil))
    var once = Schedule(count: 1)
    #expect(starts(&once, at: .zero).count == 1)
    #expect(once.next(at: .zero, running: 0) == .finish(end: .zero))
  }
}
