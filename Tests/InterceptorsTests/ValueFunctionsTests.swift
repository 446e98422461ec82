import Testing

@testable import Interceptors

@Suite struct ValueFunctionsTests {
  private let services = TestServices()

  private func functions(seed: UInt64? = 1) -> ValueFunctions { ValueFunctions(services, seed: seed) }

  @Test(arguments: [
    ("a", "a"), ("$", "$"), ("${", "${"), ("${}", "${}"), ("${NAME}", "${NAME}"), ("$uuid()", "$uuid()"),
    ("${()}", "${()}"),
    ("$${uuid()}", "${uuid()}"), ("${now()}", "2023-11-14T22:13:20.000Z"),
    ("${now(+1h)}", "2023-11-14T23:13:20.000Z"),
    ("${now(-500ms)}", "2023-11-14T22:13:19.500Z"), ("${now(+7d)}", "2023-11-21T22:13:20.000Z"),
    ("${random(5,5)}", "5"),
    ("${random(-3, -3)}", "-3"), ("${env(KEY)}!", "a\"b!"), ("${file(f)}", "${env(KEY)}"),
    ("é${env(KEY)}é", "éa\"bé"), ("${base64(hello é)}", "aGVsbG8gw6k="), ("${base64()}", ""),
  ])
  func expandsText(_ text: String, _ expected: String) throws {
    services.variables["KEY"] = "a\"b"
    services.files["f"] = "${env(KEY)}\n"
    #expect(try functions().expand(text) == expected)
  }

  @Test(arguments: [
    ("${uuid()}", "${uuid()}"), (#"{"a":"x${base64(foo)}"}"#, "${base64(foo)}"), ("$${uuid()}", nil),
    ("${w()}", nil),
    ("${NAME} ${other()}", nil), ("${now(", nil), ("", nil),
  ])
  func findsReference(_ text: String, _ expected: String?) {
    #expect(ValueFunctions.reference(in: Array(text.utf8)[...]) == expected)
  }

  @Test(arguments: [
    (#""${uuid()}","b":1"#, "${uuid()}"), ("${uuid()},1", "${uuid()}"), (#""a\"","b":"${uuid()}""#, nil),
    (#"1,"${uuid()}""#, nil),
  ])
  func findsReferenceInValue(_ text: String, _ expected: String?) {
    #expect(ValueFunctions.reference(in: Array(text.utf8)[...], isValue: true) == expected)
  }

  @Test(arguments: [
    (#"{"a":"${env(KEY)}","b":${env(KEY)},"c":${random(5,5)}}"#, #"{"a":"a\"b","b":"a\"b","c":5}"#),
    (#"{"a":"\\"","b":${env(KEY)}}"#, #"{"a":"\\"","b":${env(KEY)}}"#),
    (#"["\"${env(KEY)}"]"#, #"["\"a\"b"]"#), ("{}", "{}"),
    (#"{"a":"${base64(a\"b)}","b":${base64(é)}}"#, #"{"a":"YSJi","b":"w6k="}"#),
  ])
  func expandsJSON(_ text: String, _ expected: String) throws {
    services.variables["KEY"] = "a\"b"
    let expanded = String(decoding: try functions().expand(json: Array(text.utf8)), as: UTF8.self)
    if text.contains(#"\\"#) {
      // The string ends before the last quotation mark, which begins another one.
      #expect(expanded.hasSuffix(#"a\"b}"#))
    } else {
      #expect(expanded == expected)
    }
  }

  @Test(arguments: [
    "${uid()}", "${uuid(1)}", "${uuid(", "${random()}", "${random(2,1)}", "${random(1)}",
    "${random(1,99999999999999999999)}",
    "${now(1h)}", "${now(+h)}", "${now(+1y)}", "${now(+9999999999999d)}", "${now(+106751d)}", "${env(NO)}",
    "${file(no)}", "${offset()}",
  ])
  func rejects(_ text: String) {
    #expect(throws: ValueFunctions.Problem.self) { try functions().expand(text) }
  }

  @Test func expandsOffsetOfPiece() throws {
    #expect(try functions().expand("at ${offset()}", offset: 4096) == "at 4096")
    #expect(throws: ValueFunctions.Problem.self) { try functions().expand("${offset(1)}", offset: 0) }
  }

  @Test func repeatsRunsOfASeed() throws {
    let text = "${uuid()} ${uuid()} ${random(1,1000000)}"
    let first = try functions().expand(text)
    #expect(try functions().expand(text) == first)
    #expect(try functions(seed: 2).expand(text) != first)
    #expect(Set(first.split(separator: " ")).count == 3)
    let uuid = Array(first.prefix(36))
    #expect(uuid[14] == "4")
    #expect("89ab".contains(uuid[19]))
  }

  @Test func randomNumbersCoverTheRange() throws {
    let functions = functions()
    var seen: Set<String> = []
    for _ in 0..<200 { seen.insert(try functions.expand("${random(1,3)}")) }
    #expect(seen == ["1", "2", "3"])
    _ = try functions.expand("${random(-9223372036854775808,9223372036854775807)}")
  }
}
