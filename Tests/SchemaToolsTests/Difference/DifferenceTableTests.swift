import Testing

@testable import RPCurlSchemaTools

struct DifferenceTableTests {
  private func row(_ text: String, path: String = "a.proto", rule: Rule? = .fieldNoDelete)
    -> DifferenceTable.Row
  {
    let side = SchemaFinding.Side(file: "a.proto", package: "p", place: SourcePlace(line: 3, column: 5))
    let finding = SchemaFinding(
      rule: rule, file: "a.proto", symbol: "p.M", text: text, old: side, new: side)
    return DifferenceTable.Row(finding, path: path, old: "old/a.proto:3:5")
  }

  @Test func writesATableForEachFile() {
    let rows = [row("one"), row("two", rule: nil), row("three", path: "b.proto")]
    #expect(
      DifferenceTable.text(rows, summary: "2 breaking changes (FILE)") == """
        ### rpcurl diff: 2 breaking changes (FILE)

        #### `a.proto`: 2 changes

        | Line | Before | Change | Rule |
        |---|---|---|---|
        | 3:5 | `old/a.proto:3:5` | `one` | `FIELD_NO_DELETE` |
        | 3:5 | `old/a.proto:3:5` | `two` | addition |

        #### `b.proto`: 1 change

        | Line | Before | Change | Rule |
        |---|---|---|---|
        | 3:5 | `old/a.proto:3:5` | `three` | `FIELD_NO_DELETE` |

        """)
    #expect(
      DifferenceTable.text([], summary: "no breaking changes") == "### rpcurl diff: no breaking changes\n")
  }

  @Test(arguments: [
    ("plain", "`plain`"), ("a | b", "`a \\u{7C} b`"), ("a\\|b", "`a\\\\u{7C}b`"), ("`x`", "`` `x` ``"),
    ("a ``` b", "````a ``` b````"), ("a\nb\u{1b}", "`a\\nb\\u{1B}`"), ("", "`  `"),
    ("<img src=x> @user #1", "`<img src=x> @user #1`"),
  ])
  func textsOfSchemasAreCode(text: String, code: String) {
    #expect(DifferenceTable.code(text) == code)
  }

  @Test func theSizeIsBounded() {
    let long = DifferenceTable.text([row(String(repeating: "x", count: 1_000_000))], summary: "")
    #expect(long.utf8.count < 1_000)
    let rows = (0..<10_000).map { row("change \($0)") }
    let text = DifferenceTable.text(rows, summary: "")
    #expect(text.utf8.count < DifferenceTable.limitBytes && text.utf8.count > 59_000)
    let shown = text.split(separator: "\n").filter { $0.contains("| `change") }.count
    #expect(text.hasSuffix("\n\(10_000 - shown) more changes: run `rpcurl diff`.\n"))
  }
}
