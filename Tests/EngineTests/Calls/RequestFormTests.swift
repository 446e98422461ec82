import RPCurlProgram
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

struct RequestFormTests {
  /// The failure of `data`, which is named "file".
  private func failure(of data: [UInt8], _ format: MessageFormat) throws -> Failure? {
    let form = RequestForm(format: format)
    var splitter = MessageSplitter(form.framing)
    splitter.append(data)
    splitter.finish()
    return #expect(throws: Failure.self) {
      while try splitter.next(of: RequestOrigin("file", form, isTyped: true)) != nil {}
    }
  }

  @Test func namesSourceInFailure() throws {
    let failure = try failure(of: [0, 0xff, 0xff, 0xff, 0xff, 0xff], .binary)
    #expect(failure?.status == .input)
    #expect(
      failure?.message
        == Failure.Message(
          what: "file", why: "expected the length of a message (byte 1)",
          hint: "in a stream of binary messages, a varint length precedes each message"))
    #expect(failure?.message?.place == nil)
  }

  @Test func showsLineOfInvalidJSON() throws {
    let failure = try failure(of: Array("{}\n  ]".utf8), .json)
    #expect(failure?.message?.place?.position.line == 2)
    #expect(failure?.message?.place?.excerpt != nil)
  }

  @Test func dependsOnFormat() {
    #expect(RequestForm(format: .json).framing == .values)
    #expect(RequestForm(format: .text).framing == .lines)
    #expect(RequestForm(format: .binary).framing == .delimited)
  }
}
