import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct TallyTests {
  private let refused = Outcome.failed(.failedCall, .connection)

  private func text(_ report: ErrorReport?) -> String? {
    report?.rendered(Diagnostics(Parser.parse(["call"])))
  }

  @Test func failuresAreCountedAndTheFirstInOrderGivesTheStatus() {
    var tally = Tally(.call, failsEarly: false)
    #expect(tally.add(.succeeded, number: 0) == .goesOn)
    #expect(tally.add(.failed(.failedCheck, .assertion), number: 3) == .counts)
    #expect(tally.add(refused, number: 1) == .counts)
    #expect(tally.add(.givenUp, number: 2) == .goesOn)
    #expect([tally.completed, tally.failed, tally.succeeded] == [3, 2, 1])
    #expect(tally.status == .connection)
    let summary = tally.summary(of: 4, end: "; the end")
    #expect(text(summary) == "rpcurl: 2 of 4 calls failed, the first is call 1; the end\n")
    #expect(tally.interruption.message?.why.hasSuffix("3 calls were completed, 2 of them failed") == true)
  }

  @Test func firstFailureEndsARunThatFailsEarly() {
    var tally = Tally(.time, failsEarly: true)
    #expect(tally.add(refused, number: 1) == .endsRun)
    #expect(text(tally.summary(of: 2)) == "rpcurl: 1 of 2 times failed, the first is number 1\n")
  }

  @Test func invalidStepEndsTheRunAndIsNotCompleted() {
    var tally = Tally(.call, failsEarly: false)
    #expect(tally.add(.failed(.invalidStep, .input), number: 0) == .endsRun)
    #expect((tally.completed, tally.failed) == (0, 1))
  }

  @Test func onlyStepHasNoSummary() {
    var tally = Tally(.call, failsEarly: false)
    #expect(tally.summary(of: 9) == nil && tally.status == nil)
    _ = tally.add(refused, number: 0)
    #expect(tally.summary(of: 1) == nil)
    #expect(tally.interruption.message?.why.hasSuffix("1 call was completed, 1 of them failed") == true)
  }
}
