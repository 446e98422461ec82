import Output
import Testing

@testable import Calls

struct MessageSplitterTests {
  /// The messages of `data`, fed in pieces of `size` bytes, as `OFFSET:TEXT`.
  private func split(_ splitter: some MessageSplitter, _ data: [UInt8], by size: Int) throws -> [String] {
    var splitter = splitter
    var messages: [String] = []
    for start in stride(from: 0, to: data.count, by: size) {
      splitter.append(Array(data[start..<min(start + size, data.count)]))
      while let piece = try splitter.next() { messages.append(Self.text(piece)) }
    }
    splitter.finish()
    while let piece = try splitter.next() { messages.append(Self.text(piece)) }
    return messages
  }

  private static func text(_ piece: MessagePiece) -> String {
    "\(piece.start.byteOffset):\(String(decoding: piece.bytes, as: UTF8.self))"
  }

  private static let sizes = [1, 2, 3, 7, 1000]

  @Test(arguments: [
    ("", []), ("  \n", []), ("{}", ["0:{}"]), ("{}{}", ["0:{}", "2:{}"]),
    (" {\"a\":\"}\"} \n[1]", ["1:{\"a\":\"}\"}", "12:[1]"]),
    ("1 2", ["0:1", "2:2"]), ("\"a b\"true", ["0:\"a b\"", "5:true"]),
  ])
  func splitsJSON(data: String, messages: [String]) throws {
    for size in Self.sizes {
      #expect(try split(JSONSplitter(), Array(data.utf8), by: size) == messages)
    }
  }

  @Test func reportsPositionOfInvalidJSON() {
    for size in Self.sizes {
      let error = #expect(throws: SplitError.self) {
        try split(JSONSplitter(), Array("{}\n  ]".utf8), by: size)
      }
      #expect(error?.position?.line == 2)
      #expect(error?.position?.column == 3)
      #expect(error?.position?.byteOffset == 5)
    }
  }

  @Test(arguments: [
    ("", []), ("a: 1", ["0:a: 1"]), ("a\nb\n", ["0:a", "2:b"]), ("\n\n", ["0:", "1:"]),
    ("a\n\nb", ["0:a", "2:", "3:b"]),
  ])
  func splitsLines(data: String, messages: [String]) throws {
    for size in Self.sizes {
      #expect(try split(LineSplitter(), Array(data.utf8), by: size) == messages)
    }
  }

  @Test(
    arguments: [
      ([], []), ([0], ["1:"]), ([2, 0x61, 0x62, 0, 1, 0x63], ["1:ab", "4:", "5:c"]),
      ([0x81, 0, 0x61], ["2:a"]),
    ] as [([UInt8], [String])])
  func splitsDelimitedMessages(data: [UInt8], messages: [String]) throws {
    for size in Self.sizes {
      #expect(try split(DelimitedSplitter(), data, by: size) == messages)
    }
  }

  @Test(
    arguments: [
      ([2, 0x61], "the data ends within the message (byte 0)"),
      ([0, 0x80], "the data ends within the message (byte 1)"),
      ([0, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "invalid message length at byte 1"),
      ([0xff, 0xff, 0xff, 0xff, 0x0f], "the message is longer than 67108864 bytes (byte 0)"),
      ([0x81, 0x80, 0x80, 0x20, 0], "the message is longer than 67108864 bytes (byte 0)"),
    ] as [([UInt8], String)])
  func rejectsInvalidLengths(data: [UInt8], why: String) {
    for size in Self.sizes {
      let error = #expect(throws: SplitError.self) { try split(DelimitedSplitter(), data, by: size) }
      #expect(error?.why == why)
    }
  }

  @Test(arguments: ["", "{}{}\n"])
  func treatsDataAsOneMessage(data: String) throws {
    for size in Self.sizes {
      #expect(try split(WholeSplitter(), Array(data.utf8), by: size) == ["0:\(data)"])
    }
  }

  @Test func namesSourceInFailure() {
    let failure = SplitError(why: "why", hint: "do this").failure(in: "file")
    #expect(failure.status == .input)
    #expect(failure.message == Failure.Message(what: "file", why: "why", hint: "do this"))
  }

  @Test func dependsOnFormat() {
    #expect(RequestForm(format: .json).splitter() is JSONSplitter)
    #expect(RequestForm(format: .text).splitter() is LineSplitter)
    #expect(RequestForm(format: .binary).splitter() is DelimitedSplitter)
  }
}
