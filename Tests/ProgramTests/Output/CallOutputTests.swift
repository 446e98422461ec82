import RPCurlPlatform
import Testing

@testable import RPCurlProgram

struct CallOutputTests {
  private struct Unwritable: Error {}

  /// Runs `body` with an output that is discarded. Returns what was written to both streams, in order.
  private func transcript(_ body: (StandardOutput) throws -> Void) throws -> String {
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let console = Console(output: null, error: null)
    var written: [UInt8] = []
    console.terminal.transcript = { written += $0 }
    try body(console.output)
    console.output.flush()
    return String(decoding: written, as: UTF8.self)
  }

  private func write(_ text: String, to output: CallOutput) { output.write { $0.append(text) } }

  @Test func keepsOrderOfOutputAndNotices() throws {
    let text = try transcript { standard in
      let output = CallOutput(standard, isDirect: true)
      write("1", to: output)
      output.remark("2")
      write("3", to: output)
    }
    #expect(text == "123")
  }

  @Test func buffersUntilItsTurn() throws {
    let text = try transcript { standard in
      let first = CallOutput(standard, isDirect: true)
      let second = CallOutput(standard, isDirect: false)
      write("b1", to: second)
      second.remark("b2")
      #expect(second.waitingBytes == 4)
      write("a1", to: first)
      second.beginTurn()
      #expect(second.waitingBytes == 0)
      write("b3", to: second)
      second.beginTurn()
      write("a2", to: first)
    }
    #expect(text == "a1b1b2b3a2")
  }

  @Test(arguments: [true, false])
  func writesNothingOfFailedMessage(isDirect: Bool) throws {
    let text = try transcript { standard in
      let output = CallOutput(standard, isDirect: isDirect)
      #expect(throws: Unwritable.self) {
        try output.write { (bytes) throws(Unwritable) in
          bytes.append(0x78)
          throw Unwritable()
        }
      }
      #expect(output.waitingBytes == 0)
      write("next", to: output)
      output.beginTurn()
    }
    #expect(text == "next")
  }

  @Test func marksEachPieceThatIsNotEmpty() throws {
    let text = try transcript { standard in
      let output = CallOutput(standard, isDirect: true)
      output.mark = { "Chat[1] " }
      write("a\n", to: output)
      write("", to: output)
      output.mark = { "" }
      write("b\n", to: output)
    }
    #expect(text == "Chat[1] a\nb\n")
  }

  @Test func marksEachLineAndTrace() throws {
    let text = try transcript { standard in
      let output = CallOutput(standard, isDirect: true)
      output.mark = { "C[1] " }
      write("{\n  \"a\": 1\n}\n", to: output)
      write("", to: output)
      write("x\n\ny\n", to: output)
      output.trace("> POST\n")
      output.remark("C[1]: error\n")
    }
    #expect(
      text == "C[1] {\nC[1]   \"a\": 1\nC[1] }\nC[1] x\nC[1] \nC[1] y\nC[1] > POST\nC[1]: error\n")
  }

  @Test func writesNamesOfColumnsOnceForEachTable() throws {
    let text = try transcript { standard in
      let first = CallOutput(standard, isDirect: true)
      let second = CallOutput(standard, isDirect: false)
      second.begin(table: "a\n")
      write("2\n", to: second)
      first.begin(table: "a\n")
      write("1\n", to: first)
      second.beginTurn()
      for head in ["b\n", "b\n", nil, "b\n"] { first.begin(table: head) }
    }
    #expect(text == "a\n1\n2\nb\nb\n")
  }
}
