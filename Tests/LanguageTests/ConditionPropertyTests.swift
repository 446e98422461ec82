import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlLanguage

@Suite struct ConditionPropertyTests {
  private static let messages = [
    (
      "test3.Scalars",
      """
      {"aDouble":"NaN","aFloat":1e10,"anInt64":"-9223372036854775808","aUint64":"18446744073709551615","aBool":true,
      "aString":"\\u0000\\"é","someBytes":"AAEC/w==","aColor":"BLUE","maybe":0,"maybeText":""}
      """
    ),
    (
      "test3.Lists",
      """
      {"doubles":[1.5,"-Infinity"],"int64s":["9007199254740993"],"bools":[false],"strings":["",""],"colors":["RED",7],
      "nodes":[{},{"name":"n","children":[{"weight":1}]}]}
      """
    ),
    (
      "test3.Maps",
      """
      {"texts":{"":"x","b":""},"numbers":{"-1":"9007199254740993"},"flags":{"true":"AQ=="},"colors":{"1":"RED"},
      "nodes":{"-5":{"name":"n"}},"fixed":{"1":0.1}}
      """
    ),
    ("test3.Choice", #"{"node":{}}"#), ("test3.Choice", #"{"anyValue":null}"#),
    (
      "test3.WellKnown",
      """
      {"any":{"@type":"x/test3.Scalars","anInt64":"5","aColor":"RED"},"timestamp":"2024-05-01T12:00:00.000000001Z",
      "duration":"-0.5s","mask":"aB,c","structure":{"a":[1,null,{"b":"x"}]},"value":[1],"wrappedInt64":"0",
      "anys":[{"@type":"x/google.protobuf.Duration","value":"1s"}],"times":["2024-05-01T12:00:00Z"],
      "valueMap":{"a":1}}
      """
    ), ("test3.Named", #"{"snakeCaseName":1,"@renamed":2}"#),
    (
      "test2.Old",
      #"{"number":42,"level":"HIGH","inner":{"label":"x"},"items":[{"id":1}],"flags":{"a":"ON"}}"#
    ),
    ("test2.Strict", #"{"name":"a","byName":{"x":{"id":2}},"[test2.strict_ext]":{"id":3}}"#),
  ]

  /// Each form in which a message can be printed.
  private static let forms = [
    JSONEncodingOptions(), JSONEncodingOptions(protoNames: true), JSONEncodingOptions(enumNumbers: true),
    JSONEncodingOptions(int64s: .numbers), JSONEncodingOptions(emitDefaults: true),
    JSONEncodingOptions(pretty: true),
  ]

  @Test(arguments: messages)
  func messagesAreEqualToTheirJSON(_ typeName: String, _ json: String) throws {
    let type = try type(typeName)
    let options = JSONDecodingOptions(allowPartial: true)
    let message = try Message(type, json: Array(json.utf8), options: options)
    var result = CallResult(method: MethodName(service: "s.S", method: "M"), type: type, status: .ok)
    result.add(message)
    for form in Self.forms {
      let text = String(decoding: try message.json(options: form), as: UTF8.self)
      for check in [". == \(text)", ". == \(text) unordered", ". == \(text) within 0", ". contains \(text)"] {
        #expect(try outcome(check, result) == "holds", "\(check)")
      }
      #expect(try mismatch(". != \(text)", result).got != "")
      guard case .object(let members) = try JSONValue(parsing: Array(text.utf8)) else { continue }
      for member in members where !member.name.hasPrefix("@") && !member.name.hasPrefix("[") {
        let one = "{\(JSONValue.quoted(member.name)):\(member.value.text)}"
        #expect(try outcome(". contains \(one)", result) == "holds", "\(one)")
        if case .null = member.value { continue }
        let none = try outcome(". contains {\(JSONValue.quoted(member.name)):null}", result)
        #expect(form != Self.forms[0] || none != "holds", "\(one)")
        #expect(try outcome(".\(member.name) == \(member.value.text)", result) == "holds", "\(one)")
      }
    }
  }

  @Test func changedChecksNeverTrap() throws {
    let checks = [
      "status not_found, 5", "error =~ ^no (item|\\d+)$", #"detail ErrorInfo .metadata["a"] == "x""#,
      "header content-type == application/grpc", "trailer x-count >= 3", "count <= 2", "latency < 1.5s",
      #"any .children[-1].name contains "a""#, "message 1 .weight == 1e3 within 1.5%",
      #"list .children[].child == [{"name":"\u00e9"},null] unordered within 0.1"#,
      #". contains {"children":[{"weight":1}]}"#, ".name is uuid", ".children size >= 2",
      ". golden a.json unordered",
      "every .children[].weight descending", ".(test.extension).x absent",
    ]
    var result = try response("test3.Node", [#"{"name":"a","children":[{"weight":1},{"weight":2}]}"#, "{}"])
    result.headers = Headers([("content-type", "application/grpc")])
    result.details = [StatusDetail(typeName: "google.rpc.ErrorInfo", value: [])]
    let files = MemoryFiles(["a.json": "[]"])
    let pieces =
      checks.flatMap { $0.split(separator: " " as Character).map(String.init) } + [
        "\n", "\"", "[", "}", "\u{301}", "",
      ]
    var generator = SeededGenerator(seed: 3)
    var evaluated = 0
    for round in 0..<20_000 {
      var words = checks[round % checks.count].split(separator: " " as Character).map(String.init)
      for _ in 0...Int.random(in: 0..<3, using: &generator) {
        let index = Int.random(in: 0..<words.count, using: &generator)
        let piece = pieces[Int.random(in: 0..<pieces.count, using: &generator)]
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: words[index] = piece
        case 1: words.insert(piece, at: index)
        case 2: words[index] = String(words[index].dropLast())
        default: words[index] += piece
        }
      }
      guard let check = try? Condition(parsing: words.joined(separator: " ")) else { continue }
      evaluated += 1
      let outcome = check.evaluate(result, files: files)
      #expect(try Condition(parsing: check.text).evaluate(result, files: files) == outcome, "\(check.text)")
    }
    #expect(evaluated > 1000)
  }
}
