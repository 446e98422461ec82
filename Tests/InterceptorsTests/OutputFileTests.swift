import RPCurlChain
import RPCurlChainSupport
import Testing

@testable import RPCurlInterceptors

/// The files that interceptors write, from the making of the chain to the first call.
@Suite struct OutputFileTests {
  private let services = TestServices()

  @Test(arguments: [
    "log", "log,format=ndjson", "log,format=har", "record", "shadow,to=b:2", "trace",
  ])
  func fileIsReplacedByFirstCall(_ use: String) throws {
    services.files["out"] = "old"
    let registration = try services.registration("\(use),file=out")
    #expect(services.files["out"] == "old")
    let call = TestCall(.serverStreaming, Journal(), [registration], network: TestNetwork())
    call.start()
    #expect(services.files["out"]?.contains("old") == false)
    let begin = services.files["out"] ?? ""
    let again = TestCall(.serverStreaming, Journal(), [registration], network: TestNetwork())
    again.start()
    #expect(services.files["out"]?.hasPrefix(begin) == true)
  }

  @Test(arguments: ["log", "record", "shadow,to=b:2"])
  func fileToAppendToIsKept(_ use: String) throws {
    let old = "\(Cassette.firstLine)\n"
    services.files["out"] = old
    let registration = try services.registration("\(use),file=out,append=true")
    let call = TestCall(.serverStreaming, Journal(), [registration], network: TestNetwork())
    call.start()
    #expect(services.files["out"]?.hasPrefix(old) == true)
  }

  @Test func interceptorsThatWriteToOneFileReplaceItOnce() throws {
    services.files["out"] = "old"
    let registrations = try (1...2).map { _ in try services.registration("record,file=out") }
    let call = TestCall(.unary, Journal(), registrations)
    call.run()
    let lines = (services.files["out"] ?? "").split(separator: "\n")
    #expect(lines.filter { $0 == Cassette.firstLine }.count == 1 && lines.first == Cassette.firstLine[...])
    #expect(lines.filter { $0.contains("\"start\"") }.count == 2)
  }

  @Test func replayReadsTheFileThatRecordReplaces() throws {
    let call = TestCall(
      .unary, Journal(), [try services.registration("record,file=c.rec")], typed: true)
    call.run()
    let record = try services.registration("record,file=c.rec")
    let replay = try services.registration("replay,file=c.rec")
    let again = TestCall(.unary, Journal(), [record, replay], typed: true)
    again.start()
    again.send("ping")
    again.close()
    #expect(again.callerLines.contains("typed pong"))
    #expect(again.wireLines.isEmpty)
  }
}
