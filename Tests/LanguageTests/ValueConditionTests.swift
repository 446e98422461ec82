import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlLanguage

/// Checks of one message.
@Suite struct ValueConditionTests {
  private func scalars(_ check: String, _ expected: String) throws {
    let json = """
      {"aDouble":1.1,"aFloat":0.1,"anInt64":"9007199254740993","aUint64":"18446744073709551615","anInt32":-3,
      "aBool":true,"aString":"Ada é","someBytes":"AQID","aColor":"GREEN","maybe":0}
      """
    #expect(try outcome(check, response("test3.Scalars", [json])) == expected)
  }

  @Test(arguments: [
    (".anInt64 == 9007199254740993", "holds"), (#".an_int64 == "9007199254740993""#, "holds"),
    (".anInt64 == 9007199254740992", "9007199254740992 | 9007199254740993"),
    (".anInt64 > 9007199254740992", "holds"), (".aUint64 == 18446744073709551615", "holds"),
    (".aUint64 > -1", "invalid: number out of range for uint64"),
    (".anInt32 == -3.0", "holds"), (".anInt32 < -2", "holds"), (".anInt32 >= 0", ">= 0 | -3"),
    (".anInt32 != -3", "!= -3 | -3"), (".aFloat == 0.1", "holds"), (".aDouble == 1 within 0.1", "holds"),
    (".aDouble == 1 within 10%", "holds"), (".aDouble == 1 within 5%", "1 within 5% | 1.1"),
    (".aDouble != 1 within 5%", "holds"), (".anInt32 == -3.2 within 0.3", "holds"),
    (".anInt32 == -3.2 within 0.1", "-3.2 within 0.1 | -3"), (".aUint64 == 1.8e19 within 3%", "holds"),
    (".anInt32 != -3.2 within 0.1", "holds"), (".aBool == 1.5 within 1", "invalid: expected true or false"),
    (".anInt32 == -3.2", "invalid: expected a whole number (int32)"),
    (".anInt32 != -3.2 within 1", "!= -3.2 within 1 | -3"), (#".aDouble == "NaN""#, #""NaN" | 1.1"#),
    // A string is not followed by the words in it.
    (#".aString != "x within 2""#, "holds"), (#".aString > "A unordered""#, "holds"),
    (#".aString == "in 3 within 24h""#, #""in 3 within 24h" | "Ada é""#),
    (".aBool == true", "holds"), (".aBool == false", "false | true"),
    (#".aColor == "GREEN""#, "holds"), (".aColor == 2", "holds"), (#".aColor > "RED""#, "holds"),
    (#".aColor == "RED""#, #""RED" | "GREEN""#),
    (#".someBytes == "AQID""#, "holds"), (#".someBytes == "AQI=""#, #""AQI=" | "AQID""#),
    (".someBytes size 3", "holds"), (#".someBytes contains "AgM=""#, "holds"),
    (#".someBytes contains "AgE=""#, #"a value that contains "AgE=" | "AQID""#),
    (#".aString == "Ada é""#, "holds"), (".aString == \"Ada e\u{301}\"", "\"Ada e\u{301}\" | \"Ada é\""),
    (".aString =~ ^A.*é$", "holds"), (".aString !~ x", "holds"), (".aString =~ x", #"=~ x | "Ada é""#),
    (".anInt32 =~ ^-", "holds"), (#".aString contains "da""#, "holds"), (".aString size == 5", "holds"),
    (".aString size > 5", "size > 5 | size 5"), (#".aString > "Ac""#, "holds"),
    (".aString is string", "holds"), (".aDouble is number", "holds"), (".anInt64 is integer", "holds"),
    (".aDouble is integer", "is integer | 1.1"), (".aBool is bool", "holds"),
    (".aString is uuid", #"is uuid | "Ada é""#), (".aString is timestamp", #"is timestamp | "Ada é""#),
    (". is object", "holds"), (".maybe is null", "is null | 0"), (".maybeText is null", "holds"),
  ])
  func scalarsAreComparedByType(_ check: String, _ expected: String) throws {
    try scalars(check, expected)
  }

  /// With a tolerance, each number in the value may differ, and that of an integer may have a fraction.
  @Test(arguments: [
    (
      #". == {"name":"a","weight":3.4,"children":[{"weight":0.6},{"name":"x","weight":0.4}]} within 0.5"#,
      "holds"
    ),
    (#". == {"name":"a","children":[{},{"name":"x"}]} within 3"#, "holds"),
    (#". == {"name":"b","children":[{},{"name":"x"}]} within 3"#, "fails"),
    (#". == {"name":"a","weight":3.4,"children":[{"weight":0.6},{"name":"x"}]} within 0.3"#, "fails"),
    (#".children[] == [{"weight":1.4},{"name":"x"}] within 0.5"#, "holds"),
    (#".children == [{"name":"x","weight":-0.5},{"weight":0.5}] unordered within 0.5"#, "holds"),
    (#".children contains {"weight":1.2} within 0.3"#, "holds"),
    (#". contains {"children":[{"weight":1.5}]} within 0.3"#, "fails"),
    (".children[].child == [null,null] within 1", "holds"), (#".name == "a" within 1"#, "invalid"),
    (".children[].name == [\"\",\"x\"] within 1", "invalid"),
    (#".children contains {"name":"x"} within 1"#, "holds"),
  ])
  func toleranceIsForEachNumber(_ check: String, _ expected: String) throws {
    let result = try response(
      "test3.Node", [#"{"name":"a","weight":3,"children":[{"weight":1},{"name":"x"}]}"#])
    guard let condition = try? Condition(parsing: check) else { return #expect(expected == "invalid") }
    switch condition.evaluate(result, files: MemoryFiles()) {
    case .holds: #expect(expected == "holds")
    case .fails: #expect(expected == "fails")
    case .invalid: #expect(expected == "invalid")
    }
  }

  @Test(arguments: [
    ".timestamp == 2024-05-01T12:00:00Z", ".duration == 1s", ".times contains 2024-05-01T12:00:00Z",
  ])
  func toleranceOfTimesIsRejected(_ check: String) throws {
    let found = try outcome("\(check) within 1", response("test3.WellKnown", ["{}"]))
    let hint = "for times, write two conditions with > and <"
    #expect(found == "invalid: within is for numbers, which the value does not contain | \(hint)")
  }

  /// The left side decides how an operand is read.
  @Test(arguments: [
    (".aString == Ada é", "holds"), (".aString == 3", #""3" | "Ada é""#),
    (".aString == true", #""true" | "Ada é""#),
    (".aString == null", #""null" | "Ada é""#), (".aString == Ada within 3", #""Ada within 3" | "Ada é""#),
    (".aString == [x]", #""[x]" | "Ada é""#), (".aString == {", #""{" | "Ada é""#),
    (".aString contains Ada", "holds"), (".aString contains 3", #"a value that contains "3" | "Ada é""#),
    (".aString > Ac", "holds"),
    (
      #".aString == "Ada" é"#,
      #"invalid: "Ada" é starts with a quote, but is not a JSON string | write \" for a quote in a string"#
    ),
    (".aColor == GREEN", "holds"), (".aColor != RED", "holds"), (".aColor > RED", "holds"),
    (".aColor == 2", "holds"),
    (".aColor contains REE", "holds"), (".aColor =~ ^G", "holds"),
    (
      ".aColor == PINK",
      "invalid: test3.Color has no value \"PINK\" | test3.Color has COLOR_UNSPECIFIED, RED, GREEN, BLUE"
    ),
    (".someBytes == AQID", "holds"), (".someBytes contains AgM=", "holds"), (".aDouble != NaN", "holds"),
    (".anInt32 == x", "invalid: expected a number (int32)"),
    (".aBool == yes", "invalid: expected true or false"),
    (".aDouble == 1 within x", "invalid: x is not a number after within | such as within 0.01, or within 1%"),
    (
      ".aDouble == 1 within -1",
      "invalid: -1 is not a number after within | such as within 0.01, or within 1%"
    ),
    (".aDouble < 1 within 2", "invalid: < cannot be followed by unordered or within"),
    (".aDouble == unordered", #"invalid: missing value | such as 3, Ada or {"id":3}"#),
    (". == [1,", "invalid: [1, is not JSON: unexpected end of the JSON"),
    (". == Ada", "invalid: Ada is not JSON: expected a value"),
  ])
  func operandsAreReadByTheTypeOfTheLeftSide(_ check: String, _ expected: String) throws {
    try scalars(check, expected)
  }

  @Test(arguments: [
    (".maybe exists", "holds"), (".maybe == 0", "holds"), (".maybe absent", "absent | 0"),
    // Without presence, zero is absent.
    (".aFixed32 absent", "holds"), (".aFixed32 == 0", "holds"), (".aFixed32 exists", "exists | 0"),
    (".maybeText absent", "holds"), (".maybeText == null", #""null" | no value"#),
    (".maybeText != \"x\"", "holds"),
    (".maybeText == \"x\"", #""x" | no value"#), (".maybeText =~ x", "=~ x | no value"),
    (".maybeText !~ x", "holds"), (".maybeText size 0", "size 0 | no value"),
    (".maybeText > \"a\"", #"> "a" | no value"#),
    (".maybeText contains \"a\"", #"a value that contains "a" | no value"#),
  ])
  func presence(_ check: String, _ expected: String) throws {
    try scalars(check, expected)
  }

  @Test(arguments: [
    (".aStrin == 1", "invalid: test3.Scalars has no field aStrin | did you mean a_string?"),
    (".anInt32 == \"x\"", "invalid: expected a number (int32)"),
    (
      ".aColor == \"PINK\"",
      "invalid: test3.Color has no value \"PINK\" | test3.Color has COLOR_UNSPECIFIED, RED, GREEN, BLUE"
    ),
    (".aBool < true", "invalid: < requires a number, text, bytes, an enum, a timestamp or a duration"),
    (".aString ascending", "invalid: ascending requires a list | [] in a path means all elements"),
    (".aString.x == 1", "invalid: a_string is not a message"),
    (
      ".aBool contains true",
      "invalid: a bool cannot contain a bool | contains is for a part of text, elements of a list, or members of an object"
    ),
    (".aBool size 1", "invalid: size requires text, bytes, a list or a map, not a bool"),
    (". =~ x", "invalid: a regular expression requires text, not an object"),
    (#".someBytes contains "?""#, #"invalid: "?" is not base64, as the value is"#),
  ])
  func checksThatDoNotFitAreInvalid(_ check: String, _ expected: String) throws {
    let json = #"{"aString":"x","aBool":true,"someBytes":"AQID"}"#
    let found = try outcome(check, response("test3.Scalars", [json]))
    #expect(found == expected)
  }

  @Test(arguments: [
    (".children[0].name == \"a\"", "holds"), (".children[-1].name == \"b\"", "holds"),
    (".children[5].name absent", "holds"), (".children[].name == [\"a\",\"b\"]", "holds"),
    (".children[].name == [\"b\",\"a\"] unordered", "holds"), (".children[].weight ascending", "holds"),
    (".children[].weight descending", "descending | 1 before 2, at index 1"),
    (".children size 2", "holds"), (".children[].name size > 2", "size > 2 | size 2"),
    (".children[].name contains \"b\"", "holds"), (".children[].name contains [\"b\",\"a\"]", "holds"),
    (".children contains {\"name\":\"b\"}", "holds"), (".children[].name contains b", "holds"),
    (".children[].name contains [\"a\"]", "holds"),
    (".children contains [{\"weight\":2},{\"name\":\"a\"}]", "holds"),
    (
      ".children contains [{\"name\":\"a\"},{\"weight\":1}]",
      #"a value that contains [{"name":"a"},{"weight":1}] | [{"name":"a","weight":1},{"name":"b","weight":2}]"#
    ),
    (".children[].child exists", "exists | [null,null]"), (".children is list", "holds"),
    (".children == {}", "invalid: expected a list"),
    (
      ".children ascending", "invalid: ascending requires values that have an order, such as numbers and text"
    ),
    (
      ".children.name == 1",
      "invalid: children is a list or a map | children[0] is an element, and children[] means all elements"
    ),
    (".children[].name == 3", "invalid: the values are compared with a JSON list, not with 3"),
    (".child absent", "holds"), (".child.name absent", "holds"), (".child == null", "holds"),
  ])
  func lists(_ check: String, _ expected: String) throws {
    let json = #"{"children":[{"name":"a","weight":1},{"name":"b","weight":2}]}"#
    let found = try outcome(check, response("test3.Node", [json]))
    #expect(found == expected)
  }

  @Test(arguments: [
    (".int64s[0] == 9007199254740993", "holds"), (".int64s[0] > 9007199254740992", "holds"),
    (".int64s[-1] == \"6\"", "6 | 5"), (".int64s[] == [9007199254740993,\"5\"]", "holds"),
    (".int64s[2] == null", "holds"), (".int64s[0] == []", "invalid: expected a number (int64)"),
    (".nodes == [{\"name\":3}]", "invalid: [0].name: expected a string"),
    (".nodes[0] == {\"name\":3}", "invalid: name: expected a string"), (".int64s descending", "holds"),
    (".int64s contains 5", "holds"), (".int64s[] contains [5]", "holds"),
    (".colors[0] == 1", "holds"), (".colors[0] contains \"RE\"", "holds"), (".colors ascending", "holds"),
    (".byteses[0] contains \"Ag==\"", "holds"), (".byteses[0] size 3", "holds"),
    (".byteses[0] < \"AQIE\"", "holds"), (".byteses[0] > AQ==", "holds"), (".byteses[0] <= AQID", "holds"),
    (".byteses[0] > AQID", "> AQID | \"AQID\""), (".byteses ascending", "holds"),
    (".byteses descending", "holds"), (".colors contains 1", "holds"), (".colors[] contains [2]", "holds"),
    (".colors contains 7", #"a value that contains [7] | ["RED","GREEN"]"#),
    (".byteses[0] < !", "invalid: not base64 | \"IQ==\" is the base64 of this text"),
    (".byteses size 1", "holds"), (".byteses contains \"AQID\"", "holds"),
    (".byteses contains \"Ag==\"", #"a value that contains ["Ag=="] | ["AQID"]"#),
    (".nodes[0] == {\"name\":\"a\",\"weight\":0}", "holds"), (".nodes[0] contains {\"weight\":0}", "holds"),
    (".nodes[0] contains {\"weight\":1}", #"a value that contains {"weight":1} | {"name":"a"}"#),
    (".doubles[] == [1,2] within 0.1", "holds"), (".strings[0] =~ ^x", "holds"),
    (".strings[0] exists", "holds"), (".strings[1] absent", "holds"), (".bools exists", "exists | []"),
  ])
  func elements(_ check: String, _ expected: String) throws {
    let json = """
      {"int64s":["9007199254740993","5"],"colors":["RED","GREEN"],"byteses":["AQID"],"nodes":[{"name":"a"}],
      "doubles":[1.05,1.95],"strings":["x"]}
      """
    let found = try outcome(check, response("test3.Lists", [json]))
    #expect(found == expected)
  }

  @Test(arguments: [
    (".texts.a == \"x\"", "holds"), (".texts[\"b\"] absent", "holds"), (".texts == {\"a\":\"x\"}", "holds"),
    (".texts size 1", "holds"), (".numbers == {\"7\":8}", "holds"), (".numbers[7] > 7", "holds"),
    (".numbers contains {\"7\":8}", "holds"),
    (".texts contains {\"a\":\"y\"}", #"a value that contains {"a":"y"} | {"a":"x"}"#),
    (".colors[3] == 1", "holds"), (".nodes[-1].name == \"n\"", "holds"), (".nodes[].weight == [0]", "holds"),
    (".texts is object", "holds"), (#". contains {"fixed":null,"signed":null}"#, "holds"),
    (".texts ascending", "invalid: ascending requires a list | [] in a path means all elements"),
    (
      ".texts.a.b == x",
      #"invalid: texts is a list or a map | texts["a.b"] is an element, and texts[] means all elements"#
    ),
    (
      ".texts[a.b] == x",
      #"invalid: texts is a list or a map | texts["a.b"] is an element, and texts[] means all elements"#
    ),
    (
      ".flags.true exists",
      "invalid: flags is a list or a map | flags[true] is an element, and flags[] means all elements"
    ),
    (".flags[1] exists", "invalid: the keys of flags have the type bool | write flags[true]"),
    (
      ".numbers.7 exists",
      "invalid: numbers is a list or a map | numbers[7] is an element, and numbers[] means all elements"
    ),
    (".texts[7] exists", #"invalid: the keys of texts have the type string | write texts["key"]"#),
  ])
  func maps(_ check: String, _ expected: String) throws {
    let json = #"{"texts":{"a":"x"},"numbers":{"7":"8"},"colors":{"3":"RED"},"nodes":{"-1":{"name":"n"}}}"#
    #expect(try outcome(check, response("test3.Maps", [json])) == expected)
  }

  @Test(arguments: [
    (#".timestamp == "2024-05-01T14:00:00+02:00""#, "holds"),
    (#".timestamp > "2024-05-01T11:59:59.5Z""#, "holds"),
    (#".timestamp < "2024-05-01T12:00:00.5Z""#, "holds"), (".timestamp is timestamp", "holds"),
    (#".timestamp > "2025-01-01T00:00:00Z""#, #"> "2025-01-01T00:00:00Z" | "2024-05-01T12:00:00Z""#),
    (#".timestamp > "soon""#, "invalid: not a timestamp such as 2024-05-01T12:00:00Z"),
    (#".duration == "1.500s""#, "holds"), (#".duration < "10s""#, "holds"), (".duration < 10s", "holds"),
    (".timestamp == 2024-05-01T14:00:00+02:00", "holds"),
    (".timestamp > soon", "invalid: not a timestamp such as 2024-05-01T12:00:00Z"),
    (".structure.a == 1.0", "holds"), (".structure.list[1].b == true", "holds"),
    (".structure.a < 2", "holds"),
    (#".structure == {"list":[0,{"b":true}],"a":1}"#, "holds"), (".structure.none absent", "holds"),
    (#".structure.list contains {"b":true}"#, "holds"), (".structure.list size 2", "holds"),
    (#".structure contains {"list":[{"b":true}]}"#, "holds"),
    (".value is null", "holds"), (".any.weight == 4", "holds"), (#".any contains {"weight":4}"#, "holds"),
    (#".any == {"@type":"x/test3.Node","weight":4}"#, "holds"), (".any.name absent", "holds"),
    (".wrappedInt64 == 5", "holds"), (".wrappedInt64 > 4", "holds"), (".times ascending", "holds"),
    (".wrappedString absent", "holds"),
    (#".any.weight == "4""#, "holds"), (#".any.weight == "5""#, "5 | 4"),
    (#".any.name == "4""#, #""4" | """#),
    (".wrappedBytes size 2", "holds"),
    (".wrappedBytes contains Ag==", "holds"), (".wrappedBytes == AQI=", "holds"),
    (".wrappedBytes contains QI", #"a value that contains "QI" | "AQI=""#),
    (".list contains 1", "holds"), (".list contains Ada", "holds"),
    (#".list contains ["Ada",1]"#, "holds"), (".list contains 2", #"a value that contains [2] | [1,"Ada"]"#),
  ])
  func wellKnownTypes(_ check: String, _ expected: String) throws {
    let json = """
      {"timestamp":"2024-05-01T12:00:00Z","duration":"1.5s","structure":{"a":1,"list":[0,{"b":true}]},
      "any":{"@type":"x/test3.Node","weight":4},"wrappedInt64":"5","wrappedBytes":"AQI=","list":[1,"Ada"],
      "times":["2024-05-01T12:00:00Z","2024-05-01T12:00:00.5Z"]}
      """
    #expect(try outcome(check, response("test3.WellKnown", [json])) == expected)
    let bytes = try response("google.protobuf.BytesValue", ["\"AQI=\""])
    #expect(try outcome(". size 2", bytes) == "holds")
  }

  @Test(arguments: [
    (#"{"@type":"x/google.protobuf.Duration","value":"3s"}"#, ".any.value > 1s", "holds"),
    (#"{"@type":"x/google.protobuf.Duration","value":"3s"}"#, ".any.value == 3.000s", "holds"),
    (
      #"{"@type":"x/test3.WellKnown","timestamp":"2020-01-01T00:00:00.500Z"}"#,
      ".any.timestamp == 2020-01-01T00:00:00.5Z", "holds"
    ),
    (
      #"{"@type":"x/test3.WellKnown","timestamp":"2020-01-01T00:00:00.500Z"}"#,
      #".any contains {"timestamp":"2020-01-01T00:00:00.5Z"}"#, "holds"
    ),
    (#"{"@type":"x/test3.Scalars","aColor":"GREEN"}"#, ".any.aColor == 2", "holds"),
    (#"{"@type":"x/test3.Scalars","aColor":"GREEN"}"#, ".any.aColor > RED", "holds"),
    (#"{"@type":"x/test3.Scalars","someBytes":"AQI="}"#, ".any.someBytes size 2", "holds"),
    (#"{"@type":"x/test3.Lists","int64s":["1","2"]}"#, #".any.int64s == ["2","1"] unordered"#, "holds"),
    (#"{"@type":"x/test3.Lists","int64s":["1","2"]}"#, #".any.int64s[] == ["1","2"]"#, "holds"),
    (
      #"{"@type":"x/test3.Lists","int64s":["1","2"]}"#, ".any.int64s == [2,2] unordered",
      "[2,2] unordered | [1,2]"
    ),
    // A literal that is no value of the type differs: another message may have another type.
    (#"{"@type":"x/test3.Lists","int64s":["1"]}"#, #".any.int64s[0] == "a""#, #""a" | 1"#),
    (
      #"{"@type":"x/google.protobuf.Any","value":{"@type":"x/google.protobuf.Duration","value":"3s"}}"#,
      ".any.value.value > 1s", "holds"
    ),
  ])
  func contentOfAnAnyIsComparedByItsType(_ any: String, _ check: String, _ expected: String) throws {
    let json = #"{"any":\#(any)}"#
    #expect(try outcome(check, response("test3.WellKnown", [json])) == expected)
  }

  @Test(arguments: [
    (#".any.anInt64 == "5""#, "holds"), (".any.anInt64 == 5", "holds"),
    (#".any.anInt64 != "5""#, "!= 5 | 5"),
    (#".any contains {"anInt64":"5"}"#, "holds"), (#".any contains {"anInt64":5}"#, "holds"),
    (#".any contains {"aString":5}"#, #"a value that contains {"aString":5} | GOT"#),
    (#".any contains {"anInt64":"five"}"#, #"a value that contains {"anInt64":"five"} | GOT"#),
    (".any.aDouble == 10000000000000000000000", "holds"), (".any.aDouble == 1e22", "holds"),
  ])
  func contentOfAnAnyIsComparedAsItIsPrinted(_ check: String, _ expected: String) throws {
    let json = #"{"any":{"@type":"x/test3.Scalars","aDouble":1e22,"anInt64":"5","aString":"5"}}"#
    let got = #"{"@type":"x/test3.Scalars","aDouble":1e+22,"anInt64":5,"aString":"5"}"#
    let found = try outcome(check, response("test3.WellKnown", [json]))
    #expect(found == expected.replacing("GOT", with: got))
  }

  @Test(arguments: [
    (#". contains {"name":"n"}"#, "holds"), (#". contains {"child":{"name":"c"}}"#, "holds"),
    (#". contains {"child":{}}"#, "holds"),
    (#". contains {"child":null}"#, #"a value that contains {"child":null} | GOT"#),
    // A default that the literal names is compared.
    (#". contains {"weight":0}"#, #"a value that contains {"weight":0} | GOT"#),
    (#". contains {"child":{"weight":0}}"#, "holds"), (#". contains {"children":[]}"#, "holds"),
    (#". contains {"children":null}"#, "holds"),
    (#". contains {"weigt":0}"#, "invalid: test3.Node has no field \"weigt\" | did you mean weight?"),
    (#". == {"name":"n","weight":3,"child":{"name":"c","weight":0}}"#, "holds"),
    (#". != {"name":"n"}"#, "holds"), (". exists", "holds"), (". absent", "absent | GOT"),
  ])
  func wholeMessages(_ check: String, _ expected: String) throws {
    let json = #"{"name":"n","weight":3,"child":{"name":"c"}}"#
    let found = try outcome(check, response("test3.Node", [json]))
    #expect(found == expected.replacing("GOT", with: #"{"name":"n","child":{"name":"c"},"weight":3}"#))
  }

  @Test func namesOfTheProtoFileAreAccepted() throws {
    let result = try response("test3.Named", [#"{"snakeCaseName":1,"@renamed":2}"#])
    #expect(try outcome(#". contains {"snake_case_name":1,"other":2}"#, result) == "holds")
    #expect(try outcome(#". == {"snake_case_name":1,"other":2}"#, result) == "holds")
    for literal in [#"{"snake_case_name":2}"#, #"{"other":1}"#, #"{"other":null}"#, #"{"@renamed":1}"#] {
      #expect(try outcome(". contains \(literal)", result) != "holds", "\(literal)")
    }
    #expect(try outcome(".other == 2", result) == "holds")
  }

  @Test func extensionsAndRequiredFields() throws {
    let json = #"{"id":1,"name":"a","[test2.strict_ext]":{"id":2,"name":"b"}}"#
    let result = try response("test2.Strict", [json])
    #expect(try outcome(".[test2.strict_ext].id == 2", result) == "holds")
    #expect(try outcome(#".[test2.strict_ext] == {"id":2,"name":"b"}"#, result) == "holds")
    #expect(try outcome(#". contains {"[test2.strict_ext]":{"name":"b"}}"#, result) == "holds")
    #expect(try outcome(#". contains {"id":1}"#, result) == "holds")
  }

  @Test func longTextsAreCut() throws {
    let text = String(repeating: "é", count: 4000)
    let found = try mismatch(#".name == "x""#, response("test3.Node", ["{\"name\":\"\(text)\"}"]))
    #expect(found.expected == #""x""#)
    #expect(found.got.hasPrefix(#""éé"#) && found.got.hasSuffix("é… (cut at 4096 bytes)"))
    #expect(found.got.utf8.count <= 4096 + 30)
  }
}
