import Testing

@testable import Language

@Suite struct CheckParserTests {
  @Test(arguments: [
    "status ok", "status not_found,NOT_FOUND , 5", "status != ok", "status == 14", "error == no item 9",
    "error =~ ^no", #"error contains "item""#, "error exists", "detail ErrorInfo",
    "detail google.rpc.BadRequest .fieldViolations[0].field == \"id\"", "detail ErrorInfo absent",
    "header content-type", "header content-type =~ grpc", "header x-gone absent", "trailer x-count > 3",
    "header x-id is uuid", "count == 3", "count 3", "count >= 1", "latency < 1s", "latency <= 250ms",
    ".name == \"Ada\"", ".name==\"Ada\"", "last .name exists", "first .name absent", "any . == {}",
    "every .labels[\"a b\"].id != 3", "message 2 .id == 3", "list .id ascending", "list . == [{}]",
    ".a == [1,2] unordered", ".a == 1.5 within 1%",
    ".a == {\"a\":\n  [1,\n2]}\n  unordered   within 0.1", ".a contains {\"b\":1} within 1",
    ".a is timestamp", ".a size >= 3", ".a size 3", ".a descending", ".a golden a b.json unordered",
    ".a golden \"a unordered\" within 1", ".a =~ \"", ".[test.extension].name exists", "  status ok  ",
  ])
  func parses(_ text: String) throws {
    #expect(try Condition(parsing: text).text == text.trimmed)
  }

  @Test(
    arguments: [
      ("", "missing check", #"such as status ok, or .name == "Ada""#),
      (
        "stats ok", #"unknown check "stats""#,
        "did you mean status? A path starts with a full stop: .stats"
      ),
      (
        "user.name == 1", #"unknown check "user.name""#,
        """
        a path starts with a full stop: .user.name; other checks: status, error, detail, header, trailer, count, \
        latency, list, first, last, any, every, message
        """
      ),
      ("status", "status requires a code", "such as ok, not_found or 5"),
      ("status ok,", "status requires a code", "such as ok, not_found or 5"),
      ("status not_fund", "not_fund is not a status code", "did you mean not_found?"),
      ("status 17", "17 is not a status code", "such as ok, not_found or 5"),
      ("status < 3", "status is compared with == or != only", nil),
      (
        "error", "missing condition",
        "conditions are ==, !=, <, <=, >, >=, =~, !~, contains, exists, absent, is, size"
      ),
      ("error contains", "missing value after contains", nil),
      (".a contains", "missing value", #"such as 3, "Ada" or {"id":3}"#),
      (".a == unordered", "missing value", #"such as 3, "Ada" or {"id":3}"#),
      (".a exists now", "unexpected text after exists: now", nil),
      (
        "error not found", #"unknown condition "not""#,
        "conditions are ==, !=, <, <=, >, >=, =~, !~, contains, exists, absent, is, size"
      ),
      (#"error == "a" b"#, #""a" b starts with a quote, but is not a JSON string"#, nil),
      ("error ==", "missing value after ==", #"an empty text is """#),
      (
        "detail", "detail requires a type", "such as detail google.rpc.BadRequest .fieldViolations exists"
      ),
      (
        "detail ErrorInfo reason == 1",
        "expected a path after the type of the detail: it starts with a full stop, as .reason", nil
      ),
      ("header", "missing name of a header", nil), ("header a:b", "a:b is not the name of a header", nil),
      (
        "header a ascending", #"unknown condition "ascending""#,
        "conditions are ==, !=, <, <=, >, >=, =~, !~, contains, exists, absent, is, size"
      ),
      ("count", "count must be a number such as 3, or a bound such as >= 2", nil),
      ("count many", "count must be a number such as 3, or a bound such as >= 2", nil),
      ("latency 1s", "latency requires a bound", "such as latency < 1.5s, or latency < 250ms"),
      ("latency < soon", "latency requires a bound", "such as latency < 1.5s, or latency < 250ms"),
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
      (".a", "missing condition after .a", ".a exists, or .a == JSON"),
      (
        ".a[x] == 1",
        #".a[x] is not a path: expected an index, a key in quotes such as ["key"], an extension such as [pkg.name], "#
          + "a type such as [type.googleapis.com/pkg.Type], or [] at byte 3 of the path",
        "such as .user.items[0].name"
      ),
      (".a = 1", #"unknown condition "=""#, "== compares, and =~ matches a regular expression"),
      (".a exist", #"unknown condition "exist""#, "did you mean exists?"),
      (".a ==", "missing value after ==", nil),
      (".a == Ada", "Ada is not JSON: expected a value", #"text and names are quoted: "Ada""#),
      (".a == [1,", "[1, is not JSON: unexpected end of the JSON", nil),
      (".a == 1 within x", "x is not a number after within", "such as within 0.01, or within 1%"),
      (".a == 1 within -1", "-1 is not a number after within", "such as within 0.01, or within 1%"),
      (".a < 1 within 2", "< cannot be followed by unordered or within", nil),
      (".a =~ [", #""[" is not a valid regular expression: missing ]"#, nil),
      (
        ".a is text", "unknown type text after is",
        "types are string, number, integer, bool, list, object, null, uuid, timestamp"
      ),
      (
        ".a is", "missing type after is",
        "types are string, number, integer, bool, list, object, null, uuid, timestamp"
      ),
      (".a size x", "size must be a number such as 3, or a bound such as >= 2", nil),
      (".a golden", "golden requires a file", "such as golden user.json"),
      (".a golden unordered", "golden requires a file", "such as golden user.json"),
    ] as [(String, String, String?)])
  func rejects(_ text: String, _ reason: String, _ hint: String?) {
    let error = #expect(throws: LanguageError.self) { try Condition(parsing: text) }
    #expect(error?.reason == reason)
    #expect(error?.hint == hint)
  }

  @Test func deepJSONIsRejected() {
    let deep = String(repeating: "[", count: 102) + String(repeating: "]", count: 102)
    let error = #expect(throws: LanguageError.self) { try Condition(parsing: ".a == \(deep)") }
    #expect(error?.reason.hasSuffix("nested deeper than 100 levels") == true, "\(error?.reason ?? "")")
  }

  @Test func statusIsRecognized() throws {
    #expect(try Condition(parsing: "status not_found").isAboutStatus)
    #expect(try !Condition(parsing: "error == no item").isAboutStatus)
  }
}

extension String {
  fileprivate var trimmed: String { String(self[...].stripped) }
}
