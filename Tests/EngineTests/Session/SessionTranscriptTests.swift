import RPCurlPlatform
import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct SessionTranscriptTests {
  /// The report of the failure is a part of the transcript, too.
  @Test(arguments: ["a\n", String(repeating: "a", count: 100_000)])
  func reportsOnceThatTheFileCannotBeWritten(_ text: String) throws {
    let console = Console(OutputCapture())
    var reports: [String] = []
    let transcript = try SessionTranscript("/dev/full", of: console, SessionSecrets(), waitLimit: nil) {
      why in
      reports.append(why)
      console.error.write("\(why)\n")
    }
    for _ in 0..<2 { console.error.write(text) }
    withExtendedLifetime(transcript) {}
    #expect(reports == ["No space left on device"])
  }
}
