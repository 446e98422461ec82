import RPCurlLanguage
import RPCurlCommandSupport
import RPCurlPlatform
import RPCurlProgram
import Testing

@testable import RPCurlEngine

@Suite struct SuiteTests {
  private func suite(_ text: String) throws -> RPCurlEngine.Suite {
    try RPCurlEngine.Suite("a.rpcurl", parsing: Array(text.utf8))
  }

  private func mistake(_ text: String) -> String? {
    do throws(Failure) {
      _ = try RPCurlEngine.Suite("a.rpcurl", parsing: Array(text.utf8))
      return nil
    } catch {
      return error.message.map { message in
        let hint = message.why == "no such command" ? message.hint : nil
        return "\(message.what): \(message.why)" + (hint.map { " (\($0))" } ?? "")
      }
    }
  }

  @Test func fileOfSharedStepsHasNoTests() throws {
    #expect(try suite("# steps\nshared\ncall A\n").isShared)
    #expect(try !suite("set a = 1\n").isShared)
  }

  @Test func setupMayFollowItsCommands() throws {
    #expect(try suite("target h:1\nsetup\nset a = 1\ntest a\n").setup.map(\.line) == [1, 3])
  }

  @Test func readsAllParts() throws {
    let suite = try suite(
      """
      # a comment
      tags smoke "two words"
      timeout 30s
      exclusive
      setup
      target h:1
      set user = {
        "name": "Ada"
      }

      test says hello  
      tags fast
      timeout 1s
      rows users.csv name=email
      call Hello {}
      step look it up
      retry until=2s every=5ms
      expect . == {
        "a": [1]
      } unordered
      expect status ok
      test other
      skip not yet
      teardown
      call Reset
      """)
    #expect(suite.tags == ["smoke", "two words"])
    #expect(suite.limit == .seconds(30) && suite.isExclusive)
    #expect(suite.setup.map(\.line) == [6, 7])
    #expect(suite.teardown.map(\.statement.head) == ["call Reset"])
    #expect(suite.tests.map(\.name) == ["says hello", "other"])
    let test = try #require(suite.tests.first)
    #expect(test.line == 11 && test.tags == ["fast"] && test.limit == .seconds(1))
    #expect(
      test.rows
        == RPCurlEngine.Suite.Rows(path: "users.csv", nameField: "email", types: ColumnTypes(), line: 14))
    #expect(test.steps.map(\.name) == [nil, "look it up"])
    #expect(test.steps[1].retry == RPCurlEngine.Suite.Retry(limit: .seconds(2), pause: .milliseconds(5)))
    #expect(test.steps[1].commands.map(\.line) == [18, 21])
    #expect(test.steps[1].commands[0].statement.head.hasSuffix("} unordered"))
    #expect(suite.tests[1].skipReason == "not yet")
  }

  @Test(arguments: [
    ("test\n", "a.rpcurl, line 1: wrong usage"),
    ("test a\ntest b\ntest a\n", "a.rpcurl, line 3: two tests have the name a"),
    ("\nretry until=1s", "a.rpcurl, line 2: retry: only possible in a test"),
    ("teardown\ntest a", "a.rpcurl, line 2: test: not possible here"),
    ("test a\nsetup", "a.rpcurl, line 2: setup: not possible here"),
    ("test a\nretry soon", "a.rpcurl, line 2: wrong usage"),
    ("test a\nrows", "a.rpcurl, line 2: wrong usage"),
    ("test a\nrows a.csv field=b", "a.rpcurl, line 2: wrong usage"),
    ("test a\nexit\n", "a.rpcurl, line 2: exit: not possible in a suite"),
    ("call A\n", "a.rpcurl, line 1: no test has this command: the file has no tests"),
    (
      "setup\nset a = 1\nexpect status ok\n",
      "a.rpcurl, line 3: no test has this command: the file has no tests"
    ),
    ("shared\ntest a\n", "a.rpcurl, line 2: test: not possible in a file of shared steps"),
    ("test a\nshared\n", "a.rpcurl, line 2: shared: not possible here"),
    ("tets a\n", "a.rpcurl, line 1: tets: no such command (did you mean test?)"),
    ("test a\nstpe b\n", "a.rpcurl, line 2: stpe: no such command (did you mean step?)"),
    (
      "test a\nteardown\nnonsense",
      "a.rpcurl, line 3: nonsense: no such command (run \"help\" to list the commands)"
    ),
    ("timeout 0s", "a.rpcurl, line 1: wrong usage"), ("exclusive yes", "a.rpcurl, line 1: wrong usage"),
    ("test a\nexclusive", "a.rpcurl, line 2: exclusive: not possible here"),
    ("test a\ncall A {\"b\":\n", "a.rpcurl, line 2: the value is not complete at the end of the file"),
    ("test a\nexpect . == [\n1,\n", "a.rpcurl, line 2: the value is not complete at the end of the file"),
  ])
  func reportsMistakes(_ text: String, _ expected: String) {
    #expect(mistake(text) == expected)
  }

  // MARK: Rows

  @Test func readsRowsOfCSV() throws {
    let rows = try DataRows.parse(
      "a.CSV",
      Array("\u{FEFF}name,text\r\nAda,\"a \"\"b\"\", c\"\r\n\r\n\"two\nlines\",\r\nA\rB,\rC\r\r\nD,E\r".utf8))
    #expect(
      rows.map(\.text) == [
        #"{"name":"Ada","text":"a \"b\", c"}"#, #"{"name":"two\nlines","text":""}"#,
        #"{"name":"A\rB","text":"\rC\r"}"#, #"{"name":"D","text":"E"}"#,
      ])
  }

  @Test(arguments: [
    ("a.csv", "a,b\n1\n", "a.csv, line 2: 1 fields, but the first line has 2"),
    ("a.csv", "a\n\"b", "a.csv, line 2: missing closing quotation mark"),
    ("a.csv", "a\n\"b\"c\n", "a.csv, line 2: text after a closing quotation mark"),
    ("a.csv", "a\n\"b\"\rc\n", "a.csv, line 2: text after a closing quotation mark"),
    ("a.csv", "a\n", "a.csv: no rows"), ("a.csv", "a,,b,,a\n", "a.csv: two columns have the name a"),
    ("a.ndjson", "{}\n[1]\n", "a.ndjson, line 2: not an object"),
    ("a.ndjson", "{\n", "a.ndjson, line 1: unexpected end of the JSON"),
  ])
  func reportsInvalidRows(_ path: String, _ text: String, _ expected: String) {
    do throws(Failure) {
      _ = try DataRows.parse(path, Array(text.utf8))
      Issue.record("no error")
    } catch {
      #expect(error.message.map { "\($0.what): \($0.why)" } == expected)
    }
  }

  @Test func columnsOfCSVHaveTypes() throws {
    let types = try ColumnTypes(parsing: "n:int,x:number,ok:bool,list:json,id:string")
    let text = "id,n,x,ok,list,other\n7,-007,1.50,TRUE,\"[1,\"\"a\"\"]\",8\n,,,,,\n"
    let rows = try DataRows.parse("a.csv", Array(text.utf8), types)
    #expect(
      rows.map(\.text) == [
        #"{"id":"7","n":-7,"x":1.50,"ok":true,"list":[1,"a"],"other":"8"}"#,
        #"{"id":"","n":null,"x":null,"ok":null,"list":null,"other":""}"#,
      ])
  }

  @Test(arguments: [
    ("n:int", "a.csv", "n\n1.5\n", #"a.csv, line 2: n: "1.5" is not a value of the type int"#),
    ("n:number", "a.csv", "n\ntrue\n", #"a.csv, line 2: n: "true" is not a value of the type number"#),
    ("n:bool", "a.csv", "n\n1\n", #"a.csv, line 2: n: "1" is not a value of the type bool"#),
    ("n:json", "a.csv", "n\n{\n", #"a.csv, line 2: n: "{" is not a value of the type json"#),
    ("m:int", "a.csv", "n\n1\n", "a.csv: no column m"),
    ("n:int", "a.ndjson", "{}", "a.ndjson: only columns of CSV have types"),
  ])
  func refusesFieldsOfAnotherType(_ types: String, _ path: String, _ text: String, _ expected: String) throws
  {
    let types = try ColumnTypes(parsing: types)
    do throws(Failure) {
      _ = try DataRows.parse(path, Array(text.utf8), types)
      Issue.record("no error")
    } catch {
      #expect(error.message.map { "\($0.what): \($0.why)" } == expected)
    }
  }

  @Test(arguments: ["int", ":int", "n:integer", "n:", "n:int,", "n:int,,m:int"])
  func refusesColumnsWithoutType(_ text: String) {
    #expect(throws: LanguageError.self) { try ColumnTypes(parsing: text) }
    #expect(mistake("test a\nrows a.csv \(text)")?.contains("not a column and its type") == true)
  }

  @Test func namesOfRowsDiffer() throws {
    let text = #"{"n":"Ada"}"# + "\n{}\n" + #"{"n":7}"# + "\n" + #"{"n":"Ada"}"#
    let rows = try DataRows.parse("a.ndjson", Array(text.utf8))
    #expect(DataRows.names(of: rows, by: "n") == ["Ada, row 1", "row 2", "7", "Ada, row 4"])
    #expect(DataRows.names(of: rows, by: nil) == ["row 1", "row 2", "row 3", "row 4"])
    let equal = try DataRows.parse("a.csv", Array("n\na\na\n\"a, row 1\"\n".utf8))
    #expect(DataRows.names(of: equal, by: "n") == ["a, row 1, row 1", "a, row 2", "a, row 1, row 3"])
  }

  // MARK: Selection

  @Test(
    arguments: [
      (["hello"], [], true), (["@fast"], [], true), (["@slow"], [], false), (["SAYS*"], [], true),
      (["*hello"], [], true), (["s*h*o"], [], true), (["s*x*o"], [], false), (["hello*"], [], false),
      ([], ["@fast"], false), ([], ["bye"], true), (["says hello"], ["*"], false),
    ] as [([String], [String], Bool)])
  func selectsTests(_ included: [String], _ excluded: [String], _ isSelected: Bool) {
    #expect(SuiteSelection(included, without: excluded).includes("says hello", tags: ["fast"]) == isSelected)
  }

  // MARK: Format

  @Test func formatsFiles() throws {
    let suite =
      "target h:1  \nset a = 1\n\n\n# about it\ntest one\t\ncall A {\n\"b\": [\n1\n],\n   \"c\": 2\n}\n# last\ntest two\n"
      + "  expect . == {\n\"a\": 1}\nteardown\ncall B\n\n\n"
    let expected =
      "target h:1\nset a = 1\n\n# about it\ntest one\ncall A {\n  \"b\": [\n    1\n  ],\n  \"c\": 2\n}\n\n# last\ntest two\n"
      + "expect . == {\n  \"a\": 1}\n\nteardown\ncall B\n"
    let once = try SuiteFormatter.format("a.rpcurl", Array(suite.utf8))
    #expect(String(decoding: once, as: UTF8.self) == expected)
    #expect(try SuiteFormatter.format("a.rpcurl", once) == once)
  }

  @Test(arguments: [
    ("a.rpcurl", "a.rpcurl"), ("./a.rpcurl", "a.rpcurl"), ("tests//./a.rpcurl", "tests/a.rpcurl"),
    ("/home/tests/a.rpcurl", "tests/a.rpcurl"), ("/homework/a.rpcurl", "/homework/a.rpcurl"),
    ("../a", "../a"), ("-", "-"),
  ])
  func normalizesPaths(_ path: String, _ normalized: String) {
    #expect(SuitePath.normalized(path, in: "/home") == normalized)
  }

  @Test func findsEachFileOnce() throws {
    let directory = try #require(TemporaryDirectory())
    directory.makeDirectory("tests")
    let file = directory.write("tests/a.rpcurl", [])
    let others = ["\(directory.path)/tests", "\(directory.path)/./tests/a.rpcurl"]
    #expect(try SuiteFiles.find([file] + others) == [file])
  }

  @Test func findsExclusiveFiles() throws {
    let directory = try #require(TemporaryDirectory())
    let files = ["exclusive\ntest a\n", "test a\n", "exclusive\n{"].enumerated().map { index, text in
      directory.write("\(index)", text.utf8)
    }
    #expect(SuiteFiles.special(files + ["-"]).exclusive == [files[0]])
    #expect(SuiteFiles.special([files[0]]).exclusive == [])
  }

  @Test func resolvesPathsBesidesTheSuite() {
    #expect(Directory.path(of: "a.csv", besides: "tests/b.rpcurl") == "tests/a.csv")
    #expect(Directory.path(of: "a.csv", besides: "b.rpcurl") == "a.csv")
    #expect(Directory.path(of: "/a.csv", besides: "tests/b.rpcurl") == "/a.csv")
  }
}

struct SuiteOrderTests {
  @Test func linesAreReadAgain() {
    let order = SuiteOrders.Order(test: 3, number: 1_000_000)
    #expect(order.line == "3 1000000\n")
    #expect(SuiteOrders.Order(order.line.dropLast()) == order)
  }

  @Test(arguments: ["", "3", "3 4 5", "-1 0", "0 -1", "a b", "3 99999999999999999999"])
  func otherLinesAreRefused(line: String) {
    #expect(SuiteOrders.Order(line) == nil)
  }

  @Test func weightsAreNumbers() throws {
    let suite = try Suite("a", parsing: Array("test a\nweight 3\ntest b\ntest c\nweight 0\n".utf8))
    #expect(suite.tests.map(\.weight) == [3, 1, 0])
    for text in ["", "x", "-1", "1.5", "1000001"] {
      #expect(throws: Failure.self) { try Suite("a", parsing: Array("test a\nweight \(text)\n".utf8)) }
    }
    #expect(throws: Failure.self) { try Suite("a", parsing: Array("weight 1\n".utf8)) }
  }
}
