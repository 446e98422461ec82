import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlLanguage

/// Checks of responses with several messages.
@Suite struct StreamConditionTests {
  @Test(arguments: [
    ("first .weight == 1", "holds"), ("last .weight == 3", "holds"), (".weight == 3", "holds"),
    ("any .weight == 2", "holds"), ("every .weight < 4", "holds"), ("message 1 .weight == 2", "holds"),
    ("message 2 .weight == 3", "holds"), ("list .weight == [1,2,3]", "holds"),
    ("list .weight ascending", "holds"),
    ("list .weight == [3,2,1] unordered", "holds"), ("list .weight contains [3,1]", "holds"),
    ("list . contains {\"weight\":2}", "holds"), ("list .weight size 3", "holds"),
    ("list .name == [\"a\",\"\",\"\"]", "holds"), ("list .child == [null,null,null]", "holds"),
    ("first .weight == 2", "2 | 1 in message 0"), (".weight == 2", "2 | 3 in message 2"),
    ("message 1 .weight == 1", "1 | 2 in message 1"),
    ("message 3 .weight == 1", "== 1 | 3 messages, numbered from 0"),
    ("any .weight == 4", "4 | 1 in message 0, and no match in 2 more"),
    ("every .weight == 1", "1 | 2 in message 1, and others in 1 more"),
    ("every .weight < 3", "< 3 | 3 in message 2"), ("list .weight == [1,3]", "[1,3] | [1,2,3]"),
    ("list .weight descending", "descending | 1 before 2, at index 1"),
    ("list .weight == 1", "invalid: the values are compared with a JSON list, not with 1"),
    ("list .weight > 1", "invalid: > is not a comparison of lists"),
    ("list .weight == [\"x\"]", "invalid: expected a number (int32)"),
  ])
  func selections(_ check: String, _ expected: String) throws {
    let messages = [#"{"weight":1,"name":"a"}"#, #"{"weight":2}"#, #"{"weight":3}"#]
    let found = try outcome(check, response("test3.Node", messages))
    #expect(found == expected)
  }

  @Test(arguments: [
    ("first .weight == 1", "== 1 | no message"), ("any .weight exists", "exists | no message"),
    ("every .weight exists", "exists | no message"), ("message 0 .weight == 1", "== 1 | no message"),
    ("list .weight == []", "holds"), ("list .weight size 0", "holds"), ("list . contains []", "holds"),
    (".weigt == 1", "invalid: test3.Node has no field weigt | did you mean weight?"),
    (".weight == \"x\"", "invalid: expected a number (int32)"),
  ])
  func withoutMessages(_ check: String, _ expected: String) throws {
    let found = try outcome(check, response("test3.Node", []))
    #expect(found == expected)
  }

  @Test func typesAreUnknownWithoutSchemaAndMessages() throws {
    var result = try response("test3.Node", [])
    result.type = nil
    #expect(try outcome(".anything == 1", result) == "== 1 | no message")
    #expect(try outcome("list .anything == []", result) == "== [] | no message")
  }

  @Test func firstMessageThatIsNotKeptIsNotTheLast() throws {
    var result = try response("test3.Node", [])
    result.add(try Message(type("test3.Node"), json: Array(#"{"weight":1}"#.utf8)), isKept: false)
    #expect(try outcome("first .weight == 1", result) == "holds")
    result.add(try Message(type("test3.Node"), json: Array(#"{"weight":2}"#.utf8)))
    #expect(
      try outcome("first .weight == 2", result)
        == "invalid: the response has 2 messages, of which the first 0 are kept"
        + " | check count, last, or a message among the first")
  }

  @Test func messagesThatAreNotKeptAreNotChecked() throws {
    var result = try response("test3.Node", [#"{"weight":1}"#, #"{"weight":2}"#])
    result.add(try Message(type("test3.Node"), json: Array(#"{"weight":3}"#.utf8)), isKept: false)
    result.add(try Message(type("test3.Node"), json: Array(#"{"weight":4}"#.utf8)))
    #expect(result.messages.count == 2 && result.count == 4)
    for check in [
      "count 4", "first .weight == 1", ".weight == 4", "message 3 .weight == 4", "any .weight == 2",
    ] {
      #expect(try outcome(check, result) == "holds", "\(check)")
    }
    let notKept =
      "invalid: the response has 4 messages, of which the first 2 are kept"
      + " | check count, last, or a message among the first"
    for check in ["every .weight < 9", "any .weight == 9", "message 2 .weight == 3", "list .weight size 4"] {
      #expect(try outcome(check, result) == notKept, "\(check)")
    }
    #expect(try outcome("every .weight == 1", result) == "1 | 2 in message 1")
  }
}
