import RPCurlBase
import RPCurlProtobuf
import Testing

@testable import RPCurlLanguage

/// Values of a test: variables, and text that names any other reference or call.
struct TestValues: TemplateValues {
  var variables: [String: JSONValue] = [:]

  func value(of reference: Reference) throws(LanguageError) -> JSONValue {
    guard case .variable(let path) = reference else { return .string("<\(reference)>") }
    guard let value = variables["\(path)"] else { throw LanguageError("\(path): no such variable") }
    return value
  }

  func value(of function: Function, _ arguments: [JSONValue]) throws(LanguageError) -> JSONValue {
    if function == .random { return .number("7") }
    return .string("\(function.rawValue)(\(arguments.map(\.plainText).joined(separator: ";")))")
  }

  func hasValues(of name: String) -> Bool { variables[name] != nil }
}

@Suite struct TemplateTests {
  private let values = TestValues(variables: [
    "who": .string("A \"B\""), "n": .number("3"), "l": .array([.null]),
  ])

  @Test(arguments: [
    ("", ""), ("plain $ text", "plain $ text"), ("$100 and $ref", "$100 and $ref"), ("a${who}b", "aA \"B\"b"),
    ("$${who}", "${who}"), ("$$${n}", "$${n}"), ("$${", "${"), ("${n}${n}", "33"), ("${l}", "[null]"),
    ("${ n }", "3"),
    ("${'it'}", "it"), ("${\"q\\n\"}", "q\n"), ("${'\\''}", "'"), ("${-1.5e3}", "-1.5e3"),
    ("${true}", "true"), ("${\"a ${n}\"}", "a 3"), ("${\"$${n}\"}", "${n}"), ("${'a ${n}'}", "a ${n}"),
    ("${base64(\"a ${n}\")}", "base64(a 3)"), ("${file(\"${n}\")}", "file(${n})"),
    ("${[1,{\"a\":\"}]\"}]}", "[1,{\"a\":\"}]\"}]"),
    ("${uuid()}", "uuid()"), ("${now( +1h )}", "now(+1h)"), ("${now()}", "now()"),
    ("${random( 1 , 9 )}", "7"),
    ("${base64(who)}", "base64(A \"B\")"), ("${base64(base64('x'))}", "base64(base64(x))"),
    ("${file(a/b c.txt)}", "file(a/b c.txt)"), ("${file('a,b')}", "file(a,b)"),
    ("${message(pkg.T, {\"a\":1})}", "message(pkg.T;{\"a\":1})"),
    ("${message(pkg.T, who)}", "message(pkg.T;A \"B\")"),
    ("${env.HOME}", "<env.HOME>"), ("${row.key}", "<row.key>"), ("${row.a[0].b}", "<row.a[0].b>"),
    ("${row}", "<row>"),
    ("${last}", "<last>"), ("${last.user.id}", "<last.user.id>"), ("${last[0].x}", "<last[0].x>"),
    ("${last[-1].status}", "<last[-1].status>"), ("${last.status}", "<last.status>"),
    ("${last[0]}", "<last[0]>"),
    ("${last.header.X-Id}", "<last.header.x-id>"), ("${last.trailer.x}", "<last.trailer.x>"),
    ("${last.status.code}", "<last.status.code>"), ("${last.header}", "<last.header>"),
    (
      "${last.detail.BadRequest.fieldViolations[0].field}",
      "<last.detail.BadRequest.fieldViolations[0].field>"
    ),
    ("${last.detail[google.rpc.ErrorInfo].reason}", "<last.detail[google.rpc.ErrorInfo].reason>"),
    ("${last.detail}", "<last.detail>"), ("${last.labels[\"a]b\"]}", "<last.labels[\"a]b\"]>"),
    ("${request.header.x-id}", "<request.header.x-id>"), ("${request.x}", "<request.x>"),
    ("${request.method}", "<request.method>"), ("${request.status.x}", "<request.status.x>"),
    ("${last.method}", "<last.method>"), ("${request.a[${n}]}", "<request.a[3]>"),
    ("${row[${who}].b[0]}", "<row[\"A \\\"B\\\"\"].b[0]>"),
    ("${last[-1].a[${'x'}][${n}].b}", "<last[-1].a[\"x\"][3].b>"),
    ("${row[${last.a[${true}]}].c}", "<row[\"<last.a[true]>\"].c>"),
    ("${last[${18446744073709551615}]}", "<last[18446744073709551615]>"),
    ("${base64(row[${n}])}", "base64(<row[3]>)"), ("${last.detail.T.a[${n}]}", "<last.detail.T.a[3]>"),
  ])
  func insertsValues(template: String, text: String) throws {
    let parsed = try Template(parsing: template)
    #expect(try parsed.text(values) == text)
    #expect(try Template(parsing: parsed.description) == parsed, "\(parsed)")
  }

  @Test(arguments: [
    ("${last.detail[].x}", "missing type of a detail"), ("${last.detail[a\"].x}", "missing type of a detail"),
    ("${last.detail[a.].x}", "missing type of a detail"),
    ("${", "${ has no closing }"), ("${}", "\"}\" is not the start of a value in ${}"),
    ("${a-b}", "unexpected \"-b}\" in ${a-b}"), ("${who", "${ has no closing }"),
    ("${uid()}", "uid is not a function"), ("${env(HOME)}", "env is not a function"),
    ("${env}", "env has no name of a variable"), ("${uuid(1)}", "invalid arguments of uuid"),
    ("${random(1)}", "invalid arguments of random"), ("${'x}", "missing closing '"),
    ("${[1}", "\"[1}\" is not JSON: expected \",\" or \"]\""),
    ("${last.header.}", "missing name of a header"), ("${a[}", "missing ] in ${[}"),
    ("${base64(}", "\"}\" is not the start of a value in ${}"), ("${none}", "none: no such variable"),
    ("${row[${n}}", "missing ] after ${n}"), ("${row[${none}]}", "none: no such variable"),
    ("${row[${null}]}", "${null} has no value"), ("${row[${l}]}", "${l} is no key: [null]"),
    ("${row[${1.5}]}", "${1.5} is no key: 1.5"), ("${env.A[${n}]}", "env.A has no elements"),
    ("${last.status[${n}]}", "last.status has no elements"),
    (#"${last.a["${n}"]}"#, #"a["${n}"]: values are not inserted in paths"#),
    (#"${row["${n}"]}"#, #"["${n}"]: values are not inserted in paths"#),
  ])
  func rejectsOtherText(template: String, reason: String) {
    #expect(throws: (any Error).self) {
      do {
        _ = try Template(parsing: template).text(values)
      } catch let error as LanguageError {
        #expect(error.reason == reason)
        throw error
      }
    }
  }

  @Test func namesFunctionsThatAreNear() {
    #expect(throws: LanguageError("uid is not a function", hint: "did you mean uuid?")) {
      try Template(parsing: "${uid()}")
    }
    #expect(throws: LanguageError("env is not a function", hint: "write ${env.NAME}")) {
      try Template(parsing: "${env(HOME)}")
    }
  }

  @Test func limitsNestingAndSize() throws {
    let nested = { (depth: Int) in
      "${" + String(repeating: "base64(", count: depth) + "1" + String(repeating: ")", count: depth) + "}"
    }
    _ = try Template(parsing: nested(99))
    let json = String(repeating: "${[", count: 100_000)
    #expect(throws: LanguageError.self) { try Template(parsing: json) }
    let lists = String(repeating: "${[", count: 100) + "1" + String(repeating: "]}", count: 100)
    let list = try Template(parsing: lists)
    #expect(try Template(parsing: "\(list)") == list)
    #expect(throws: LanguageError("expressions are nested more than 100 deep").withHint) {
      try Template(parsing: "${[\(lists)]}")
    }
    #expect(throws: LanguageError("expressions are nested more than 100 deep").withHint) {
      try Template(parsing: nested(100))
    }
    let doubled = TestValues(variables: ["a": .string(String(repeating: "x", count: 60))])
    #expect(throws: LanguageError("the text with its values is longer than 100 bytes")) {
      try Template(parsing: "${a}${a}").text(doubled, limitBytes: 100)
    }
  }

  @Test(arguments: [
    ("a ${who} ${n}", "${who}"), ("${base64('x')}", "${base64('x')}"), ("$who", nil), ("$${who}", nil),
    ("${", nil),
    ("${a-b} ${who}", nil),
  ])
  func findsTheFirstExpression(text: String, found: String?) {
    #expect(Template.reference(in: text) == found)
  }

  @Test(arguments: [
    ("a ${who}", true, "a A \"B\""), ("a ${who}", false, "a A \"B\""),
    ("[\"${who}\"]", true, "[\"A \"B\"\"]"),
    ("[\"${who}\"]", false, "[\"A \\\"B\\\"\"]"), ("[${who}] b", true, "[A \"B\"] b"),
    (" \"${n}\"", false, " \"3\""),
    ("{\"a\":\"${base64(\\\"x\\\")}\"}", false, "{\"a\":\"base64(x)\"}"), ("", false, ""),
  ])
  func escapesValuesInJSONOfFields(template: String, isText: Bool, text: String) throws {
    #expect(try FieldTemplate(parsing: template).text(values, isText: isText) == text)
  }

  @Test func rejectsInvalidValuesOfFields() {
    for text in ["${", "[\"${uid()}\"]", "{\"a\":${uid()}}", "${who"] {
      #expect(throws: LanguageError.self, "\(text)") { try FieldTemplate(parsing: text) }
    }
  }

  @Test(arguments: [
    ("{\"a\":\"x${who}\"}", 5, "who"), ("{\"a\":${random(1,9)}}", 5, "random(1,9)"),
    ("{\"a\":\"x\",\"b\":\"${who}\"}", 5, nil),
    ("{\"a\":1,\"b\":\"${who}\"}", 5, nil), ("{\"a\":\"${", 5, nil), ("{\"a\":$", 5, nil),
  ])
  func findsTheExpressionOfAValue(json: String, index: Int, found: String?) {
    #expect(JSONTemplate.expression(ofValueAt: index, in: Array(json.utf8))?.description == found)
  }

  @Test func distinguishesValuesFromTypedText() throws {
    let pieces = try Template(parsing: "x-${who}").pieces(values)
    #expect(pieces == [.typed("x-"), .value(.string("A \"B\""))])
  }

  /// Random texts of the characters that the syntax is made of: parsed, or rejected, and never a crash.
  @Test func readsItsOwnText() throws {
    var random = SeededGenerator(seed: 5)
    let words = [
      "$", "{", "}", "${", "$${", "a", ".", "[", "]", "0", "-", "'", "\"", "\\", "(", ")", ",", " ", "last",
      "row", "env", "request",
      "header", "detail", "status", "uuid", "base64", "now", "file", "message", "é",
    ]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
        words.randomElement(using: &random) ?? ""
      }.joined()
      guard let template = try? Template(parsing: text) else { continue }
      #expect(try Template(parsing: template.description) == template, "\(text)")
    }
  }
}

@Suite struct JSONTemplateTests {
  private let values = TestValues(variables: ["who": .string("A \"B\""), "n": .number("3"), "o": .object([])])

  private func filled(_ json: String, hasShortForm: Bool = false) throws(LanguageError) -> String {
    let template = try JSONTemplate(parsing: Array(json.utf8), hasShortForm: hasShortForm)
    return String(decoding: try template.json(values), as: UTF8.self)
  }

  @Test(arguments: [
    ("{\"a\":1}", "{\"a\":1}"), ("{\"a\":\"${who}\"}", "{\"a\":\"A \\\"B\\\"\"}"),
    ("{\"a\":${who}}", "{\"a\":\"A \\\"B\\\"\"}"),
    ("{\"a\":${n},\"b\":\"${n}\"}", "{\"a\":3,\"b\":\"3\"}"), ("{\"a\":\"$${who}\"}", "{\"a\":\"${who}\"}"),
    ("{\"a\":\"$100\",\"$ref\":\"$\"}", "{\"a\":\"$100\",\"$ref\":\"$\"}"), ("{\"${n}\":1}", "{\"3\":1}"),
    ("{\"a\":\"${base64(\\\"x\\\")}\"}", "{\"a\":\"base64(x)\"}"),
    ("{\"a\":\"\\\\${n}\"}", "{\"a\":\"\\\\3\"}"),
    ("{\"a\":${[${'}]'}, ${base64(n)}, \"]\"]}}", "{\"a\":[\"}]\",\"base64(3)\",\"]\"]}"),
    ("{\"a\":${random(1,9)}}", "{\"a\":7}"), ("{\"a\":$n}", "{\"a\":$n}"), ("{\"a\":\"x", "{\"a\":\"x"),
  ])
  func insertsValues(template: String, json: String) throws {
    #expect(try filled(template) == json)
  }

  @Test(arguments: [
    ("{\"a\":$n}", "{\"a\":3}"), ("[$who,$last.x]", "[\"A \\\"B\\\"\",\"<last.x>\"]"),
    ("{\"a\":\"$100\"}", "{\"a\":\"$100\"}"),
    ("{\"$ref\":\"$unknown\"}", "{\"$ref\":\"$unknown\"}"), ("$o", "{}"),
    ("[$last[0].x ,1]", "[\"<last[0].x>\" ,1]"),
  ])
  func hasShortForm(template: String, json: String) throws {
    #expect(try filled(template, hasShortForm: true) == json)
  }

  @Test func rejectsQuotedShortForm() {
    #expect(throws: LanguageError("\"$who\" is text", hint: "write \"${who}\", or $who without quotes")) {
      try filled("{\"a\":\"$who\"}", hasShortForm: true)
    }
    #expect(throws: LanguageError.self) { try filled("{\"a\":\"$who.name[0]\"}", hasShortForm: true) }
    #expect(throws: LanguageError.self) { try Template(parsing: "${\"$n\"}").text(values) }
    #expect(throws: LanguageError.self) { try filled("{\"a\":\"${unknown}\"}") }
    #expect(throws: LanguageError.self) { try filled("{\"a\":\"${a-b}\"}") }
  }
}
