import RPCurlBase
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProtobuf
import Testing

@testable import RPCurlProgram

struct ConsoleTests {
  /// A pipe with the program at its write end, and a reader that reads only when asked.
  private final class Pipe {
    let reader: Int32
    let writer: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      (reader, writer) = (ends[0], ends[1])
      _ = fcntl(reader, F_SETFL, O_NONBLOCK)
    }

    deinit {
      close(reader)
      close(writer)
    }

    /// What was written and not read yet.
    func text() -> String {
      var text: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = read(reader, &piece, piece.count), count > 0 { text += piece[..<count] }
      return String(decoding: text, as: UTF8.self)
    }
  }

  /// A console whose streams are pipes.
  private struct Piped {
    let output: Pipe
    let error: Pipe
    let console: Console

    init() throws {
      output = try Pipe()
      error = try Pipe()
      console = Console(output: output.writer, error: error.writer)
    }
  }

  @Test func collectsOutputAndRemarks() throws {
    let piped = try Piped()
    let output = piped.console.output
    output.write(Array("before\n".utf8))
    output.hold()
    #expect(piped.output.text() == "before\n")
    for number in 1...2 {
      output.write(Array("\(number)\n".utf8))
      output.remark("remark\n")
      output.flush()
    }
    #expect(piped.output.text() == "")
    let text = output.endHold { _ in true }
    #expect(text == Array("1\nremark\n2\nremark\n".utf8))
    output.hold()
    output.write(Array("3\n".utf8))
    let unwanted = output.endHold { $0.count > 9 }
    #expect(unwanted == nil)
    output.flush()
    #expect(piped.output.text() == "3\n" && piped.error.text() == "")
    let second = output.endHold { _ in true }
    #expect(second == nil)
  }

  @Test func writesLargeOutputInPlaceOfCollectingIt() throws {
    let piped = try Piped()
    _ = fcntl(piped.output.writer, F_SETFL, O_NONBLOCK)
    piped.console.output.whenFull = {}
    piped.console.output.hold()
    piped.console.output.write([UInt8](repeating: 97, count: 1 << 19))
    let isWhole = piped.console.output.flushWhatFits()
    #expect(isWhole && piped.output.text() == "")
    piped.console.output.write([UInt8](repeating: 97, count: 1 << 19))
    let isStillWhole = piped.console.output.flushWhatFits()
    #expect(!isStillWhole && !piped.output.text().isEmpty)
  }

  @Test func consolesOfOneProcessAreIndependent() throws {
    let (loud, silent) = (try Piped(), try Piped())
    silent.console.error.configure(Diagnostics(Parser.parse(["call", "-s"])))
    let report = ErrorReport(Failure.Message(what: "a", why: "b"), nil)
    for (name, piped) in [("loud", loud), ("silent", silent)] {
      piped.console.output.write(Array(name.utf8))
      piped.console.error.remark("warning\n")
      piped.console.error.report(report)
    }
    #expect(loud.output.text() == "" && silent.output.text() == "")
    loud.console.output.flush()
    #expect(loud.output.text() == "loud" && silent.output.text() == "")
    silent.console.output.flush()
    #expect(silent.output.text() == "silent")
    #expect(loud.error.text() == "warning\nrpcurl: a: b\n")
    #expect(silent.error.text() == "")
  }

  @Test func keepsAWriteErrorAndDiscardsTheOutputAfterIt() throws {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    try #require(full >= 0)
    defer { close(full) }
    let error = try Pipe()
    let console = Console(output: full, error: error.writer)
    var failures = 0
    console.output.onFailure = { failures += 1 }
    console.output.write(Array("output".utf8))
    #expect(!console.output.hasFailed)
    console.output.remark("remark\n")
    console.output.flush()
    #expect(console.output.hasFailed && console.output.waitingBytes == 0)
    #expect(error.text() == "remark\n")
    console.output.print("more")
    console.output.remark("another remark\n")
    #expect(console.output.waitingBytes == 0 && failures == 1)
    #expect(error.text() == "")
  }

  @Test func captureKeepsBothStreams() {
    let capture = OutputCapture()
    let console = Console(capture)
    console.output.write(Array("output\n".utf8))
    console.output.remark("remark\n")
    #expect(capture.take() == "")
    console.output.flush()
    #expect(capture.take() == "output\nremark\n")
    #expect(!console.output.isTerminal && !console.error.isTerminal)
  }

  @Test func writesRemarksAfterEarlierOutput() throws {
    let piped = try Piped()
    piped.console.output.remark("first\n")
    #expect(piped.error.text() == "first\n")
    piped.console.output.write(Array("output".utf8))
    piped.console.output.remark("second\n")
    #expect(piped.error.text() == "")
    piped.console.output.flush()
    #expect(piped.output.text() == "output" && piped.error.text() == "second\n")
  }

  @Test func writesRemarksInOrderForSlowReader() throws {
    let piped = try Piped()
    let output = piped.console.output
    output.whenFull = {}
    let lines = (1...40).map { "\($0)\n" }
    for line in lines {
      output.write([UInt8](repeating: 0, count: 10_000))
      output.remark(line)
    }
    var (printed, remarks) = (0, "")
    var isAll = false
    while !isAll {
      isAll = output.flushWhatFits()
      printed += piped.output.text().utf8.count
      remarks += piped.error.text()
      #expect(remarks == lines.prefix(printed / 10_000).joined())
    }
    #expect(printed == 400_000)
  }

  @Test func holdsBothStreamsWhileTerminalIsLent() throws {
    let piped = try Piped()
    let console = piped.console
    var transcript: [UInt8] = []
    console.terminal.transcript = { transcript += $0 }
    console.terminal.lend(holding: console.output) {
      console.error.write("1 error\n")
      console.output.print("2 output\n")
      console.error.write("3 error\n")
      #expect(piped.output.text() == "" && piped.error.text() == "")
    }
    #expect(piped.output.text() == "2 output\n" && piped.error.text() == "1 error\n3 error\n")
    #expect(String(decoding: transcript, as: UTF8.self) == "1 error\n2 output\n3 error\n")
    #expect(!console.terminal.isLent)
  }

  @Test func movesEditedLineAsideOncePerWrite() throws {
    let piped = try Piped()
    var depth = 0
    var count = 0
    piped.console.terminal.aside = { body in
      depth += 1
      count += 1
      #expect(depth == 1)
      body()
      depth -= 1
    }
    // The remark is written within the flush of the output.
    piped.console.output.write(Array("output".utf8))
    piped.console.output.remark("remark\n")
    piped.console.output.flush()
    #expect(count == 1)
    piped.console.error.write("error\n")
    #expect(count == 2)
    #expect(piped.output.text() == "output" && piped.error.text() == "remark\nerror\n")
  }

  @Test func writesForOtherThreadsAtOnceAndRecordsOnItsOwn() throws {
    let piped = try Piped()
    let (error, terminal) = (piped.console.error, piped.console.terminal)
    var transcript: [UInt8] = []
    var drawings = 0
    terminal.transcript = { transcript += $0 }
    terminal.aside = { body in
      body()
      drawings += 1
    }
    terminal.note(showsLine: true)
    let wakes = Locked(0)
    error.reserve { wakes.withLock { $0 += 1 } }
    onOtherThread {
      error.write("1\n")
      error.remark("2\n")
    }
    #expect(piped.error.text() == "1\n2\n" && wakes.withLock { $0 } == 1)
    #expect(transcript.isEmpty && drawings == 0)
    error.lookAfterOthers()
    #expect(String(decoding: transcript, as: UTF8.self) == "1\n2\n" && drawings == 2)
    error.write("3\n")
    onOtherThread { error.write("4\n") }
    error.release()
    #expect(String(decoding: transcript, as: UTF8.self) == "1\n2\n3\n4\n" && wakes.withLock { $0 } == 2)
    #expect(piped.error.text() == "3\n4\n")
  }

  @Test func holdsWhatOtherThreadsWriteWhileTerminalIsLent() throws {
    let piped = try Piped()
    let (error, terminal) = (piped.console.error, piped.console.terminal)
    error.reserve {}
    terminal.lend(holding: piped.console.output) {
      onOtherThread { error.write("1\n") }
      #expect(piped.error.text() == "")
    }
    error.lookAfterOthers()
    #expect(piped.error.text() == "1\n")
    error.release()
  }

  @Test func startsNewLineBelowLineOfTerminal() {
    let terminal = TerminalMultiplexer()
    #expect(terminal.startOfLineBesides() == "" && !terminal.takeDisplacement())
    terminal.note(showsLine: true)
    #expect(terminal.startOfLineBesides() == "\n")
    #expect(terminal.takeDisplacement() && !terminal.takeDisplacement())
  }

  @Test func keepsOutputForSlowReader() throws {
    let piped = try Piped()
    let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
    var fulls = 0
    piped.console.output.whenFull = { fulls += 1 }
    piped.console.output.write(bytes)
    #expect(fulls == 1)
    #expect(!piped.console.output.flushWhatFits())
    var read = 0
    while piped.console.output.waitingBytes > 0 {
      read += piped.output.text().utf8.count
      _ = piped.console.output.flushWhatFits()
    }
    #expect(read + piped.output.text().utf8.count == bytes.count)
  }

  @Test func discardsRestWhenReaderStopsAfterTheEnd() throws {
    let (stopped, other) = (try Piped(), try Piped())
    stopped.console.deadline.begin()
    stopped.console.output.write([UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20))
    let lost = (1 << 20) - stopped.output.text().utf8.count
    #expect(
      stopped.error.text()
        == "rpcurl: standard output: \(lost) bytes were discarded: the reader stopped reading\n")
    // The end of one command is not that of another.
    let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 17)
    other.console.output.whenFull = {}
    other.console.output.write(bytes)
    #expect(!other.console.output.flushWhatFits())
    #expect(other.console.output.waitingBytes > 0)
  }

  @Test func redirectsOutput() throws {
    let (piped, file) = (try Piped(), try Pipe())
    piped.console.output.redirect(to: file.writer, name: "file") {}
    piped.console.output.print("text")
    #expect(piped.output.text() == "" && file.text() == "text")
  }
}
