import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlProxy

@Suite struct BreakPointsTests {
  private static let runs = getenv("RPCURL_RANDOM_RUNS").flatMap { Int(String(cString: $0)) } ?? 2_000
  private let schema: [MethodName: MethodDescriptor]
  private let hello = MethodName(service: "test3.Greeter", method: "Hello")
  private var points: BreakPoints

  init() throws {
    schema = try breakSchema()
    points = BreakPoints(
      ShownValues(encoding: JSONEncodingOptions(), secretNames: SecretNames(), redaction: Redaction()), schema
    )
  }

  private func value(_ call: Int, _ text: String = "Ada", _ sizeBytes: Int = 10) throws -> HeldValue {
    let method = try #require(schema[hello])
    return HeldValue(
      call: call, method: hello, side: .request,
      content: .message(try Message(method.input, json: Array(#"{"aString":"\#(text)"}"#.utf8))),
      headers: Headers([("x-tenant", "blue\u{1B}[31m"), ("authorization", "Bearer s3cret")]),
      responseType: method.output, sizeBytes: sizeBytes)
  }

  /// Runs a line; what it does, in words.
  private mutating func run(_ line: String) throws -> [String] {
    try points.run(line).flatMap(Self.words)
  }

  private static func words(_ action: BreakPoints.Action) -> [String] {
    func json(_ message: Message?) -> String {
      message.flatMap { try? $0.json() }.map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
    }
    return switch action {
    case .print(let lines): lines
    case .proceed(let call, let message): ["proceed \(call) \(json(message))"]
    case .fail(let call, let error): ["fail \(call) \(error.code.name): \(error.message)"]
    case .respond(let call, let message): ["respond \(call) \(json(message))"]
    case .edit(let call, let text): ["edit \(call) \(text)"]
    case .end: ["end"]
    }
  }

  private mutating func failure(_ line: String) -> String {
    do {
      return "done: \(try run(line))"
    } catch let error as Failure {
      return error.message.map { "\($0.what): \($0.why)" + ($0.hint.map { "; \($0)" } ?? "") } ?? ""
    } catch {
      return "\(error)"
    }
  }

  /// Two calls that are held.
  private mutating func hold() throws {
    _ = try points.add("Hello")
    for call in [3, 5] { #expect(points.receive(try value(call)) == .hold) }
  }

  // MARK: Break points

  @Test mutating func breakPointsAreAddedListedAndRemoved() throws {
    #expect(try run("break") == [])
    #expect(try run("break Hello where .a_string == Ada") == ["1 request */Hello where .a_string == Ada"])
    #expect(try run("break response *") == ["2 response *"])
    #expect(try run("delete 1") == [])
    #expect(try run("break Hello") == ["3 request */Hello"])
    #expect(try run("break") == ["2 response *", "3 request */Hello"])
    #expect(points.sides(of: hello) == [.request, .response])
    #expect(points.sides(of: MethodName(service: "a.B", method: "C")) == [.response])
    #expect(failure("delete 1") == "delete: no such break point; delete NUMBER; break lists them")
    #expect(failure("break Helo") == "break: the schema has no method */Helo; did you mean */Hello?")
    #expect(failure("breaks") == "breaks: no such command; did you mean break?")
    #expect(failure("xyz") == "xyz: no such command; help lists the commands")
    #expect(try run("  # text") == [])
    #expect(try run("") == [])
  }

  @Test mutating func onlyWhatMatchesIsHeld() throws {
    #expect(points.receive(try value(1)) == .pass)
    try hold()
    #expect(points.held.map(\.call) == [3, 5])
    #expect(try run("delete 1") == [])
    #expect(points.receive(try value(7)) == .pass && points.held.count == 2)
  }

  @Test mutating func limitsWhatIsHeld() throws {
    _ = try points.add("Hello")
    for call in 0..<BreakPoints.limit.count { #expect(points.receive(try value(call)) == .hold) }
    #expect(points.receive(try value(1000)) == .full)
    points.release(call: 7)
    #expect(points.receive(try value(1000, "Ada", BreakPoints.limit.bytes)) == .full)
    #expect(points.receive(try value(1001)) == .hold)
  }

  // MARK: Commands

  @Test mutating func showsWithoutCredentialsAndControlCharacters() throws {
    try hold()
    #expect(
      try run("calls") == [3, 5].map { #"\#($0) test3.Greeter/Hello held: request {"aString":"Ada"}"# })
    let shown = try run("show")
    #expect(try run("show 3") == shown)
    #expect(
      shown.first == "3 test3.Greeter/Hello, request:"
        && shown.suffix(3) == ["{", #"  "aString": "Ada""#, "}"])
    #expect(!shown.contains { $0.contains("\u{1B}") || $0.contains("s3cret") } && shown.count == 6)
    #expect(failure("show 4") == "4: no such call is held; held: 3, 5")
  }

  @Test mutating func continuesTheOldestANamedOneOrAll() throws {
    try hold()
    #expect(try run("continue 5") == [#"proceed 5 {"aString":"Ada"}"#])
    #expect(try run("continue") == [#"proceed 3 {"aString":"Ada"}"#])
    #expect(failure("continue") == ": no call is held")
    for call in [8, 9] { _ = points.receive(try value(call)) }
    #expect(try run("continue all").count == 2)
    #expect(points.held.isEmpty)
    #expect(try run("continue all") == [])
  }

  @Test(arguments: ["continue al", "continue 99x", "show x", "edit 3 x", "calls x", "delete 1 x", "quit now"])
  mutating func argumentsThatACommandLacksAreErrors(line: String) throws {
    try hold()
    let word = String(line.split(separator: " ").last ?? "")
    #expect(failure(line).contains("unexpected argument \(word)"))
    #expect(points.held.count == 2)
  }

  @Test mutating func setsFields() throws {
    try hold()
    #expect(
      try run("set a_string=x y = z") == [#"3 test3.Greeter/Hello held: request {"aString":"x y = z"}"#])
    #expect(try run("set 5 maybe=7") == [#"5 test3.Greeter/Hello held: request {"aString":"Ada","maybe":7}"#])
    let unknown = failure("set a_strin=x")
    #expect(unknown.hasPrefix("set a_strin: ") && unknown.contains("a_string"))
    #expect(failure("set maybe=x").hasPrefix("set maybe: "))
    #expect(failure("set a_string") == "set a_string: not of the form PATH=VALUE")
    #expect(try run("continue") == [#"proceed 3 {"aString":"x y = z"}"#])
  }

  @Test mutating func editedTextIsSentOnOrKept() throws {
    try hold()
    #expect(try run("edit 5") == ["edit 5 {\n  \"aString\": \"Ada\"\n}"])
    #expect(throws: Failure.self) { try points.edit(5, #"{"aStrin":"Bob"}"#) }
    #expect(points.held.count == 2)
    #expect(try run("edit 5") == [#"edit 5 {"aStrin":"Bob"}"#])
    #expect(
      try points.edit(5, #"{"aString":"Bob"}"#).flatMap(Self.words) == [#"proceed 5 {"aString":"Bob"}"#])
    let gone = #expect(throws: Failure.self) { try points.edit(5, "{}") }
    #expect(gone?.message?.why == "the call has ended; the message was not sent")
  }

  @Test mutating func failsAndResponds() throws {
    try hold()
    #expect(
      failure("fail 3")
        == "fail: missing CODE; fail [N] CODE [MESSAGE], such as \"fail unavailable try later\"")
    #expect(failure("fail ok").contains("ok is not the code of an error"))
    #expect(failure("respond {\"x\":1}").contains("the call is still held"))
    #expect(failure("respond").contains("call 3: "))
    #expect(points.held.count == 2)
    #expect(try run("fail NOT_FOUND no such thing") == ["fail 3 not_found: no such thing"])
    #expect(try run("respond 5 {\"int32s\":[1]}") == [#"respond 5 {"int32s":[1]}"#])
    #expect(points.held.isEmpty)
  }

  @Test mutating func valuesWithoutAMessageContinueFailOrRespond() throws {
    _ = try points.add("Hello")
    _ = try points.add("response Hello")
    var start = try value(1)
    start.content = .start
    var end = HeldValue(
      call: 2, method: hello, side: .response,
      content: .end(ResponseEnd(error: RPCError(.aborted, "no\n", origin: .server))))
    end.headers = Headers([("a", "b")])
    var bytes = try value(4, "", 7)
    (bytes.content, bytes.responseType) = (.message(nil), nil)
    for value in [start, end, bytes] { #expect(points.receive(value) == .hold) }
    #expect(
      try run("calls") == [
        "1 test3.Greeter/Hello held: start of the request",
        "2 test3.Greeter/Hello held: end of the response: aborted: no\\n",
        "4 test3.Greeter/Hello held: request of 7 bytes",
      ])
    #expect(failure("edit 1").contains("no message yet"))
    #expect(failure("set 2 a=b").contains("ended without a message"))
    #expect(failure("edit 4").contains("the schema does not have the method"))
    #expect(failure("respond 4 {}").contains("the schema does not have the method"))
    #expect(try run("show 2") == ["2 test3.Greeter/Hello, end of the response:", "a: b", "aborted: no\\n"])
    #expect(try run("continue all") == ["proceed 1 nothing", "proceed 2 nothing", "proceed 4 nothing"])
  }

  @Test mutating func responseHasOneMessage() throws {
    _ = try points.add("response Hello where status ok")
    var end = HeldValue(call: 1, method: hello, side: .response, content: .end(ResponseEnd()))
    end.responseType = try #require(schema[hello]).output
    end.hasResponse = true
    #expect(points.receive(end) == .hold)
    #expect(failure("respond {}").contains("has received the message"))
    #expect(try run("fail aborted") == ["fail 1 aborted: "])
  }

  @Test mutating func closingFailsWhatIsHeldAndHoldsNothingMore() throws {
    try hold()
    #expect(
      points.close().flatMap(Self.words) == [3, 5].map { "fail \($0) unavailable: rpcurl was stopped" })
    #expect(points.receive(try value(9)) == .pass)
    #expect(try run("quit") == ["end"])
  }

  @Test mutating func helpDescribesEachCommand() throws {
    let lines = try run("help")
    for command in BreakCommand.allCases {
      #expect(lines.contains { $0.hasPrefix(command.usage) })
      #expect(try run("help \(command.name)") == ["\(command.usage): \(command.summary)"])
    }
    #expect(failure("help x").contains("no such command"))
  }

  // MARK: Random runs

  /// Each call that is held leaves exactly once, and what is held is what the commands left.
  @Test mutating func randomCommandsLoseAndDoubleNothing() throws {
    for seed in 0..<UInt64(Self.runs / 10) {
      points = BreakPoints(points.shown, schema)
      var random = SeededGenerator(seed: seed)
      var expected: [Int] = []
      var next = 0
      for _ in 0..<60 {
        let call = expected.randomElement(using: &random)
        let number = call.map { Bool.random(using: &random) ? " \($0)" : "" } ?? ""
        let target = number.isEmpty ? expected.first : call
        switch Int.random(in: 0..<9, using: &random) {
        case 0: _ = try run("break Hello where .a_string == Ada")
        case 1: _ = failure("delete \(Int.random(in: 0..<4, using: &random))")
        case 2, 3:
          next += 1
          let text = Bool.random(using: &random) ? "Ada" : "Bob"
          let isHeld = text == "Ada" && !points.points.isEmpty
          #expect(points.receive(try value(next, text)) == (isHeld ? .hold : .pass))
          if isHeld { expected.append(next) }
        case 4:
          if target != nil {
            #expect(try run("continue\(number)").count == 1)
          } else {
            _ = failure("continue")
          }
          expected.removeAll { $0 == target }
        case 5:
          if let target { #expect(try run("fail\(number) aborted") == ["fail \(target) aborted: "]) }
          expected.removeAll { $0 == target }
        case 6: _ = failure("set\(number) a_string=\(Bool.random(using: &random) ? "x" : "Ada")")
        case 7:
          #expect((points.release(call: target ?? -1) != nil) == (target != nil))
          expected.removeAll { $0 == target }
        default: _ = [failure("respond\(number) {"), failure("fail\(number) ok"), failure("set\(number) x")]
        }
        #expect(points.held.map(\.call) == expected, "seed \(seed)")
      }
      #expect(try run("continue all").count == expected.count)
      // All bytes are released.
      _ = try points.add("Hello")
      #expect(points.receive(try value(next + 1, "Ada", BreakPoints.limit.bytes)) == .hold, "seed \(seed)")
    }
  }
}
