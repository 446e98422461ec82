import RPCurlChain
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

struct SessionStreamsTests {
  private var streams = SessionStreams()
  private let output = StandardOutput(
    OutputStream(OutputCapture()), error: StandardError(OutputStream(OutputCapture())))

  /// Adds a stream that has ended after two responses of 8 MiB.
  private mutating func add() throws -> SessionStream {
    let plan = try CallPlan.ofOrders("Watch")
    let printer = CallPrinter(plan, output: CallOutput(output, isDirect: true))
    let stream = SessionStream(plan, number: streams.nextNumber, place: nil, printer) { _, _ in }
    // Bytes of an unknown field.
    let bytes: [UInt8] = [0xfa, 0x3f, 0x80, 0x80, 0x80, 0x04] + [UInt8](repeating: 0, count: 8 << 20)
    for _ in 1...2 { printer.onResponse?(.bytes(bytes)) }
    streams.add(stream)
    streams.limit()
    return stream
  }

  @Test mutating func responsesThatNothingWaitsForAreLimited() throws {
    let first = try add()
    for _ in 1...3 { _ = try add() }
    let last = try add()
    // Five streams have 80 MiB; 64 MiB are kept, and the last response of each stream.
    #expect(first.response(0) == nil && first.response(1) != nil)
    #expect(last.response(0) != nil && last.response(1) != nil)
    #expect(try first.result().count == 2)
  }

  @Test mutating func responseThatIsNotKeptIsNoMissingResponse() throws {
    let first = try add()
    for _ in 1...4 { _ = try add() }
    first.step(over: 1)
    for text in [".id == a", "last .id == a", "every .id == a"] {
      let outcome = try Condition(parsing: text, statuses: .codes).evaluate(
        first.result(), files: NoGoldenFiles())
      guard case .invalid(let reason, _) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
      #expect(reason == "the response has 1 messages, of which the first 0 are kept")
    }
  }
}
