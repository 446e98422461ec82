import RPCurlChain
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlEngine

struct SessionVariablesTests {
  private func variables() throws -> SessionVariables {
    var variables = SessionVariables.known { ["HOME_TOWN": "Lon\"don", "TRICK": "${env.HOME_TOWN}"][$0] }
    let json = #"{"id": "a\"b", "itemCount": 3, "status": "OPEN", "parts": [{"id": "p0"}, {"id": "p1"}]}"#
    variables.last = try KnownCall([#"{"id": "first"}"#, json])
    variables.row = try JSONValue(parsing: Array(#"{"key": "k1", "tags": ["x", "y"]}"#.utf8))
    try variables.set("list", to: JSONValue(parsing: Array(#"[1, {"k": "v"}, "s"]"#.utf8)))
    try variables.set("n", to: JSONValue(parsing: Array("-1.50".utf8)))
    return variables
  }

  private func json(_ text: String) throws -> String {
    String(decoding: try variables().expand(json: text).bytes, as: UTF8.self)
  }

  @Test(arguments: [
    ("{}", "{}"), (#"{"a": 1}"#, #"{"a": 1}"#),
    // Instead of JSON.
    (#"{"id": $last.id}"#, #"{"id": "a\"b"}"#),
    (#"{"n": $last.itemCount, "m": ${n}}"#, #"{"n": 3, "m": -1.50}"#),
    ("$last.parts[1].id", #""p1""#), ("$list", #"[1,{"k":"v"},"s"]"#),
    ("[$list[0],$list[1].k,$list[-1],$list[9],$list[-4]]", #"[1,"v","s",null,null]"#),
    ("${env.HOME_TOWN}", #""Lon\"don""#),
    ("$env.HOME_TOWN", #""Lon\"don""#), ("[$row.key,$row.tags[1]]", #"["k1","y"]"#),
    ("$last[0].id", #""first""#), ("$last[-1].status", #""OPEN""#), ("$last.status", #""ok""#),
    ("[$last.header.x-id,$last.trailer.x-end]", #"["7","z"]"#), ("$last.header.x-tag", #""a, b""#),
    // Within strings.
    (#"{"id": "<${last.id}>"}"#, #"{"id": "<a\"b>"}"#), (#""${list[1]}""#, #""{\"k\":\"v\"}""#),
    (#""$last.id costs $5""#, #""$last.id costs $5""#), (#""$${last.id}""#, #""${last.id}""#),
    (#""\"${n}""#, #""\"-1.50""#), (#""$none""#, #""$none""#),
    // Functions.
    (#"{"a": "${base64('foo')}"}"#, #"{"a": "Zm9v"}"#), ("${base64(row.key)}", #""azE=""#),
    (#"{"a": "${base64(\"a\\\"b é\")}"}"#, #"{"a": "YSJiIMOp"}"#), (#""$${base64(a)}""#, #""${base64(a)}""#),
    (#"{"a": "${file(name.txt)}", "b": ${random(5,5)}}"#, #"{"a": "Ada", "b": 5}"#),
    // Values are not expanded again.
    (#""${env.TRICK}""#, #""${env.HOME_TOWN}""#),
  ])
  func insertsIntoJSON(json text: String, expected: String) throws {
    #expect(try json(text) == expected)
  }

  @Test(arguments: [
    ("plain", "plain"), ("$last.id", #"a"b"#), ("$n", "-1.50"), ("x-${last.parts[0].id}-y", "x-p0-y"),
    ("$5", "$5"), ("a$n", "a$n"), ("$${n}", "${n}"), ("${env.TRICK}", "${env.HOME_TOWN}"), ("$n.", "$n."),
    ("${last.status}/${row.key}", "ok/k1"),
  ])
  func insertsIntoWords(word: String, expected: String) throws {
    #expect(try variables().expand(word: word) == expected)
  }

  @Test(arguments: [
    ("$none", "none: no such variable", nil),
    ("$lisd", "lisd: no such variable", "did you mean list?"),
    ("${HOME_TOWN}", "HOME_TOWN: no such variable", "write ${env.HOME_TOWN}"),
    ("${key}", "key: no such variable", "write ${row.key}"),
    ("${env.NONE}", "env.NONE: the environment variable is not set", "export NONE=VALUE"),
    ("$request.id", "request.id: no request was sent yet", "call METHOD"),
    ("$request.header.a", "request.header.a: only stubs of mock have this value", "write ${request.FIELD}"),
    ("$list[0].a", "list[0].a: list[0] is not a message", nil),
    ("$list[1].kk", "list[1].kk: no such value", "did you mean k?"),
    (
      "$list.a", "list.a: list is a list or a map", "list[0] is an element, and list[] means all elements"
    ),
    ("$row.none", "row.none: no such value", nil),
    ("$last[2].id", "last[2].id: Place has 2 responses", nil),
    ("$last[-3]", "last[-3]: Place has 2 responses", nil),
    (
      "$last.header.x-ids", "last.header.x-ids: Place has no header x-ids",
      "did you mean x-id?"
    ),
    (
      "$last.trailer.a", "last.trailer.a: Place has no trailer a", "it has x-end"
    ),
    (
      "$last.detail.BadRequest", "last.detail.BadRequest: Place has no detail BadRequest", "it has no details"
    ),
    (
      #"["$list"]"#, "\"$list\" is text", "write \"${list}\", or $list without quotes"
    ),
    (#""${uid()}""#, "uid is not a function", "did you mean uuid?"),
    (#""${not a name}""#, "unexpected \"a name}\\\"\" in ${not a name}", nil),
  ])
  func reportsMissingValue(json text: String, why: String, hint: String?) throws {
    let failure = try #require(throws: Failure.self) { try json(text) }
    if !text.contains("not a name") {
      #expect(failure.message?.why == why)
      #expect(failure.message?.hint == hint)
    }
  }

  @Test func lastIsNeverTheAnswerOfAnEarlierCall() throws {
    var variables = try variables()
    variables.last = try KnownCall([], .notFound)
    var failure = try #require(throws: Failure.self) { try variables.expand(json: "$last.id") }
    #expect(failure.message?.why == "last.id: Place has no response; its status is not_found")
    #expect(try variables.expand(word: "$last.status") == "not_found")
    // An open stream.
    variables.last = try KnownCall([#"{"id": "a"}"#], nil)
    #expect(try variables.expand(word: "$last.id") == "a")
    for reference in ["$last.status", "$last.detail.ErrorInfo.reason"] {
      failure = try #require(throws: Failure.self) { try variables.expand(json: reference) }
      #expect(failure.message?.why.hasSuffix("no command has waited for the end of Place") == true)
    }
    failure = try #require(throws: Failure.self) { try variables.expand(json: "$last.trailer.a") }
    #expect(failure.message?.why == "last.trailer.a: Place has no trailers yet")
    variables = .known()
    failure = try #require(throws: Failure.self) { try variables.expand(json: "$last") }
    #expect(failure.message?.why == "last: no call was made yet")
  }

  @Test func readsDetailsByTheEndOfTheirTypes() throws {
    let info = try #require(WellKnownMessages.type("google.rpc.ErrorInfo"))
    let detail = StatusDetail(
      typeName: "google.rpc.ErrorInfo",
      value: try Message(info, json: Array(#"{"reason": "OUT", "metadata": {"a.b": "c"}}"#.utf8)).serialized()
    )
    let unknown = StatusDetail(typeName: "shop.Unknown", value: [])
    var variables = SessionVariables.known()
    variables.last = try KnownCall([], .aborted, details: [unknown, detail])
    #expect(try variables.expand(word: "$last.detail.ErrorInfo.reason") == "OUT")
    #expect(try variables.expand(word: #"${last.detail[google.rpc.ErrorInfo].metadata["a.b"]}"#) == "c")
    let failure = try #require(throws: Failure.self) { try variables.expand(word: "$last.detail.Unknown") }
    #expect(failure.message?.why == "last.detail.Unknown: the schema does not define shop.Unknown")
    #expect(
      LanguageCompletion("${last.detail.", at: .text, in: variables.scope).candidates.map(\.text)
        == ["Unknown}", "ErrorInfo}", "Unknown.", "ErrorInfo."])
  }

  @Test func keepsTheLastResponseOfMany() throws {
    var variables = SessionVariables.known()
    variables.last = try KnownCall((0..<5).map { #"{"id": "\#($0)"}"# })
    #expect(try variables.expand(word: "$last.id") == "4")
    #expect(try variables.expand(word: "$last[2].id") == "2")
    let failure = try #require(throws: Failure.self) { try variables.expand(word: "$last[3].id") }
    #expect(failure.message?.why == "last[3].id: only the first responses and the last one are kept")
  }

  @Test func reportsWhatJSONContains() throws {
    let variables = try variables()
    for (json, isFromServer, mayBeSecret) in [
      ("{}", false, false), ("$n", false, false), ("$last.id", true, false),
      (#""${env.TRICK}""#, false, true),
      ("${base64(last.id)}", true, true), ("$row.key", false, false),
    ] {
      let expanded = try variables.expand(json: json)
      #expect(expanded.isFromServer == isFromServer, "\(json)")
      #expect(expanded.mayBeSecret == mayBeSecret, "\(json)")
    }
  }

  @Test func limitsSizeOfVariables() throws {
    var variables = SessionVariables.known(limitBytes: 1000)
    try variables.set("x", to: .string("0123456789"))
    var rounds = 0
    let failure = #expect(throws: Failure.self) {
      while rounds < 100 {
        try variables.set("x", to: .string(variables.expand(word: "${x}${x}")))
        rounds += 1
      }
    }
    #expect(rounds == 6)
    #expect(failure?.message?.why.contains("1000 bytes") == true)
    #expect(throws: Failure.self) { try variables.expand(json: #"{"a":"${x}${x}"}"#) }
    #expect(throws: Failure.self) { try variables.set("y", to: .string(variables.expand(word: "$x"))) }
    try variables.unset("x")
    #expect(throws: Never.self) { try variables.set("y", to: .string(String(repeating: "a", count: 900))) }
  }

  @Test(arguments: ["last", "request", "row", "env", "9a", "", "a b", "a.b", "$a", "a[0]", "true", "a-b"])
  func rejectsInvalidNames(name: String) throws {
    var variables = try variables()
    #expect(throws: Failure.self) { try variables.set(name, to: .null) }
  }

  @Test func removesVariables() throws {
    var variables = try variables()
    #expect(variables.names == ["list", "n", "last", "row"])
    try variables.unset("n")
    #expect(variables.names == ["list", "last", "row"])
    #expect(throws: Failure.self) { try variables.unset("n") }
    #expect(throws: Failure.self) { try variables.unset("last") }
  }

  @Test(arguments: [
    ("n", "-1.50"), ("$n", "-1.50"), ("last.parts[0].id", #""p0""#), (#""hi ${n}""#, #""hi -1.50""#),
    (#"["${n}", ${n}]"#, #"["-1.50",-1.50]"#), ("'${n}'", #""${n}""#), (#"base64("${n}")"#, #""LTEuNTA=""#),
  ])
  func evaluatesExpressionsAndText(_ text: String, _ expected: String) throws {
    #expect(try variables().value(of: text).text == expected)
  }

  @Test(arguments: [
    ("hi ${n}", #"text is in quotes: "hi ${n}"; or print $last.user.id"#),
    ("${n} ${n}", #"text is in quotes: "${n} ${n}"; or print $last.user.id"#),
    (#""$n""#, #"write "${n}", or $n without quotes"#),
    (#""$last.id""#, #"write "${last.id}", or $last.id without quotes"#),
    ("${uuid}", "write ${uuid()}"), ("${envv.HOME}", "did you mean env.HOME?"),
    ("lst[0]", "did you mean last[0], or list[0]?"),
  ])
  func hintsAtTheRightForm(_ text: String, _ hint: String) throws {
    let failure = #expect(throws: Failure.self) { try variables().value(of: text) }
    #expect(failure?.message?.hint == hint)
  }

  // MARK: Completion

  @Test(arguments: [
    (
      "last",
      ["status}", "header.", "trailer.", "detail.", "id}", "item_count}", "parts}", "parts[]}", "parts[]."]
    ),
    ("last.header", ["x-id}", "x-tag}"]), ("last.trailer", ["x-end}"]), ("row", ["key}", "tags}"]),
    ("last.parts[1]", ["id}", "item_count}", "status}", "parts}", "parts[]}", "parts[]."]),
    ("last.id", []), ("last.none", []), ("request", []), ("list[1]", ["k}"]), ("list", []), ("none", []),
  ])
  func completesMembers(reference: String, names: [String]) throws {
    let found = LanguageCompletion("${\(reference).", at: .text, in: try variables().scope)
    #expect(found.candidates.map(\.text) == names)
  }
}
