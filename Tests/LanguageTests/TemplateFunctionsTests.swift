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
    ("${base64decode('aGVsbG8gw6k=')}", "hello é"),
    ("${base64decode('')}", ""), ("${base64decode(base64('x'))}", "x"), ("${base64decode('aGk')}", "hi"),
    ("${count([1,[2,3]])}", "2"), ("${count({\"a\":1})}", "1"), ("${count([])}", "0"),
    ("${toInt('42')}", "42"), ("${toInt(-7)}", "-7"),
    ("${toInt('18446744073709551615')}", "18446744073709551615"),
    ("${toInt('1e3')}", "1000"), ("${toInt(2.0)}", "2"), ("${toInt('007')}", "7"),
    ("${toInt('9007199254740993.0')}", "9007199254740993"), ("${toInt(-0.0)}", "0"),
    ("${toInt('18446744073709551615.00e0')}", "18446744073709551615"), ("${toInt('+1.50e1')}", "15"),
    ("${toInt('1200E-2')}", "12"), ("${toInt('0.0e-9')}", "0"),
    ("${sort([3,1.5,-2])}", "[-2,1.5,3]"),
    (
      "${sort([\"NaN\",\"1\",\"nan\",\"-1\",\"Infinity\"])}",
      "[\"-1\",\"1\",\"Infinity\",\"NaN\",\"nan\"]"
    ),
    ("${sort([\"Infinity\",\"1\",\"-Infinity\"])}", "[\"-Infinity\",\"1\",\"Infinity\"]"),
    ("${sort([\"7\",\"0x8\"])}", "[\"0x8\",\"7\"]"),
    ("${sort([9007199254740993,9007199254740992.0])}", "[9007199254740992.0,9007199254740993]"),
    ("${sort([\"10\",\"9\",8])}", "[8,\"9\",\"10\"]"),
    ("${sort([\"10\",\"9\",\"x\"])}", "[\"10\",\"9\",\"x\"]"),
    ("${sort([])}", "[]"), ("${sort([\"b\",\"B\",\"é\",\"a\"])}", "[\"B\",\"a\",\"b\",\"é\"]"),
    (#"${regex('order id=42 of id=7', 'id=(\d+)')}"#, "42"), (#"${regex('a1b22', '\d+$')}"#, "22"),
    ("${regex('k: é!', '(?:k|l): (.)')}", "é"),
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
    ("${base64decode('a!')}", "base64decode(): \"a!\" is not base64"),
    ("${base64decode('/w==')}", "base64decode(): the bytes are not UTF-8"),
    ("${count('abc')}", "count(): \"abc\" is not a list or an object"),
    ("${count(null)}", "count(): null is not a list or an object"),
    ("${toInt('4.5')}", "toInt(): \"4.5\" is not a whole number of 64 bits"),
    ("${toInt('0x1p3')}", "toInt(): \"0x1p3\" is not a whole number of 64 bits"),
    ("${toInt('1e999')}", "toInt(): \"1e999\" is not a whole number of 64 bits"),
    ("${toInt('1e-1')}", "toInt(): \"1e-1\" is not a whole number of 64 bits"),
    ("${toInt('1.')}", "toInt(): \"1.\" is not a whole number of 64 bits"),
    ("${toInt('')}", "toInt(): \"\" is not a whole number of 64 bits"),
    ("${toInt(true)}", "toInt(): true is not a whole number of 64 bits"),
    (
      "${toInt('18446744073709551616')}", "toInt(): \"18446744073709551616\" is not a whole number of 64 bits"
    ),
    ("${toInt('NaN')}", "toInt(): \"NaN\" is not a whole number of 64 bits"),
    ("${sort('ba')}", "sort(): \"ba\" is not a list"),
    ("${sort([1,\"a\"])}", "sort(): the elements are not all numbers and not all text"),
    ("${sort([{}])}", "sort(): the elements are not all numbers and not all text"),
    ("${regex('abc', 'd')}", "regex(): \"abc\" has no match of d"),
    ("${regex(1, 'd')}", "regex(): 1 is not text"),
    ("${regex('b', '(a)|b')}", "regex(): the match of (a)|b is without its first group"),
    ("${regex('b', env.KEY)}", "regex(): \"b\" has no match of a\"b"),
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

  @Test func refusesAnInvalidExpressionOfRegexBeforeTheCall() {
    #expect(throws: LanguageError.self) { try Template(parsing: "${regex(last.x, '(')}") }
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
