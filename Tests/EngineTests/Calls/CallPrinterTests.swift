import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

/// Messages that arrive together are printed as if each had arrived alone.
struct CallPrinterTests {
  private let capture = OutputCapture()
  private let output: StandardOutput

  init() {
    output = StandardOutput(OutputStream(capture), error: StandardError(OutputStream(OutputCapture())))
  }

  private func printer(_ options: [String], isDirect: Bool = true) throws -> CallPrinter {
    CallPrinter(try .ofOrders("Watch", options), output: CallOutput(output, isDirect: isDirect))
  }

  /// Gives messages as a piece of a response, again and again until all are taken.
  ///
  /// - Returns: How many were taken at a time.
  private func give(_ messages: [[UInt8]], to printer: CallPrinter) throws -> [Int] {
    var places: [Range<Int>] = []
    // The bytes between them are not read.
    let piece = messages.reduce(into: [0xff] as [UInt8]) { piece, message in
      places.append(piece.count..<(piece.count + message.count))
      piece += message + [0xff]
    }
    var taken: [Int] = []
    var rest = places.span
    while !rest.isEmpty {
      let count = try printer.receive(messages: rest, of: piece.span.bytes)
      taken.append(count)
      rest = rest.extracting(droppingFirst: count)
    }
    return taken
  }

  private var printed: String {
    output.flush()
    return capture.take()
  }

  /// An order with an identifier of one letter.
  private static func order(_ id: String) -> [UInt8] { [0x0a, 1] + Array(id.utf8) }

  @Test(arguments: [
    (["--format", "json"], [3], "{\"id\":\"a\"}\n{}\n{\"id\":\"c\"}\n"), (["--format", "none"], [3], ""),
    (["--format", "json", "--filter", "id"], [1, 1, 1], "a\n\nc\n"),
    (["--format", "text"], [1, 1, 1], "id: \"a\"\n\nid: \"c\"\n"),
    (["--format", "binary"], [1, 1, 1], "\u{3}\n\u{1}a\u{0}\u{3}\n\u{1}c"),
  ])
  func printsMessagesThatArriveTogether(options: [String], taken: [Int], text: String) throws {
    let printer = try printer(options)
    #expect(try give([Self.order("a"), [], Self.order("c")], to: printer) == taken)
    #expect(printed == text)
    #expect(printer.received == 3)
  }

  @Test func namesTheColumnsOnceInTheCallsOfAPlan() throws {
    let plan = try CallPlan.ofOrders("Watch", ["--format", "csv", "--filter", "id"])
    for id in ["a", "b"] {
      let printer = CallPrinter(plan, output: CallOutput(output, isDirect: true))
      _ = try give([Self.order(id), Self.order(id)], to: printer)
    }
    #expect(printed == "id\na\na\nb\nb\n")
  }

  @Test func endsTheCallAtTheLastMessageOfALimit() throws {
    let printer = try printer(["--format", "json", "--limit", "2"])
    #expect(throws: RPCError(.canceled, "--limit 2", origin: .client)) {
      try give([Self.order("a"), [], Self.order("c")], to: printer)
    }
    #expect(printed == "{\"id\":\"a\"}\n{}\n")
    #expect(printer.received == 2)
  }

  @Test func printsMessagesOfTheCodecJSON() throws {
    let printer = try printer(["--format", "json", "--protocol", "connect", "--codec", "json"])
    let messages = [#"{ "id" : "a" }"#, "{}"].map { Array($0.utf8) }
    #expect(try give(messages, to: printer) == [1, 1])
    #expect(printed == "{\"id\":\"a\"}\n{}\n")
  }

  @Test func keepsMessagesUntilItsTurn() throws {
    let printer = try printer(["--format", "json"], isDirect: false)
    #expect(try give([Self.order("a"), Self.order("b")], to: printer) == [2])
    #expect(printed == "")
    printer.output.beginTurn()
    #expect(printed == "{\"id\":\"a\"}\n{\"id\":\"b\"}\n")
  }

  @Test func printsMessagesBeforeOneThatIsInvalid() throws {
    let printer = try printer(["--format", "json"])
    let error = #expect(throws: RPCError.self) {
      try give([Self.order("a"), Self.order("b"), [0x0a, 9], Self.order("d")], to: printer)
    }
    #expect(error?.message.hasPrefix("invalid response: not a shop.Order") == true)
    #expect(printed == "{\"id\":\"a\"}\n{\"id\":\"b\"}\n")
    #expect(printer.received == 2)
  }

  @Test func stopsWhenThereIsMuchOutput() throws {
    let printer = try printer(["--format", "json"])
    let message = [0x0a, 0x80, 0x80, 2] + [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 15)
    #expect(try give([message, message, message, message], to: printer) == [2, 2])
  }
}
