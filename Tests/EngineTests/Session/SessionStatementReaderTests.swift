import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct SessionStatementReaderTests {
  /// The statement is invalid as a whole, and what is searched for its end is not kept.
  @Test(arguments: ["call M {", "[1,"], [false, true])
  func statementHasALimit(first: String, isNested: Bool) throws {
    var reader = SessionStatementReader(limitBytes: 1000)
    #expect(try reader.add(first) == nil)
    let line = isNested ? "[ 1, 2 ]," : "1,"
    for _ in 0..<1_000 {
      #expect(try reader.add(line) == nil)
      #expect(reader.begun.utf8.count < 1100)
    }
    let failure = #expect(throws: Failure.self) { try reader.add(first.hasSuffix("{") ? "}" : "]") }
    #expect(failure?.message?.why == "a statement is longer than 1000 bytes")
    #expect(try reader.add("headers")?.head == "headers")
  }

  /// The statements of lines, each as `head|value|value`.
  private func read(_ lines: String...) throws -> [String] {
    var reader = SessionStatementReader()
    var statements: [String] = []
    for line in lines {
      guard let statement = try reader.add(line) else { continue }
      let values = statement.values.map { value in
        switch value {
        case .json(let json): json
        case .file(let word): "@<\(word.text)>"
        }
      }
      let output = statement.output.map { [">\($0.text)"] } ?? []
      let options = statement.options.map { "<\($0.text)>" }
      statements.append(([statement.head] + values + options + output).joined(separator: "|"))
    }
    if reader.isWithin { statements.append("…") }
    return statements
  }

  @Test(arguments: [
    // Commands.
    ("list", "list"), ("  describe  demo.v1.Demo ", "describe  demo.v1.Demo"), (":call Hello", ":call Hello"),
    ("header x: {a}", "header x: {a}"), ("expect error == [x", "expect error == [x"),
    ("expect  header a != {", "expect  header a != {"),
    (":expect trailer b == \"", ":expect trailer b == \""),
    ("expect .a contains \"b == {\"", "expect .a contains \"b == {\""),
    ("expect .a[\" == [\"] exists", "expect .a[\" == [\"] exists"), ("expect .a =~ [b", "expect .a =~ [b"),
    ("expect any .a[0] == [1, {\"b\": 2}]", "expect any .a[0] == [1, {\"b\": 2}]"),
    ("options -H 'x: $a'", "options -H 'x: $a'"),
    // With messages.
    ("call Hello {}", "call Hello|{}"), ("call Hello{\"name\": \"}\"}", "call Hello|{\"name\": \"}\"}"),
    ("call Sum {\"value\":1}{\"value\":2} {}", "call Sum|{\"value\":1}|{\"value\":2}|{}"),
    ("open Chat", "open Chat"), ("call Hello\u{600}{}", "call Hello\u{600}|{}"),
    ("call Find $last", "call Find|$last"), ("call ${m} {\"a\":1}", "call ${m}|{\"a\":1}"),
    ("open ${a.b}/${m}{} {}", "open ${a.b}/${m}|{}|{}"),
    ("call Find $last.items[0] {}", "call Find|$last.items[0]|{}"),
    ("set id = $last.user.id", "set id =|$last.user.id"), ("set a=1", "set a=|1"), ("set a", "set a"),
    ("set s = \"a=b\"", "set s =|\"a=b\""), ("set n = 12 ", "set n =|12"),
    // Files.
    ("call M @file", "call M|@<file>"), ("open M @a.json {} @'b c'", "open M|@<a.json>|{}|@<b c>"),
    ("@data/one.json", "|@<data/one.json>"), ("set a = @f", "set a =|@<f>"),
    ("call M > out", "call M|>out"), ("call M {} >out", "call M|{}|>out"),
    (":call M @in > 'my out'", ":call M|@<in>|>my out"), ("call M {\"a\": \">\"}", "call M|{\"a\": \">\"}"),
    // Options. That of another command has a value.
    ("call M {} --raw > out", "call M|{}|<--raw>|>out"),
    ("open M --raw --filter a {}", "open M|{}|<--raw>|<--filter>|<a>"),
    ("call M --max-time 1s {}", "call M|{}|<--max-time>|<1s>"),
    // Messages.
    ("{\"a\":[1,2]}", "|{\"a\":[1,2]}"), ("[1]", "|[1]"), ("\"text\"", "|\"text\""), ("-1.5e3", "|-1.5e3"),
    ("true", "|true"), ("null {}", "|null|{}"), ("$last.a", "|$last.a"), ("1 2", "|1|2"),
    ("${last.a}", "|${last.a}"),
    ("{\"id\": \"${last.id}\"}", "|{\"id\": \"${last.id}\"}"),
  ])
  func reads(line: String, statement: String) throws {
    #expect(try read(line) == [statement])
  }

  @Test(arguments: ["", "   ", "# a comment", "  # one more {"])
  func ignores(line: String) throws {
    #expect(try read(line) == [])
  }

  @Test func readsValuesOverSeveralLines() throws {
    #expect(
      try read("call Hello {", "  \"name\":", "", " \"Ada\"", "}", "list") == [
        "call Hello|{\n  \"name\":\n\n \"Ada\"\n}", "list",
      ])
    #expect(try read("{\"a\":", "1} {", "}") == ["|{\"a\":\n1}|{\n}"])
    #expect(try read("[", "1") == ["…"])
    let checks = [
      ("expect list .a == [", "]"), ("expect .a[0].b contains {", "}"), ("expect detail T .a != [\"", "\"]"),
      (":expect . == {", "}"),
    ]
    for (check, end) in checks { #expect(try read(check, end, "list") == ["\(check)\n\(end)", "list"]) }
  }

  @Test func readsLongValuesAndManyValues() throws {
    let long = "{\"a\":\"\(String(repeating: "é", count: 1000))\"}"
    #expect(try read("call Hello \(long)$last \(long) 1 2") == ["call Hello|\(long)|$last|\(long)|1|2"])
    let many = String(repeating: "{}[1]", count: 5000)
    #expect(try read(many) == [String(repeating: "|{}|[1]", count: 5000)])
    for length in 55...70 {
      let value = "\"\(String(repeating: "a", count: length))\""
      #expect(try read("\(value)\(value) 12") == ["|\(value)|\(value)|12"])
    }
  }

  @Test func keepsTextAsTyped() throws {
    var reader = SessionStatementReader()
    #expect(try reader.add(" call Hello {") == nil)
    #expect(reader.begun == "call Hello {")
    #expect(try reader.add("} ")?.text == "call Hello {\n} ")
    #expect(reader.begun == "")
  }

  @Test(arguments: ["$", "{} $ {}", "call Find $-", "[1] $."])
  func dropsInvalidStatement(line: String) throws {
    var reader = SessionStatementReader()
    #expect(throws: Failure.self) { try reader.add(line) }
    #expect(!reader.isWithin)
    #expect(try reader.add("list")?.head == "list")
  }

  @Test func dropsWholeStatementWithLineThatIsNotUTF8() throws {
    var reader = SessionStatementReader()
    #expect(try reader.add(InputLine(Array("call Hello {\r".utf8)[...])) == nil)
    let line = Array("\"name\":\"".utf8) + [0xE9] + Array("\", \"more\":".utf8)
    #expect(try reader.add(InputLine(line[...])) == nil)
    #expect(try reader.add("{\"name\":\"Ada\"}") == nil)
    #expect(reader.failure?.message?.why == "not UTF-8")
    let error = #expect(throws: Failure.self) { try reader.add("}") }
    #expect(error?.message?.why == "not UTF-8")
    #expect(
      reader.rejected == "call Hello {\n\"name\":\"\u{FFFD}\", \"more\":\n{\"name\":\"Ada\"}\n}")
    #expect(!reader.isWithin && reader.failure == nil)
    #expect(try reader.add("list")?.head == "list")
  }

  @Test(arguments: [
    ("# \" {", nil), ("header x: {\"", nil), ("call Hello {}", nil), ("{\"a\": \"", "\"}"),
    ("expect .a == {", "}"),
  ])
  func reportsLineThatIsNotUTF8(text: String, rest: String?) throws {
    let line = InputLine((Array(text.utf8) + [0xE9])[...])
    var reader = SessionStatementReader()
    if let rest {
      #expect(try reader.add(line) == nil)
      #expect(throws: Failure.self) { try reader.add(rest) }
    } else {
      #expect(throws: Failure.self) { try reader.add(line) }
    }
    #expect(!reader.isWithin)
    // A typed line is reported at once.
    var typed = SessionStatementReader(endsStrings: true)
    #expect(throws: Failure.self) { try typed.add(line) }
    #expect(!typed.isWithin)
  }

  @Test(arguments: [
    ["{\"a\":1}, {", "\"b\":", "{\"c\":1}", "}"], ["call M $ {", "[", "]", "} {}"],
    ["open M {} > a {\"b\": [", "{}", "]}"], ["call M {} > a > b [", "1, \"]\"", "]"],
  ])
  func dropsWholeInvalidStatement(lines: [String]) throws {
    var reader = SessionStatementReader()
    for line in lines.dropLast() { #expect(try reader.add(line) == nil) }
    #expect(throws: Failure.self) { try reader.add(lines[lines.count - 1]) }
    #expect(reader.rejected == lines.joined(separator: "\n"))
    #expect(try reader.add("list")?.head == "list")
    // A typed line is reported at once.
    var typed = SessionStatementReader(endsStrings: true)
    #expect(throws: Failure.self) { try typed.add(lines[0]) }
    #expect(!typed.isWithin)
  }

  @Test func keepsThePositionOfAnErrorAfterAnEarlyEnd() throws {
    var reader = SessionStatementReader()
    let error = #expect(throws: Failure.self) {
      _ = try reader.add(#"  call M {"a": "2024": PA}, "card": 1}"#)
    }
    #expect(error?.message?.why == #"expected "," or "}" (line 1, column 20)"#)
    #expect(error?.message?.place?.excerpt?.offset == 19)
    _ = try reader.add("call M {")
    let second = #expect(throws: Failure.self) { _ = try reader.add(#""a": 1} = f"#) }
    #expect(second?.message?.why == "expected a JSON value (line 2, column 9)")
    let third = #expect(throws: Failure.self) {
      _ = try reader.add(#"call M {"a": "2024": PA}, "card": 1} > f"#)
    }
    #expect(third?.message?.why == #"expected "," or "}" (line 1, column 20)"#)
  }

  @Test(arguments: [
    ("call M @", "missing name of the file"), ("call M {} >", "missing name of the file"),
    ("call M > a > b", "one file is expected, which is replaced"),
    ("call M >> a", "one file is expected, which is replaced"),
    ("call M @'a", "missing closing quote '"),
    ("open M {} > a", "only the responses of call can be written to a file"),
    ("{} > a", "only the responses of call can be written to a file"),
  ])
  func refusesInvalidFile(line: String, why: String) throws {
    var reader = SessionStatementReader()
    let failure = #expect(throws: Failure.self) { try reader.add(line) }
    #expect(failure?.message?.why == why)
    #expect(reader.rejected == line)
  }

  @Test func reportsAStringThatTheTypedLineDoesNotClose() throws {
    var reader = SessionStatementReader(endsStrings: true)
    let failure = #expect(throws: Failure.self) { try reader.add(#"call M {"a": "b\"c"#) }
    #expect(failure?.message?.why == "missing closing quote \" (line 1, column 19)")
    #expect(failure?.message?.place?.excerpt?.offset == 18)
    #expect(try reader.add("call M {") == nil)
    let second = #expect(throws: Failure.self) { try reader.add(#" "a": ""#) }
    #expect(second?.message?.why == "missing closing quote \" (line 2, column 8)")
    #expect(try reader.add(#"{"a": "b\\"}"#)?.values == [.json(#"{"a": "b\\"}"#)])
    // In other input the statement is read to its end, and no part of it becomes a command.
    var other = SessionStatementReader()
    #expect(try other.add(#"call M {"a": "b"#) == nil)
    #expect(try other.add(#"exit"}"#)?.head == "call M")
  }
}
