import Testing

@testable import RPCurlLanguage

@Suite struct ConditionParserTests {
  @Test(arguments: [
    "status ok", "status not_found,NOT_FOUND , 5", "status != ok", "status == 14", "error == no item 9",
    "error =~ ^no", #"error contains "item""#, "error exists", "detail ErrorInfo",
    "detail google.rpc.BadRequest .fieldViolations[0].field == \"id\"", "detail ErrorInfo absent",
    "header content-type", "header content-type =~ grpc", "header x-gone absent", "trailer x-count > 3",
    "header x-id is uuid", "count == 3", "count 3", "count >= 1", "latency < 1s", "latency <= 250ms",
    "latency<1s", "count>=2", "status==ok", ".a == Ada", ".a == ${last.b}", "count == ${n}",
    "status ${code},ok", ".a =~ ^${x}$", "error == $${", ".a golden ${file}.json", ".a == one within 3",
    "connection http == 2", "connection tls>=1.2", "connection address", "certificate expires > 30d",
    "certificate expires>=1.5h", "certificate expires > ${days}", "certificate name == localhost",
    "certificate subject =~ CN=a", "certificate issuer absent",
    ".name == \"Ada\"", ".name==\"Ada\"", "last .name exists", "first .name absent", "any . == {}",
    "every .labels[\"a b\"].id != 3", "message 2 .id == 3", "list .id ascending", "list . == [{}]",
    ".a == [1,2] unordered", ".a == 1.5 within 1%",
    ".a == {\"a\":\n  [1,\n2]}\n  unordered   within 0.1", ".a contains {\"b\":1} within 1",
    #".a["\u0024{k}"] exists"#, ".a is timestamp", ".a size >= 3", ".a size 3", ".a descending",
    ".a golden a b.json unordered",
    ".a golden \"a unordered\" within 1", ".a =~ \"", ".[test.extension].name exists", "  status ok  ",
  ])
  func parses(_ text: String) throws {
    let condition = try Condition(parsing: text)
    #expect(condition.text == text.trimmed)
    #expect(try Condition(parsing: condition.description).description == condition.description)
  }

  @Test(
    arguments: [
      ("", "missing condition", "such as status ok, or .name == Ada"),
      (
        "stats ok", #"unknown condition "stats""#,
        "did you mean status?"
      ),
      (
        "user.name == 1", #"unknown condition "user.name""#,
        "a path starts with a full stop: .user.name == 1"
      ),
      ("title == Loom", #"unknown condition "title""#, "a path starts with a full stop: .title == Loom"),
      ("status", "status requires a code", "such as ok, not_found or 5"),
      ("status ok,", "status requires a code", "such as ok, not_found or 5"),
      ("status ok not_found", "codes are separated by commas", "write status ok,not_found"),
      ("status not_fund", "not_fund is not a status code", "did you mean not_found?"),
      (
        "status 17", "17 is not a status code",
        "such as ok, not_found or 5"
      ),
      (
        "status == DONE", "DONE is not a status code",
        "such as ok, not_found or 5; a path starts with a full stop: .status == DONE"
      ),
      (
        "status < 3", "status is compared with == or != only",
        "a path starts with a full stop: .status < 3"
      ),
      (
        "error", "missing condition",
        "conditions are ==, !=, <=, <, >=, >, =~, !~, contains, exists, absent, is, size"
      ),
      ("error contains", "missing value after contains", #"an empty text is """#),
      (".a contains", "missing value after contains", #"an empty text is """#),
      (".a missing", #"unknown condition "missing""#, "write absent"),
      (".a length >= 3", #"unknown condition "length""#, "write size >= 3"),
      ("detail ErrorInfo missing", #"unknown condition "missing""#, "write absent"),
      (".a exists now", "unexpected text after exists: now", "write exists alone"),
      (
        "error not found", #"unknown condition "not""#,
        "conditions are ==, !=, <=, <, >=, >, =~, !~, contains, exists, absent, is, size"
      ),
      (
        #"error == "a" b"#, #""a" b starts with a quote, but is not a JSON string"#,
        #"write \" for a quote in a string"#
      ),
      ("error ==", "missing value after ==", #"an empty text is """#),
      (
        "connection", "connection requires a property",
        "one of http, tls, address, such as connection http == 2"
      ),
      (
        "connection port == 1", "a connection has no property port",
        "one of http, tls, address, such as connection http == 2"
      ),
      (
        "certificate serial exists", "a certificate has no property serial",
        "one of subject, issuer, name, expires, such as certificate expires > 30d"
      ),
      (
        "certificate expires", "certificate expires requires a bound",
        "such as certificate expires > 30d"
      ),
      (
        "certificate expires == 30d", "certificate expires requires a bound",
        "such as certificate expires > 30d"
      ),
      ("certificate expires > 30", "30 has no unit", "write 30ms or 30s"),
      (
        "detail", "detail requires a type", "such as detail google.rpc.BadRequest .fieldViolations exists"
      ),
      (
        "detail ErrorInfo reason == 1",
        "expected a path after the type of the detail", "it starts with a full stop, as in .reason exists"
      ),
      ("header", "missing name", "such as header x-tenant == blue, or header x-tenant exists"),
      ("header a:b", "a is followed by :", "write header a == VALUE"),
      ("header !a", "missing name", "write header a absent"),
      ("trailer !a:b", "missing name", "write trailer a != VALUE"),
      (
        "header a ascending", #"unknown condition "ascending""#,
        "conditions are ==, !=, <=, <, >=, >, =~, !~, contains, exists, absent, is, size"
      ),
      (
        "count", "count must be a number such as 3, or a bound such as >= 2",
        "a path starts with a full stop, as in .count exists"
      ),
      ("title foo", #"unknown condition "title""#, "such as status ok, or .name == Ada"),
      ("title missing", #"unknown condition "title""#, "a path starts with a full stop: .title missing"),
      ("title", #"unknown condition "title""#, "a path starts with a full stop, as in .title exists"),
      ("== 1", #"unknown condition """#, "such as status ok, or .name == Ada"),
      (#"".a" == 1"#, #"unknown condition "\".a\"""#, "such as status ok, or .name == Ada"),
      ("status .a", ".a is not a status code", "such as ok, not_found or 5"),
      (
        "stats == ok", #"unknown condition "stats""#,
        "did you mean status? A path starts with a full stop: .stats == ok"
      ),
      ("frist .a == 1", #"unknown condition "frist""#, "did you mean first?"),
      (
        "count == many", "count must be a number such as 3, or a bound such as >= 2",
        "a path starts with a full stop: .count == many"
      ),
      ("latency 1s", "latency requires a bound", "such as latency < 1.5s, or latency < 250ms"),
      ("latency < soon", "soon is not a duration", "such as 1.5s, or 250ms"),
      ("latency < 100", "100 has no unit", "write 100ms or 100s"),
      ("latency=<10s", "latency requires a bound", "write latency <= 10s"),
      (
        "message == Hello", "message requires the number of a message, from 0",
        "a path starts with a full stop: .message == Hello"
      ),
      ("latency == 1s", "latency requires a bound", "such as latency < 1.5s, or latency < 250ms"),
      (
        "first name == 1", "expected a path, which starts with a full stop",
        "such as .user.name; a single full stop is the message"
      ),
      (
        "message x .a exists", "message requires the number of a message, from 0",
        "such as message 2 .id == 3"
      ),
      (
        "message -1 .a exists", "message requires the number of a message, from 0",
        "such as message 2 .id == 3"
      ),
      (".a", "missing condition after .a", "such as .a exists, or .a == VALUE"),
      (
        ".a[x] == 1",
        #".a[x] is not a path: expected an index, a key in quotes such as ["key"], an extension such as [pkg.name], "#
          + "a type such as [type.googleapis.com/pkg.Type], or [] at byte 3 of the path",
        "such as .user.items[0].name"
      ),
      (
        ".a[\"${k}\"] absent", ".a[\"${k}\"]: values are not inserted in paths",
        "a condition can begin with a value: ${last.labels[${KEY}]} == X"
      ),
      (
        ".a[${k}].b == 1", ".a[${k}].b: values are not inserted in paths",
        "a condition can begin with a value: ${last.labels[${KEY}]} == X"
      ),
      (".a = 1", #"unknown condition "=""#, "== compares, and =~ matches a regular expression"),
      (".a exist", #"unknown condition "exist""#, "did you mean exists?"),
      (".a ==", "missing value after ==", #"an empty text is """#),
      (".a == ${nwo(}", "nwo is not a function", "did you mean now?"),
      (
        ".a =~ [", #""[" is not a valid regular expression: missing ]"#,
        "a backslash before a sign makes it a literal"
      ),
      (
        ".a is text", "unknown type text after is",
        "types are string, number, integer, bool, list, object, null, uuid, timestamp"
      ),
      (
        ".a is", "missing type after is",
        "types are string, number, integer, bool, list, object, null, uuid, timestamp"
      ),
      (".a size x", "size must be a number such as 3, or a bound such as >= 2", "such as size 3"),
      (".a golden", "golden requires a file", "such as golden user.json"),
      (".a golden unordered", "golden requires a file", "such as golden user.json"),
    ] as [(String, String, String?)])
  func rejects(_ text: String, _ reason: String, _ hint: String?) {
    let error = #expect(throws: LanguageError.self) { try Condition(parsing: text) }
    #expect(error?.reason == reason)
    #expect(error?.hint == hint)
  }

  @Test func deepJSONIsRejected() throws {
    let deep = String(repeating: "[", count: 102) + String(repeating: "]", count: 102)
    let found = try outcome(".children == \(deep)", response("test3.Node", ["{}"]))
    #expect(found.hasPrefix("invalid: ") && found.contains("nested deeper than 100 levels"), "\(found)")
  }

  @Test func statusIsRecognized() throws {
    #expect(try Condition(parsing: "status not_found").isAboutStatus)
    #expect(try !Condition(parsing: "error == no item").isAboutStatus)
  }
}

extension String {
  fileprivate var trimmed: String { String(self[...].stripped) }
}
