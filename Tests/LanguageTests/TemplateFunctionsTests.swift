import RPCurlProtobuf
import RPCurlProtobufSupport
import Testing

@testable import RPCurlLanguage

@Suite struct TemplateFunctionsTests {
  private let sources = TemplateSources(
    nanosecondsSince1970: { 1_700_000_000_000_000_000 },
    environment: { ["KEY": "a\"b", "NESTED": "${env.KEY}"][$0] },
    file: { path throws(LanguageError) in
      guard path != "f.bin" else { return [0xFF] }
      guard path == "f" || path == "a b,c" else { throw LanguageError("no such file or directory") }
      return Array("${env.KEY}\n".utf8)
    })

  private func values(
    seed: UInt64 = 1, piece: FilePiece? = nil, readsElsewhere: Bool = true
  ) throws -> FunctionValues {
    FunctionValues(
      TemplateFunctions(sources, seed: seed), pool: try makePool(), piece: piece,
      readsElsewhere: readsElsewhere)
  }

  @Test(arguments: [
    ("${now()}", "2023-11-14T22:13:20.000Z"), ("${now(+1h)}", "2023-11-14T23:13:20.000Z"),
    ("${now(-500ms)}", "2023-11-14T22:13:19.500Z"), ("${now('+7d')}", "2023-11-21T22:13:20.000Z"),
    ("${random(5,5)}", "5"), ("${random(-3, -3)}", "-3"), ("${env.KEY}!", "a\"b!"),
    ("${env.NESTED}", "${env.KEY}"),
    ("${file(f)}", "${env.KEY}"), ("${file('a b,c')}", "${env.KEY}"),
    ("${base64('hello é')}", "aGVsbG8gw6k="),
    ("${base64(env.KEY)}", "YSJi"), ("${base64('')}", ""), ("${base64(1)}", "MQ=="),
  ])
  func insertsResults(_ template: String, _ text: String) throws {
    #expect(try Template(parsing: template).text(values()) == text)
  }

  @Test(arguments: [
    ("${random(2,1)}", "random(2,1): not two whole numbers in ascending order"),
    ("${random('a',1)}", "random(a,1): not two whole numbers in ascending order"),
    (
      "${random(1,99999999999999999999)}",
      "random(1,99999999999999999999): not two whole numbers in ascending order"
    ),
    ("${now(1h)}", "now(1h): not an offset such as +1h, -30m, +90s, +500ms or +7d"),
    ("${now(+1y)}", "now(+1y): not an offset such as +1h, -30m, +90s, +500ms or +7d"),
    ("${now(+9999999999999d)}", "now(+9999999999999d): not an offset such as +1h, -30m, +90s, +500ms or +7d"),
    ("${now(+106751d)}", "now(+106751d): the time is out of range"),
    ("${env.NO}", "env.NO: the environment variable is not set"),
    ("${file(no)}", "file(no): no such file or directory"), ("${file(f.bin)}", "file(f.bin): not UTF-8"),
    ("${offset()}", "offset(): only the fields of a piece of --chunk have a value of it"),
    ("${last()}", "last(): only the fields of a piece of --chunk have a value of it"),
    ("${NAME}", "NAME: there are no variables here"),
    ("${base64(foo)}", "foo: there are no variables here"),
    ("${row.key}", "row.key: no row here"),
    ("${last.x}", "last.x: only sessions and suites have a last call"),
    ("${request.x}", "request.x: only stubs of mock have a request"),
    ("${message(test.Nothing, {})}", "message(test.Nothing): the schema does not define this type"),
  ])
  func rejects(_ template: String, _ reason: String) throws {
    let parsed = try Template(parsing: template)
    let error = #expect(throws: LanguageError.self) { try parsed.text(values()) }
    #expect(error?.reason == reason)
  }

  @Test(arguments: [
    ("${env.KEY}", "env.KEY: this text must not read the environment"),
    ("${file(f)}", "file(f): this text must not read files"),
    ("${base64(env.KEY)}", "env.KEY: this text must not read the environment"),
  ])
  func keepsTextOfFilesFromReadingElsewhere(_ template: String, _ reason: String) throws {
    let parsed = try Template(parsing: template)
    let error = #expect(throws: LanguageError.self) { try parsed.text(values(readsElsewhere: false)) }
    #expect(error?.reason == reason)
    #expect(error?.hint == "--expand=all also replaces env and file in files and standard input")
  }

  @Test(arguments: [
    ("${message(google.protobuf.StringValue, 'x')}", "CgF4"),
    ("${message(google.protobuf.StringValue, env.KEY)}", "CgNhImI="),
    ("${message(google.protobuf.ListValue, [${random(0,0)}])}", "CgkRAAAAAAAAAAA="),
    ("${message(google.protobuf.ListValue, [\"${env.KEY}\"])}", "CgUaA2EiYg=="),
    ("${message(google.protobuf.ListValue, [\"$${x}\"])}", "CgYaBCR7eH0="),
  ])
  func encodesMessages(_ template: String, _ base64: String) throws {
    let parsed = try Template(parsing: template)
    #expect(try parsed.text(values()) == base64)
    #expect(try Template(parsing: "\(parsed)") == parsed)
    // Within a string of JSON, the text of the template is escaped.
    let json = try JSONTemplate(parsing: Array(JSONValue.quoted(template).utf8))
    #expect(String(decoding: try json.json(values()), as: UTF8.self) == "\"\(base64)\"")
  }

  @Test(arguments: [
    ("${message(google.protobuf.StringValue, 1)}", "message(google.protobuf.StringValue): "),
    ("${message(google.protobuf.StringValue, {\"a\":1})}", "message(google.protobuf.StringValue): "),
    ("${message(google.protobuf.ListValue, [${now()},])}", "[${now()},] is not JSON: "),
    ("${message(google.protobuf.ListValue, [\"${who}\"])}", "who: there are no variables here"),
  ])
  func rejectsInvalidMessages(_ template: String, _ reason: String) throws {
    let parsed = try Template(parsing: template)
    let error = #expect(throws: LanguageError.self) { try parsed.text(values()) }
    #expect(error?.reason.hasPrefix(reason) == true, "\(error?.reason ?? "")")
  }

  @Test func namesTheTypeThatTheSchemaLacks() throws {
    let template = try Template(parsing: "${message(test.Nothing, {})}")
    let error = #expect(throws: LanguageError.self) { try template.text(values()) }
    #expect(error?.missingName == .symbol("test.Nothing"))
  }

  @Test func knowsThePieceOfAFile() throws {
    let template = try Template(parsing: "${offset()} ${last()}")
    #expect(try template.text(values(piece: FilePiece(offset: 4096, isLast: false))) == "4096 false")
    let json = try JSONTemplate(parsing: Array("[${offset()},${last()}]".utf8))
    let last = try json.json(values(piece: FilePiece(offset: 0, isLast: true)))
    #expect(String(decoding: last, as: UTF8.self) == "[0,true]")
  }

  @Test func repeatsRunsOfASeed() throws {
    let template = try Template(parsing: "${uuid()} ${uuid()} ${random(1,1000000)}")
    let first = try template.text(values())
    #expect(try template.text(values()) == first)
    #expect(try template.text(values(seed: 2)) != first)
    #expect(Set(first.split(separator: " ")).count == 3)
    let uuid = Array(first.prefix(36))
    #expect(uuid[14] == "4")
    #expect("89ab".contains(uuid[19]))
  }

  @Test func randomNumbersCoverTheRange() throws {
    let values = try values()
    let template = try Template(parsing: "${random(1,3)}")
    var seen: Set<String> = []
    for _ in 0..<200 { seen.insert(try template.text(values)) }
    #expect(seen == ["1", "2", "3"])
    let all = try Template(parsing: "${random(-9223372036854775808,9223372036854775807)}")
    #expect(Int64(try all.text(values)) != nil)
  }
}
