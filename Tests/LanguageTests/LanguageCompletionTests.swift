import RPCurlProtobuf
import RPCurlProtobufSupport
import RPCurlProtocols
import Testing

@testable import RPCurlLanguage

@Suite struct LanguageCompletionTests {
  private let scope: LanguageScope

  init() throws {
    let type = try type("test23.Modern")
    var scope = LanguageScope(
      statuses: StatusNames(["ok", "canceled", "invalid_argument"]), environment: ["HOME", "PATH"])
    scope.types = [type]
    scope.variables = ["user", "user2"]
    scope.last = LanguageScope.Call(
      type: type, words: CallValue.Word.ofLast, headers: ["x-id"], trailers: ["x-end"],
      details: ["google.rpc.ErrorInfo", "shop.Unknown"])
    scope.request = LanguageScope.Call(type: type)
    scope.value = { reference in
      let ada = JSONValue.object([
        .init(name: "name", value: .string("Ada")), .init(name: "a b", value: .null),
        .init(name: "more", value: .object([])),
      ])
      switch "\(reference)" {
      case "user", "row": return ada
      case "user2": return .number("3")
      default: return nil
      }
    }
    scope.typeNames = { ["pkg.One", "pkg.Two"] }
    scope.files = { LanguageCompletion($0, ["a.json", "b/"].map { .init($0) }) }
    self.scope = scope
  }

  private func texts(_ typed: String, _ place: LanguagePlace) -> [String] {
    LanguageCompletion(typed, at: place, in: scope).candidates.map(\.text)
  }

  @Test(arguments: [
    ("impl", ["implicit"]), (".impl", ["implicit"]), ("de", ["delimited", "delimited."]),
    ("delimited.op", ["open"]),
    ("delimited.delimited.chec", ["checked"]), ("children[\"a.b\"].chec", ["checked"]),
    ("children[\"a\\\"].b\"].chec", ["checked"]), ("children.k.chec", ["checked"]),
    ("children[].chec", ["checked"]),
    ("chi", ["children", "children[]", "children[].", "children."]),
    ("children[", ["children[]", "children[]."]),
    ("children[\"k\"]", ["children[\"k\"]", "children[\"k\"]."]), ("packed[0]", ["packed[0]"]),
    ("nothing.x", []), ("implicit.x", []), ("children[\"a", []),
  ])
  func completesPaths(typed: String, expected: [String]) {
    #expect(texts(typed, .path) == expected)
  }

  @Test func completesExtensionsAndTypesOfAny() throws {
    var scope = scope
    scope.types = [try type("test2.Strict")]
    let extensions = LanguageCompletion("[test2.", at: .path, in: scope)
    #expect(extensions.candidates.map(\.text).contains("[test2.strict_ext]"))
    #expect(extensions.replaced == "[test2.")
    scope.types = [try type("test3.WellKnown")]
    let types = LanguageCompletion("any[type.googleapis.com/test3.Sca", at: .path, in: scope)
    #expect(types.candidates.map(\.text) == ["any[type.googleapis.com/test3.Scalars]"])
    let fields = LanguageCompletion("any[type.googleapis.com/test3.Scalars].aStr", at: .path, in: scope)
    #expect(fields.candidates.map(\.text) == ["aString"])
  }

  @Test(arguments: [
    ("any.", ["any.@type"]), ("any.va", []), ("any", ["any", "any["]), ("..a", []), ("any..", []),
  ])
  func contentOfAnAnyIsNamedByItsType(typed: String, expected: [String]) throws {
    var scope = scope
    scope.types = [try type("test3.WellKnown")]
    let found = LanguageCompletion(typed, at: .path, in: scope)
    let stem = typed.dropLast(found.replaced.count)
    let texts = found.candidates.map { "\(stem)\($0.text)" }
    #expect(texts.filter { !$0.hasPrefix("anys") } == expected)
  }

  /// Keys are those of the last message.
  @Test(arguments: [
    ("texts.", ["texts.a"]), ("texts.b", []), ("texts[", [#"texts["a"]"#, #"texts["b.c"]"#]),
    (#"texts["b"#, [#"texts["b.c"]"#]), ("numbers[", ["numbers[7]"]),
    ("flags[", ["flags[false]", "flags[true]"]),
    ("nodes[-1].nam", ["nodes[-1].name"]),
  ])
  func completesKeysOfMaps(typed: String, expected: [String]) throws {
    var scope = scope
    let maps = try type("test3.Maps")
    let json = #"{"texts":{"a":"x","b.c":"y"},"numbers":{"7":"8"}}"#
    scope.types = [maps]
    scope.last = LanguageScope.Call(type: maps, message: try Message(maps, json: Array(json.utf8)))
    for (place, before) in [(LanguagePlace.path, ""), (.condition, ".")] {
      let found = LanguageCompletion(before + typed, at: place, in: scope)
      let stem = typed.dropLast(found.replaced.count)
      let texts = found.candidates.map { "\(stem)\($0.text)".filter { $0 != " " } }
      #expect(texts.filter { !$0.hasSuffix("[]") && !$0.hasSuffix("[].") } == expected)
    }
  }

  @Test func completesFilesAfterGolden() {
    #expect(texts(".children golden ", .condition) == ["a.json", "b/"])
    #expect(texts(".children golden a", .condition) == ["a.json"])
    var scope = scope
    scope.files = nil
    #expect(LanguageCompletion(".children gol", at: .condition, in: scope).candidates == [])
  }

  @Test func offersOnlyFunctionsThatHaveAValue() {
    var scope = scope
    scope.functions = Function.ofText
    let texts = LanguageCompletion("${", at: .text, in: scope).candidates.map(\.text)
    #expect(texts.contains("uuid()}"))
    #expect(!texts.contains { ["offset", "last(", "message"].contains(where: $0.hasPrefix) })
  }

  @Test func notesTypes() {
    let found = LanguageCompletion("op", at: .path, in: scope)
    #expect(found == LanguageCompletion("op", [LanguageCompletion.Candidate("open", "test23.Open")]))
  }

  @Test(arguments: [
    ("impl", ["implicit="]), ("pack", ["packed[]="]), ("delim", ["delimited."]),
    ("chi", ["children[].", "children."]),
    ("open=", ["ZERO", "ONE"]), ("open=O", ["ONE"]), ("implicit=1", []), ("children[\"=\"].op", ["open="]),
  ])
  func completesAssignments(typed: String, expected: [String]) {
    #expect(texts(typed, .assignment).filter { $0 != "children." || expected.contains($0) } == expected)
  }

  @Test func completesPairs() {
    #expect(texts("impl", .copy) == ["implicit:"])
    #expect(texts("implicit:chec", .copy) == ["checked"])
    #expect(texts("checked:up", .transform(["upper", "truncate("])) == ["upper"])
  }

  @Test(arguments: [
    ("stat", ["status "]), ("status inv", ["invalid_argument"]), ("status ok,can", ["canceled"]),
    ("status ok, can", ["canceled"]),
    ("status != can", ["canceled"]), ("status =", ["== "]), (".impl", ["implicit "]),
    ("first .impl", ["implicit "]),
    ("message 3 .impl", ["implicit "]), ("message ", []), ("list .impl", ["implicit "]),
    ("detail Err", ["ErrorInfo "]),
    ("detail ErrorInfo .reas", ["reason "]), ("detail ErrorInfo e", ["exists"]),
    ("detail ErrorInfo .reason con", ["contains "]),
    (".checked con", ["contains "]), (".packed asc", ["ascending"]), (".implicit asc", []),
    ("list .implicit asc", ["ascending"]),
    (".packed <", []), (".packed == [1] unor", ["unordered"]), (".implicit == 1 with", ["within "]),
    (".checked == 1 with", []),
    (".open == O", ["ONE"]), (".open != ", ["ZERO", "ONE"]), (".checked is uu", ["uuid"]),
    (".children size >", [">= ", "> "]),
    (".none == ", []), ("header x-", ["x-id "]), ("trailer x-", ["x-end "]),
    ("header x-id con", ["contains "]),
    ("header x-id asc", []), ("error =", ["== ", "=~ "]), (".checked == .im", []),
    ("count >", [">= ", "> "]),
    ("latency ", ["<= ", "< ", ">= ", "> "]), (".checked == ${us", ["user}", "user.", "user2}"]),
    ("conn", ["connection "]), ("connection h", ["http "]), ("connection http =", ["== ", "=~ "]),
    ("certificate ", ["expires ", "subject ", "issuer ", "name "]), ("certificate expires <", ["<= ", "< "]),
    ("certificate name con", ["contains "]),
    ("nothing ", []),
  ])
  func completesConditions(typed: String, expected: [String]) {
    #expect(texts(typed, .condition) == expected)
  }

  @Test func completesEachWordOfTheParser() {
    let words = Set(texts("", .condition))
    #expect(words.isSuperset(of: ConditionParser.Word.allCases.map { "\($0.rawValue) " }))
    let tests = Set(
      (texts(".checked ", .condition) + texts(".packed ", .condition)).map { $0.filter { $0 != " " } })
    #expect(tests == Set(Comparison.allCases.map(\.rawValue) + ValueCondition.Word.allCases.map(\.rawValue)))
    #expect(texts(".checked is ", .condition) == ValueKind.allCases.map(\.rawValue))
    #expect(
      texts(".packed == [1] ", .condition).map { $0.filter { $0 != " " } }
        == ComparisonRules.Word.allCases.map(\.rawValue))
    let values = texts("${", .text)
    #expect(
      Function.allCases.allSatisfy { function in values.contains { $0.hasPrefix("\(function.rawValue)(") } })
    #expect(Reference.Root.allCases.allSatisfy { values.contains("\($0.rawValue).") })
    #expect(Set(texts("${last.", .text)).isSuperset(of: ["status}", "header.", "trailer.", "detail."]))
    #expect(texts("", .elsewhere) == WholeValue.Prefix.allCases.map(\.rawValue))
  }

  @Test func completesConditionsWithoutSchema() {
    var scope = scope
    scope.types = []
    #expect(
      LanguageCompletion("co", at: .condition, in: scope).candidates.map(\.text) == ["connection ", "count "])
    #expect(LanguageCompletion(".x", at: .condition, in: scope) == LanguageCompletion("x", []))
    #expect(LanguageCompletion(".x == ", at: .condition, in: scope).candidates == [])
  }

  @Test func completesNames() {
    #expect(texts("p9", .named(["p50", "p99"], isText: false)) == ["p99 "])
    #expect(texts("p99 ", .named(["p99"], isText: false)) == ["== ", "!= ", "<= ", "< ", ">= ", "> "])
    #expect(texts("x-id con", .named([], isText: true)) == ["contains "])
    #expect(texts("env:H", .elsewhere) == ["HOME"])
    #expect(texts("@f", .elsewhere) == [])
  }

  @Test(arguments: [
    ("a ${us", ["user}", "user.", "user2}"]), ("${la", ["last}", "last.", "last()}"]),
    ("${env.HO", ["HOME}"]),
    ("${last.impl", ["implicit}"]), ("${last.st", ["status}"]), ("${last[-1].impl", ["implicit}"]),
    ("${last[0]", [".", "}"]),
    ("${last.delimited.impl", ["implicit}"]), ("${user.n", ["name}"]), ("${user.a", []),
    ("${user.m", ["more}", "more."]),
    ("${row.n", ["name}"]), ("${request.impl", ["implicit}"]), ("${request.st", []),
    ("${base64(us", ["user", "user.", "user2"]),
    ("${random(1, us", ["user", "user.", "user2"]), ("${uu", ["uuid()}"]), ("${base64(uu", ["uuid()"]),
    ("${last.he", ["header."]),
    ("${last.header.", ["x-id}"]), ("${last.trailer.x-e", ["x-end}"]),
    ("${last.detail.Err", ["ErrorInfo}", "ErrorInfo."]),
    ("${last.detail.ErrorInfo.reas", ["reason}"]), ("${last.detail.Unknown.x", []),
    ("${message(pkg.T", ["pkg.Two, "]),
    ("${message(pkg.One, us", ["user", "user.", "user2"]),
    ("${message(pkg.One, {\"a\": us", []),
    ("${message(pkg.One, {\"a\": ${us", ["user}", "user.", "user2}"]),
    ("${[1, ${us", ["user}", "user.", "user2}"]),
    ("${message(pkg.One, {\"a\": [${user2}, {}]})", []),
    ("${file(us", []), ("${now(us", []), ("${user}${us", ["user}", "user.", "user2}"]),
    ("${base64('a}(')} ${user2", ["user2}"]),
    ("${base64('us", []), ("${user.name.x", []), ("${base64(user2)", []),
    ("${random(uuid(), us", ["user", "user.", "user2"]),
  ])
  func completesValues(typed: String, expected: [String]) {
    #expect(texts(typed, .text) == expected)
  }

  @Test(arguments: ["", "a", "$${us", "${user}", "$us", "a$"])
  func completesNothingOutsideOfExpressions(typed: String) {
    #expect(LanguageCompletion(typed, at: .text, in: scope) == .none)
  }

  @Test(arguments: [
    ("$us", ["user", "user.", "user2"]), ("x: $us", ["user", "user.", "user2"]),
    ("{\"a\":$last.impl", ["implicit"]),
    ("$uu", []), ("\"$us", []), ("a$us", []), ("$user x", []), ("$user.n", ["name"]),
  ])
  func completesShortForms(typed: String, expected: [String]) {
    var scope = scope
    scope.hasShortForm = true
    #expect(LanguageCompletion(typed, at: .text, in: scope).candidates.map(\.text) == expected)
  }

  @Test func completesNoValuesInLiteralText() {
    var scope = scope
    scope.isLiteral = true
    #expect(LanguageCompletion("${us", at: .text, in: scope) == .none)
    #expect(LanguageCompletion(".checked == ${us", at: .condition, in: scope).candidates == [])
  }

  // MARK: Properties

  /// Each text that candidates make from nothing, in up to so many steps, can be continued to text that is parsed.
  @Test(arguments: [("path", 3), ("assignment", 3), ("condition", 4), ("value", 3)])
  func candidatesBeginValidText(name: String, steps: Int) throws {
    let (start, place, ends, parse) = try #require(rules[name])
    var texts = [start]
    for _ in 0..<steps {
      var next: [String] = []
      for text in texts {
        let found = LanguageCompletion(text, at: place, in: scope)
        #expect(text.hasSuffix(found.replaced), "\(text)")
        for candidate in found.candidates {
          #expect(candidate.text.hasPrefix(found.replaced), "\(candidate)")
          let completed = text.dropLast(found.replaced.count) + candidate.text
          let isBegin = ends.contains { (try? parse(completed + $0)) != nil }
          #expect(isBegin, "\(completed)")
          if completed != text { next.append(String(completed)) }
        }
      }
      // A part of the many texts, spread over all of them.
      texts = next.enumerated().filter { $0.offset % max(1, next.count / 400) == 0 }.map(\.element)
    }
  }

  private typealias Rules = (start: String, LanguagePlace, ends: [String], parse: (String) throws -> Void)

  private var rules: [String: Rules] {
    let (type, statuses) = (scope.types[0], scope.statuses)
    return [
      "path": ("", .path, ["", "k", "implicit"], { _ = try FieldPath($0).leaf(in: type) }),
      "assignment": (
        "", .assignment, ["", "1", "implicit=1", "k.implicit=1", "k=1"],
        { text in
          guard let (path, _) = FieldPath.split(text, at: "=") else { throw LanguageError("no value") }
          _ = try FieldPath(path).leaf(in: type)
        }
      ),
      "condition": (
        "", .condition,
        [
          "", "exists", "1", "ok", "a", "1s", "< 1s", "== a", "x exists", ".x exists", "0 .x exists",
          "x == a", "string", "a.json", "[1]", "http exists", "expires > 1d",
        ],
        { _ = try Condition(parsing: $0, statuses: statuses) }
      ),
      "value": (
        "${", .text, ["", "x", "1"].flatMap { start in closings.map { "\(start)\($0)}" } } + [""],
        { _ = try Template(parsing: $0) }
      ),
    ]
  }

  /// The ends of up to three calls.
  private var closings: [String] {
    (0..<3).reduce([""]) { closings, _ in
      [""] + closings.flatMap { rest in [")", ",1)", ",{})"].map { "\($0)\(rest)" } }
    }
  }

  @Test func longTextTakesLinearTime() {
    // Each of these took quadratic time with a search from each character.
    for text in ["${", "${a(", ".a", "[", "status ok,", "${last.", "\"", "${'", "${\""] {
      let typed = String(repeating: text, count: 100_000 / text.utf8.count)
      for place in [LanguagePlace.path, .assignment, .condition, .text, .copy] { _ = texts(typed, place) }
    }
  }
}
