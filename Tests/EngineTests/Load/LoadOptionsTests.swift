import RPCurlProgram
import RPCurlReports
import Testing

@testable import RPCurlEngine

struct LoadOptionsTests {
  private func options(_ words: String...) throws(Failure) -> LoadOptions {
    try LoadOptions(Parser.parse(["load"] + words + ["http://localhost", "demo.v1.Demo/Hello"]))
  }

  @Test func loopIsClosedWithoutARate() throws {
    #expect(try options().shape == LoadShape(.closed, jobs: 10, duration: .seconds(10)))
    #expect(try options("--requests", "5").shape == LoadShape(.closed, jobs: 10, duration: nil, requests: 5))
    let words = try options("--jobs", "3", "--warm-up", "2s", "--duration", "1m", "--requests", "7")
    let shape = LoadShape(.closed, jobs: 3, warmUp: .seconds(2), duration: .seconds(60), requests: 7)
    #expect(words.shape == shape)
  }

  @Test func loopIsOpenWithARate() throws {
    let shape = try options("--rate", "0.5", "--ramp", "5s").shape
    #expect(shape == LoadShape(.open(rate: 0.5, ramp: .seconds(5)), jobs: 1000, duration: .seconds(10)))
    #expect(shape.leadTime == .seconds(5))
    #expect(shape.endTime == .seconds(15))
  }

  @Test func thresholdsOfAllOptionsHold() throws {
    let options = try options("--threshold", "p99<50ms,errors<1%", "--threshold", "rate>190")
    #expect(options.thresholds.map(\.text) == ["p99<50ms", "errors<1%", "rate>190"])
    #expect(options.format == .text && options.connections == nil && !options.isExported)
  }

  @Test func reportsAreFiles() throws {
    let options = try options("--html", "a", "--hdr", "b", "--raw", "c", "--format", "csv", "--export", "k6")
    #expect([options.htmlPath, options.logPath, options.rawPath] == ["a", "b", "c"])
    #expect(options.format == .csv && options.isExported)
  }

  @Test(arguments: [
    (["--ramp", "1s"], "--ramp", "requires --rate"),
    (["--rate", "many"], "--rate many", "not a number of calls per second from 0.001 to 1000000"),
    (["--rate", "nan"], "--rate nan", "not a number of calls per second from 0.001 to 1000000"),
    (["--rate", "0"], "--rate 0", "not a number of calls per second from 0.001 to 1000000"),
    (["--jobs", "0"], "--jobs 0", "not a number from 1 to 10000"),
    (["--connections", "0"], "--connections 0", "not a number from 1 to 500"),
    (["--raw", "same", "--hdr", "same"], "same", "two reports are written to this file"),
    (["--jobs", "10001"], "--jobs 10001", "not a number from 1 to 10000"),
    (["--connections", "501"], "--connections 501", "not a number from 1 to 500"),
    (["--requests", "0"], "--requests 0", "not a number from 1 to 1000000000000"),
    (["--warm-up", "2499999h"], "--ramp, --warm-up and --duration", "more than 100000h together"),
    (
      ["--rate", "1", "--ramp", "50000h", "--warm-up", "50000h"], "--ramp, --warm-up and --duration",
      "more than 100000h together"
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
}
