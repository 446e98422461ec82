import RPCurlEngine
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtobufSupport
import RPCurlProtocols
import Testing

@testable import RPCurlProxy

@Suite struct SavedSuiteTests {
  private let type: MessageType

  init() throws {
    let pool = DescriptorPool()
    try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    type = try #require(try pool.messageType(named: "google.protobuf.Struct"))
  }

  private func call(
    _ requests: [String], _ responses: [String], _ code: StatusCode = .ok, headers: [(String, String)] = []
  ) throws -> SavedSuite.Call {
    let fields = Headers([("content-type", "application/grpc+json"), ("te", "trailers")] + headers)
    let head = ServerRequestHead(path: "/a.B/C", headers: fields)
    guard case .call(let call) = ServerProtocols.receive(head, nil, ServerOptions()) else {
      throw RPCError(.internal, "no call", origin: .client)
    }
    var saved = SavedSuite.Call(call.request)
    for request in requests { saved.add(request: Array(request.utf8), type, .json) }
    for response in responses { saved.add(response: Array(response.utf8), type, .json) }
    saved.code = code
    return saved
  }

  /// The lines from the first step on.
  private func lines(_ calls: [SavedSuite.Call]) throws -> [String] {
    var suite = SavedSuite()
    for call in calls { suite.add(call) }
    let state = try SessionState(Invocation(.session, []), target: Positional("http://h:1", .session))
    let text = suite.text(state, WrittenSecrets(separates: false))
    return text.split(separator: "\n").map(String.init)
  }

  @Test func eachCallIsAStep() throws {
    let lines = try lines([call([#"{"a":"x"}"#], [#"{"n":1}"#]), call([], [], .notFound)])
    #expect(
      lines.suffix(9) == [
        "target http://h:1", "test recorded calls", "step 1 C", #"call a.B/C {"a":"x"}"#, "expect status ok",
        #"expect . contains {"n":1}"#, "step 2 C", "call a.B/C", "expect status not_found",
      ])
  }

  @Test func valuesOfResponsesAreCaptured() throws {
    let lines = try lines([
      call([#"{"title":"one"}"#], [#"{"item":{"id":"i-17","title":"one"}}"#]),
      call([#"{"id":"i-17"}"#], [#"{"id":"i-17","done":true}"#]),
    ])
    #expect(lines.contains("set id = $last.item.id") && lines.contains("expect .item.id exists"))
    #expect(lines.contains(#"expect . contains {"item":{"title":"one"}}"#))
    #expect(lines.contains(#"call a.B/C {"id":"${id}"}"#))
    #expect(lines.contains(#"expect . contains {"done":true,"id":"${id}"}"#))
  }

  @Test func variablesHaveNoReservedNames() throws {
    let lines = try lines([call([], [#"{"last":"Lovelace"}"#]), call([#"{"name":"Lovelace"}"#], [])])
    #expect(lines.contains("set last_value = $last.last"))
  }

  @Test func whatAClientHasGivenIsNotCaptured() throws {
    let lines = try lines([
      call([#"{"name":"Ada"}"#], [#"{"name":"Ada"}"#]), call([#"{"name":"Ada"}"#], []),
    ])
    #expect(!lines.contains { $0.hasPrefix("set ") })
  }

  @Test func identifiersAndTimesAreCheckedByTheirType() throws {
    let response = #"{"at":"2026-01-02T03:04:05Z","id":"123e4567-e89b-12d3-a456-426614174000"}"#
    let lines = try lines([call([], [response])])
    #expect(lines.suffix(2) == ["expect .at is timestamp", "expect .id is uuid"])
  }

  @Test func syntaxOfValuesIsText() throws {
    let lines = try lines([
      call([#"{"a":"${x}"}"#], [#"{"a":"${y}"}"#], headers: [("x-a", "${env.HOME}")])
    ])
    #expect(lines.contains(#"call a.B/C {"a":"$${x}"}"#) && lines.contains("header x-a: $${env.HOME}"))
    #expect(lines.contains(#"expect . contains {"a":"$${y}"}"#))
  }

  @Test func textsThatBeginAsNamesOfValuesAreText() throws {
    let lines = try lines([call([#"{"a":"$last.id","b":"$${x}","c":"costs $5"}"#], [#"{"a":"$x"}"#])])
    #expect(lines.contains(#"call a.B/C {"a":"\u0024last.id","b":"\u0024$${x}","c":"costs $5"}"#))
    #expect(lines.contains(#"expect . contains {"a":"\u0024x"}"#))
  }

  @Test func keysOfMapsAreText() throws {
    let id = "123e4567-e89b-12d3-a456-426614174000"
    let lines = try lines([call([#"{"${env.HOME}":"a","$last":"b"}"#], [#"{"${x}":"\#(id)","${y}":"b"}"#])])
    #expect(lines.contains(#"call a.B/C {"\u0024last":"b","$${env.HOME}":"a"}"#))
    #expect(lines.suffix(2) == [#"expect . contains {"$${y}":"b"}"#, #"expect .["\u0024{x}"] is uuid"#])
  }

  @Test(arguments: [
    ("$last.id", "${'$last.id'}"), ("$env.HOME", "${'$env.HOME'}"), ("$5", "$5"),
    ("a$last.id", "a$last.id"),
  ])
  func metadataThatBeginsAsNamesOfValuesIsText(_ value: String, _ written: String) throws {
    let lines = try lines([call([], [], headers: [("x-a", value)])])
    #expect(lines.contains("header x-a: \(written)"))
  }

  @Test func messageThatIsOneValueIsChecked() throws {
    let pool = DescriptorPool()
    try pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)
    let text = try #require(try pool.messageType(named: "google.protobuf.StringValue"))
    var first = try call([], [])
    first.add(response: Array(#""123e4567-e89b-12d3-a456-426614174000""#.utf8), text, .json)
    var second = try call([], [])
    second.add(response: Array(#""i-17""#.utf8), text, .json)
    let lines = try lines([first, second, call([#"{"id":"i-17"}"#], [])])
    #expect(lines.contains("expect . is uuid") && lines.contains("expect . exists"))
    #expect(lines.contains("set value = $last"))
  }

  @Test func capturedVariablesHaveDifferentNames() throws {
    let lines = try lines([
      call([], [#"{"id":"first-1","id_2":"second-2"}"#]), call([], [#"{"id":"other-9"}"#]),
      call([#"{"k1":"first-1","k2":"second-2","k3":"other-9"}"#], []),
    ])
    #expect(lines.contains(#"call a.B/C {"k1":"${id}","k2":"${id_2}","k3":"${id_3}"}"#))
    #expect(lines.contains("set id_3 = $last.id"))
  }

  @Test(arguments: [("2nd", "value"), ("é", "é"), ("2nd a", "a")])
  func capturedVariablesHaveValidNames(_ key: String, _ name: String) throws {
    let lines = try lines([call([], [#"{"\#(key)":"first-1"}"#]), call([#"{"a":"first-1"}"#], [])])
    #expect(lines.contains { $0.hasPrefix("set \(name) = $last") })
  }

  @Test func messagesBeforeAnErrorAreChecked() throws {
    let lines = try lines([call([], [#"{"a":1}"#], .notFound)])
    #expect(
      lines.suffix(3) == [
        "expect status not_found", "expect count == 1", #"expect message 0 . contains {"a":1}"#,
      ])
  }

  @Test func credentialsAreVariablesOfTheEnvironment() throws {
    let lines = try lines([call([], [], headers: [("authorization", "Bearer abcdefgh")])])
    #expect(lines.contains("header authorization: ${env.AUTHORIZATION}"))
    #expect(!lines.joined().contains("abcdefgh"))
  }

  @Test func messagesOfAStreamAreCheckedByNumber() throws {
    let lines = try lines([call([#"{"a":1}"#, #"{"a":2}"#], [#"{"b":1}"#, #"{"b":2}"#])])
    #expect(
      lines.suffix(5) == [
        #"call a.B/C {"a":1} {"a":2}"#, "expect status ok", "expect count == 2",
        #"expect message 0 . contains {"b":1}"#, #"expect message 1 . contains {"b":2}"#,
      ])
  }

  @Test func suiteHasAllOfManyCalls() throws {
    let lines = try lines(Array(repeating: call([], [#"{"n":1}"#]), count: 2_600))
    #expect(lines.count { $0 == "call a.B/C" } == 2_600 && lines.last == #"expect . contains {"n":1}"#)
  }

  @Test func largeCallsAreOmitted() throws {
    let large = #"{"a":""# + String(repeating: "x", count: 1 << 20) + #""}"#
    let lines = try lines([call([large], [])])
    #expect(lines.contains("# Calls that are not in it, since they are too large, too many or canceled: 1."))
  }
}
