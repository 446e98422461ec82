import RPCurlProgram
import RPCurlReports
import Testing

@testable import RPCurlEngine

struct LoadOptionsTests {
  private func options(_ words: String...) throws(Failure) -> LoadOptions {
    try LoadOptions(Parser.parse(["load"] + words + ["http://localhost", "demo.v1.Demo/Hello"]))
  }

  @Test func loopIsClosedWithoutARate() throws {
    #expect(try options().shape == LoadShape(.closed, at: 10, duration: .seconds(10)))
    #expect(try options("--requests", "5").shape == LoadShape(.closed, at: 10, duration: nil, requests: 5))
    let words = try options("--jobs", "3", "--warm-up", "2s", "--duration", "1m", "--requests", "7")
    let shape = LoadShape(.closed, at: 3, warmUp: .seconds(2), duration: .seconds(60), requests: 7)
    #expect(words.shape == shape)
  }

  @Test func loopIsOpenWithARate() throws {
    let shape = try options("--rate", "0.5", "--ramp", "5s").shape
    #expect(shape == LoadShape(.open(jobs: 1000), at: 0.5, ramp: .seconds(5), duration: .seconds(10)))
    #expect(shape.leadTime == .seconds(5))
    #expect(shape.endTime == .seconds(15))
  }

  @Test func stagesChangeTheRateOrTheCallsAtATime() throws {
    let stages = [LoadShape.Stage(.seconds(30), to: 100), LoadShape.Stage(.seconds(60), to: 500)]
    let closed = try options("--stages", "30s:100, 1m:500").shape
    #expect(closed == LoadShape(.closed, at: 0, stages))
    #expect((closed.jobs, closed.duration, closed.leadTime) == (500, .seconds(90), .zero))
    #expect(closed.text() == "closed loop, 0 at a time, stages 30s:100,60s:500")
    let open = try options("--rate", "10", "--ramp", "2s", "--stages", "30s:100,1m:500").shape
    #expect(open == LoadShape(.open(jobs: 1000), at: 10, ramp: .seconds(2), stages))
    #expect(open.leadTime == .seconds(2) && open.endTime == .seconds(92) && open.level == nil)
    #expect(
      open.text()
        == "open loop, 10 calls/s after a ramp of 2 s, stages 30s:100,60s:500, at most 1000 at a time"
    )
    #expect(try options("--jobs", "7", "--stages", "0s:5,1s:5").shape.start == 7)
  }

  @Test func rampLeadsToTheCallsAtATimeWithoutARate() throws {
    let shape = try options("--jobs", "20", "--ramp", "4s").shape
    #expect(shape == LoadShape(.closed, at: 20, ramp: .seconds(4), duration: .seconds(10)))
    #expect(shape.text() == "closed loop, 20 at a time after a ramp of 4 s" && shape.level == 20)
  }

  @Test func thresholdsOfAllOptionsHold() throws {
    let options = try options("--threshold", "p99<50ms,errors<1%", "--threshold", "rate>190")
    #expect(options.thresholds.map(\.text) == ["p99<50ms", "errors<1%", "rate>190"])
    #expect(options.format == .text && options.connections == nil && !options.isExported)
  }

  @Test func laterTagReplacesOneOfItsName() throws {
    #expect(try options("--tag", "a=1", "--tag", "b=2", "--tag", "a=3").tags.map(\.text) == ["b=2", "a=3"])
  }

  @Test func tagWithTheNameOfASecretIsPossibleIfSecretsAreShown() throws {
    #expect(try options("--show-secrets", "--tag", "token=x").tags.map(\.text) == ["token=x"])
  }

  @Test func reportsAreFiles() throws {
    let options = try options("--html", "a", "--hdr", "b", "--raw", "c", "--format", "csv", "--export", "k6")
    #expect([options.htmlPath, options.logPath, options.rawPath] == ["a", "b", "c"])
    #expect(options.format == .csv && options.isExported)
  }

  @Test func hintsNameWhatChangesTheStages() {
    func hint(_ stages: String) -> String? {
      let failure = #expect(throws: Failure.self) { try options("--stages", stages) }
      return failure?.message?.hint
    }
    #expect(hint("30s:1.5") == "--rate 0 makes targets calls per second, and the first stage begin at 0")
    #expect(hint("0s:5") == "0s:200,1m:200 changes the load to 200 at once, and keeps it for a minute")
  }

  @Test(arguments: [
    (["--rate", "many"], "--rate many", "not a number of calls per second from 0.001 to 1000000"),
    (["--rate", "nan"], "--rate nan", "not a number of calls per second from 0.001 to 1000000"),
    (["--rate", "0"], "--rate 0", "not a number of calls per second from 0.001 to 1000000"),
    (["--jobs", "0"], "--jobs 0", "not a number from 1 to 10000"),
    (["--connections", "0"], "--connections 0", "not a number from 1 to 500"),
    (["--raw", "same", "--hdr", "same"], "same", "two reports are written to this file"),
    (["--html", "same", "--raw", "./same"], "./same", "two reports are written to this file"),
    (["--jobs", "10001"], "--jobs 10001", "not a number from 1 to 10000"),
    (["--connections", "501"], "--connections 501", "not a number from 1 to 500"),
    (["--requests", "0"], "--requests 0", "not a number from 1 to 1000000000000"),
    (["--warm-up", "2499999h"], "load", "longer than 100000h"),
    (["--rate", "1", "--ramp", "50000h", "--warm-up", "50000h"], "load", "longer than 100000h"),
    (["--stages", "9e9s:1"], "--stages 9e9s:1", "9e9s:1 is not DURATION:TARGET"),
    (["--stages", "30s"], "--stages 30s", "30s is not DURATION:TARGET"),
    (["--stages", "30s:5,"], "--stages 30s:5,", "a stage is missing"),
    (["--stages", "30s:-5"], "--stages 30s:-5", "30s:-5 is not DURATION:TARGET"),
    (["--stages", "30s:1.5"], "--stages 30s:1.5", "not a number of calls at a time from 0 to 10000"),
    (["--stages", "1m:10001"], "--stages 60s:10001", "not a number of calls at a time from 0 to 10000"),
    (
      ["--rate", "5", "--stages", "1m:1000001"], "--stages 60s:1000001",
      "not a number of calls per second: 0, or from 0.001 to 1000000"
    ),
    (["--stages", "0s:5"], "--stages 0s:5", "all stages last 0s, so no call would be made"),
    (
      ["--stages", String(repeating: "1s:1,", count: 100) + "1s:1"], "--stages",
      "101 stages, more than 100"
    ),
    (["--stages", "1s:0"], "--stages", "no calls: each target is 0"),
    (
      ["--stages", "1s:5", "--duration", "1s"], "--duration",
      "not possible with --stages, which have durations"
    ),
    (["--stages", "1s:5", "--ramp", "1s"], "--ramp", "leads from 0 to --jobs, which is 0"),
    (["--rate", "5", "--stages", "1s:5", "--jobs", "0"], "--jobs 0", "not a number from 1 to 10000"),
    (["--tag", "branch"], "--tag branch", "not NAME=VALUE"),
    (
      ["--tag", "api_key=x"], "--tag api_key",
      "the name of a secret, and all reports show the values of tags"
    ),
    (
      ["--redact", "build", "--tag", "build=x"], "--tag build",
      "the name of a secret, and all reports show the values of tags"
    ),
    (["--threshold", "p99<1s,x"], "--threshold x", "missing comparison: ==, !=, <, <=, > or >="),
  ])
  func rejectsInvalidValues(words: [String], what: String, why: String) {
    let invocation = Parser.parse(["load"] + words + ["http://localhost", "demo.v1.Demo/Hello"])
    let failure = #expect(throws: Failure.self) { try LoadOptions(invocation) }
    #expect(failure?.message?.what == what)
    #expect(failure?.message?.why == why)
    #expect(failure?.status == .usage)
  }

  @Test(arguments: ["--html", "--hdr", "--raw"])
  func rejectsReportsThatCannotBeWritten(option: String) {
    let invocation = Parser.parse(["load", option, "/none/x", "http://localhost", "demo.v1.Demo/Hello"])
    let failure = #expect(throws: Failure.self) { try LoadOptions(invocation) }
    #expect(failure?.message?.what == "/none/x" && failure?.message?.why == "No such file or directory")
    #expect(failure?.status == .internalError)
  }
}
