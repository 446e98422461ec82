import RPCurlProgram
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

struct MessageWriterTests {
  private let order = #"{"id":"a","itemCount":2,"parts":[{"id":"b"},{"id":"c"}]}"#

  /// What a call of a method with these options prints for each of `messages`.
  private func print(_ messages: [String], _ method: String = "Place", _ options: [String] = []) throws
    -> String
  {
    let plan = try CallPlan.ofOrders(method, options)
    let writer = MessageWriter(plan, plan.settings.output, isTerminal: false)
    var wire = OutputBuffer()
    var typed = OutputBuffer()
    for text in messages {
      let message = try Message(plan.method.output, json: Array(text.utf8))
      let bytes = plan.settings.wire.codec == .json ? Array(text.utf8) : message.serialized()
      try writer.append(bytes.span.bytes, to: &wire)
      try writer.append(message, to: &typed)
    }
    let text = wire.copyBytes()
    #expect(text == typed.copyBytes())
    return String(decoding: text, as: UTF8.self)
  }

  @Test(arguments: [
    (["--format", "json"], #"{"id":"a","itemCount":2,"parts":[{"id":"b"},{"id":"c"}]}"#),
    (["--format", "json", "--proto-names"], #"{"id":"a","item_count":2,"parts":[{"id":"b"},{"id":"c"}]}"#),
    (
      ["--format", "pretty"],
      """
      {
        "id": "a",
        "itemCount": 2,
        "parts": [
          {
            "id": "b"
          },
          {
            "id": "c"
          }
        ]
      }
      """
    ),
    (["--format", "text"], "id: \"a\"\nitem_count: 2\nparts {\n  id: \"b\"\n}\nparts {\n  id: \"c\"\n}\n"),
    (["--format", "binary"], "\n\u{1}a\u{10}\u{2}\"\u{3}\n\u{1}b\"\u{3}\n\u{1}c"),
    (["--filter", "id"], "a\n"), (["--filter", "itemCount"], "2\n"),
    (["--filter", "parts"], "{\"id\":\"b\"}\n{\"id\":\"c\"}\n"), (["--filter", "parts[1].id"], "c\n"),
  ])
  func writesFormat(options: [String], text: String) throws {
    #expect(try print([order], "Place", options) == text)
    #expect(try print([order], "Place", options + ["--protocol", "connect", "--codec", "json"]) == text)
  }

  @Test(arguments: [
    (["--filter", "id", "--filter", ".itemCount"], "a\t2\n"), (["--filter", "id", "--format", "csv"], "a\n"),
    (["--filter", "id", "--filter", "parts"], "a\t[{\"id\":\"b\"},{\"id\":\"c\"}]\n"),
    (["--filter", "parts[].id", "--filter", "id", "--format", "csv"], "\"[\"\"b\"\",\"\"c\"\"]\",a\n"),
    (["--filter", "parts[0]", "--filter", "id", "--format", "tsv"], "{\"id\":\"b\"}\ta\n"),
    (["--filter", "id", "--filter", "parts[7].id", "--filter-missing", "null"], "a\t\n"),
    (["--filter", "id", "--filter", "parts[7].id", "--filter-missing", "skip"], ""),
  ])
  func writesRow(options: [String], text: String) throws {
    #expect(try print([order], "Place", options) == text)
  }

  @Test func quotesValuesOfRows() {
    let cells = ["a b", "a,b", "a\"b", "a\nb", "a\r", "a\tb\\", ""]
    #expect(
      FieldRow(isCSV: true, hasHead: true).line(cells)
        == "a b,\"a,b\",\"a\"\"b\",\"a\nb\",\"a\r\",a\tb\\,\n")
    #expect(
      FieldRow(isCSV: false, hasHead: false).line(cells)
        == "a b\ta,b\ta\"b\ta\\nb\ta\\r\ta\\tb\\\\\t\n")
  }

  @Test(arguments: [
    (["--filter", "id"], nil), (["--filter", "id", "--filter", ".itemCount"], nil),
    (["--filter", ".id", "--filter", "parts[].id", "--format", "tsv"], "id\tparts[].id\n"),
    (["--filter", "id", "--format", "csv"], "id\n" as String?),
  ])
  func namesColumns(options: [String], head: String?) throws {
    #expect(try CallPlan.ofOrders("Place", options).filter?.head == head)
  }

  @Test func separatesMessagesOfStream() throws {
    let messages = [#"{"id":"a"}"#, "{}"]
    #expect(try print(messages, "Watch", ["--format", "text"]) == "id: \"a\"\n\n")
    #expect(try print(messages, "Watch", ["--format", "binary"]) == "\u{3}\n\u{1}a\u{0}")
    for option in [["--repeat", "2"], ["--every", "1s"]] {
      #expect(try print(messages, "Place", ["--format", "text"] + option) == "id: \"a\"\n\n")
      #expect(try print(messages, "Place", ["--format", "binary"] + option) == "\u{3}\n\u{1}a\u{0}")
    }
  }

  @Test func reportsFieldMissingFromResponse() {
    #expect(throws: Failure.self) { try print(["{}"], "Place", ["--filter", "parts[0].id"]) }
  }

  @Test(arguments: [
    (
      ["--filter", "nam"], RPCurlProgram.ExitStatus.schema, "--filter nam",
      "shop.Order has no field nam" as String?
    ),
    (["--filter", "a..b"], .usage, "--filter a..b", nil),
    (["--filter", "parts.id"], .usage, "--filter parts.id", nil),
    (["--format", "csv"], .usage, "--format csv", "requires --filter"),
    (["--filter", "id", "--filter", "id", "--raw"], .usage, "--raw", "cannot be combined with columns"),
    (["--filter", "id", "--filter", "nam"], .schema, "--filter nam", "shop.Order has no field nam"),
    (["--filter", "id", "--format", "text"], .usage, "--filter", "cannot be combined with --format text"),
  ])
  func rejectsInvalidFilter(options: [String], status: RPCurlProgram.ExitStatus, what: String, why: String?) {
    let failure = #expect(throws: Failure.self) { try print([], "Place", options) }
    #expect(failure?.status == status)
    #expect(failure?.message?.what == what)
    if let why { #expect(failure?.message?.why == why) }
  }
}
