import RPCurlChainSupport
import RPCurlLanguage
import RPCurlProtobuf
import Testing

@testable import RPCurlCEL

@Suite struct CELTests {
  /// The text of an expression's result; `this` is a message of `rules.v1.Lists`.
  private func result(_ text: String, budget: Int = 1_000_000) throws -> String {
    let message = try RuleMessages.make(
      "Lists",
      """
      {"sizes":[1,2,3],"items":["a","b"],"entries":{"x":1},"named":[{"name":"Ada"}],"texts":["t"],\
      "times":["2024-02-29T12:34:56.789Z"],"flags":{"true":false}}
      """)
    let node = try CELParser.parse(text, variables: ["this", "now"])
    var run = RuleRun(budget: budget, now: 1_700_000_000_000_000_000)
    return try CELFormat.text(
      try CELEvaluator.evaluate(node, [.message(message), .timestamp(Int128(run.now))], &run))
  }

  @Test(arguments: [
    // Literals.
    (
      #"[1, -1, 0x1F, 1u, 1.5, .5, 1e3, true, null, 'a', "b", r'\d', b'\x41', 'é\u00e9\101']"#,
      #"[1, -1, 31, 1, 1.5, 0.5, 1000, true, null, a, b, \d, A, ééA]"#
    ),
    ("'''a\n'b'''", "a\n'b"), ("-9223372036854775808", "-9223372036854775808"),
    ("{'a': 1, 'b': [2]}", "{a: 1, b: [2]}"),
    ("[1, 2,]", "[1, 2]"), ("1 // comment", "1"),
    // Operators.
    ("1 + 2 * 3 - 4 / 2 % 3", "5"), ("-7 / 2", "-3"), ("-7 % 2", "-1"), ("2.0 / 4.0", "0.5"),
    ("'a' + 'b'", "ab"),
    ("[1] + [2]", "[1, 2]"), ("--1", "1"), ("!!true", "true"), ("1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3", "true"),
    ("1 == 1.0 && 1u == 1 && 1 < 1.5 && 'a' < 'b' && b'a' < b'b' && false < true", "true"),
    ("[1, 'a'] == [1, 'a'] && {'a': 1} == {'a': 1.0} && 1 != 2 && 'a' != 1", "true"),
    ("true ? 'a' : false ? 'b' : 'c'", "a"), ("false ? 'a' : false ? 'b' : 'c'", "c"),
    ("2 in [1, 2] && 'a' in {'a': 1} && !(3 in [1])", "true"), ("[1, 2][1] + {'a': 3}['a']", "5"),
    ("{'a': 3}.a", "3"),
    // A value that decides counts even if the other operand fails.
    ("false && 1 / 0 == 1", "false"), ("1 / 0 == 1 && false", "false"), ("1 / 0 == 1 || true", "true"),
    ("[0, 1].exists(x, 1 / x == 1)", "true"), ("[0, 2].all(x, 1 / x == 1)", "false"),
    // Fields.
    ("this.sizes", "[1, 2, 3]"), ("this.entries", "{x: 1}"), ("this.named[0].name", "Ada"),
    ("this.texts", "[t]"),
    ("has(this.sizes) && !has(this.numbered) && !has(this.entries.y) && has(this.entries.x)", "true"),
    ("this.colors.size() + this.numbered.size()", "0"), ("this.flags[true]", "false"),
    ("this.times[0]", "2024-02-29T12:34:56.789Z"),
    ("getField(this, 'sizes')[0]", "1"), ("this.named[0] == this.named[0]", "true"),
    // Macros.
    ("this.sizes.all(x, x > 0) && this.sizes.exists(x, x == 2) && this.sizes.exists_one(x, x > 2)", "true"),
    ("this.sizes.filter(x, x > 1)", "[2, 3]"), ("this.sizes.map(x, x * 2)", "[2, 4, 6]"),
    ("this.sizes.map(x, x > 1, x * 2)", "[4, 6]"),
    ("this.entries.all(k, k == 'x')", "true"), ("[1, 2].map(x, [3, 4].map(y, x * y))", "[[3, 4], [6, 8]]"),
    // Functions.
    ("size('é😀') + size(b'ab') + [1].size() + {'a': 1}.size()", "6"),
    ("'abc'.contains('b') && 'abc'.startsWith('a') && 'abc'.endsWith('c')", "true"),
    ("b'abc'.contains(b'b') && b'abc'.startsWith(b'a') && b'abc'.endsWith(b'c')", "true"),
    (#"'a1'.matches(r'^a\d$') && matches('a', 'a')"#, "true"),
    ("[int('12'), int(1.9), int(5u), int(timestamp('1970-01-01T00:00:01.9Z'))]", "[12, 1, 5, 1]"),
    ("[uint('12'), uint(3), uint(1.9)]", "[12, 3, 1]"),
    ("[double('1.5'), double(2), double(3u)]", "[1.5, 2, 3]"),
    ("[string(1), string(1.5), string(true), string(b'a'), string(2u)]", "[1, 1.5, true, a, 2]"),
    (
      "bytes('ab') == b'ab' && bool('true') && !bool('0') && dyn(1) == 1 && type(1) == int && type('') != int",
      "true"
    ),
    (
      "type(now) == google.protobuf.Timestamp && type(duration('1s')) == google.protobuf.Duration && type(1) != google.protobuf.Duration",
      "true"
    ),
    ("[duration('1h30m'), duration('-1.5s'), duration('100ms'), duration('0')]", "[5400s, -1.5s, 0.1s, 0s]"),
    ("timestamp(10) + duration('1s') - duration('500ms')", "1970-01-01T00:00:10.5Z"),
    ("timestamp(10) - timestamp(4)", "6s"), ("now > timestamp(0)", "true"),
    (
      "[duration('90.5s').getHours(), duration('90.5s').getMinutes(), duration('90.5s').getSeconds(), duration('90.5s').getMilliseconds()]",
      "[0, 1, 90, 500]"
    ),
    (
      "this.times.map(t, [t.getFullYear(), t.getMonth(), t.getDate(), t.getDayOfMonth(), t.getDayOfWeek(), t.getDayOfYear()])",
      "[[2024, 1, 29, 28, 4, 59]]"
    ),
    (
      "this.times.map(t, [t.getHours(), t.getMinutes(), t.getSeconds(), t.getMilliseconds(), t.getHours('+02:30'), t.getHours('-13:00')])",
      "[[12, 34, 56, 789, 15, 23]]"
    ),
    ("timestamp(-1).getSeconds()", "59"), ("timestamp(-1).getDayOfWeek()", "3"),
    (
      "(0.0 / 0.0).isNan() && (1.0 / 0.0).isInf() && (1.0 / 0.0).isInf(1) && !(1.0 / 0.0).isInf(-1) && !1.0.isNan()",
      "true"
    ),
    (
      "'a@b.c'.isEmail() && 'a.b'.isHostname() && '1.2.3.4'.isIp() && '1.2.3.4'.isIp(4) && !'1.2.3.4'.isIp(6)",
      "true"
    ),
    (
      "'::/8'.isIpPrefix() && '::/8'.isIpPrefix(6) && '::/8'.isIpPrefix(6, true) && '::1/8'.isIpPrefix(false) && !'::1/8'.isIpPrefix(true)",
      "true"
    ),
    (
      "'http://a'.isUri() && '/a'.isUriRef() && 'a:1'.isHostAndPort(true) && 'a'.isHostAndPort(false)", "true"
    ),
    (
      "[this.sizes.unique(), [1, 1].unique(), ['a', 'b'].unique(), [0.0, -0.0].unique()]",
      "[true, false, true, false]"
    ),
    (
      "['a', 'b'].join() + ['a', 'b'].join(', ') + 'Aé'.lowerAscii() + 'aé'.upperAscii() + ' x '.trim()",
      "aba, baéAéx"
    ),
    // Formats.
    (
      "'%d %x %X %o %b %.2f %s %%'.format([5, 255, 255, 8, 5, 1.239, [1, 'a', 2.5, true, null]])",
      "5 ff FF 10 101 1.24 [1, a, 2.5, true, null] %"
    ),
    ("'%x %X %.0f %f %.1f'.format(['ab', b'\\xff', 2.5, 1, 9.96])", "6162 FF 2 1.000000 10.0"),
    ("'%.3f %.2e %e'.format([2.0005, 12345, 1u])", "2.001 1.23e+04 1.000000e+00"),
  ])
  func evaluates(_ expression: String, _ expected: String) throws {
    #expect(try result(expression) == expected)
  }

  @Test(arguments: [
    ("1 / 0", "division by zero"), ("1 % 0", "division by zero"),
    ("9223372036854775807 + 1", "integer overflow"),
    ("-9223372036854775808 / -1", "integer overflow"), ("-(-9223372036854775808)", "integer overflow"),
    ("1u - 2u", "integer overflow"),
    ("[1][1]", "the index 1 is out of range"), ("[1][-1]", "the index -1 is out of range"),
    ("{'a': 1}['b']", "the map has no such key"),
    ("this.entries.y", "the map has no key y"), ("this.nothing", "rules.v1.Lists has no field nothing"),
    ("'a' + 1", "+ does not apply to string and int"),
    ("1 < 'a'", "< does not apply to int and string"), ("1 && true", "int is not a bool"),
    ("'x'.matches('(')", "\"(\" is not a valid regular expression: missing )"),
    ("int('x')", "\"x\" is not a value of the type int"),
    ("int(1e300)", "int does not convert the value of the type double"),
    ("{'a': 1, 'a': 2}", "a key of a map is repeated"),
    ("1.all(x, true)", "all requires a list or a map, not int"),
    ("'%s'.format([])", "a format has more clauses than values"),
    ("'%d'.format(['a'])", "the clause %d does not apply to string"),
    ("'%.999f'.format([1])", "invalid precision in a format"),
    (
      "timestamp(0).getHours('Europe/Berlin')",
      "the time zone \"Europe/Berlin\" is not supported: use an offset such as +02:00"
    ),
    ("[[1]].unique()", "unique applies to lists of scalars"),
    ("timestamp('9999-12-31T23:59:59Z') + duration('1s')", "the timestamp is out of range"),
    ("timestamp('0001-01-01T00:00:00Z') - duration('1ns')", "the timestamp is out of range"),
    ("duration('87660000h') + duration('1ns')", "the duration is out of range"),
    ("-duration('87660000h') - duration('1ns')", "the duration is out of range"),
    ("duration('87660001h')", "\"87660001h\" is not a value of the type duration"),
    ("timestamp(253402300800)", "timestamp does not convert the value of the type int"),
    (
      "[duration('87660000h')]" + String(repeating: ".map(x, x + x)", count: 45),
      "the duration is out of range"
    ),
  ])
  func reportsErrorsOfEvaluation(_ expression: String, _ reason: String) {
    let problem = #expect(throws: LanguageError.self) { try result(expression) }
    #expect(problem?.reason == reason)
  }

  @Test(arguments: [
    ("", "unexpected end in the expression"), ("1 +", "unexpected end in the expression"),
    ("(1", "expected ) before end in the expression"),
    ("1 2", "unexpected literal in the expression"), ("foo == 1", "foo is not a variable"),
    ("foo(1)", "the function foo with 1 arguments is not supported"),
    ("this.foo(1)", "the function foo with 1 arguments is not supported"),
    ("has(this)", "has requires a field, as in has(this.name)"),
    ("[1].all(1, true)", "all requires the name of a variable"), ("'a", "unterminated string"),
    (#"'\q'"#, "invalid escape in a string"),
    (#"'\ud800'"#, "invalid escape in a string"),
    ("9223372036854775808", "9223372036854775808 is out of range"),
    ("1 # 2", "unexpected character at byte 2 of the expression"),
    ("x.y.Z{a: 1}", "x is not a variable"), ("google.protobuf.Any", "google is not a variable"),
    ("google.protobuf", "google is not a variable"),
    ("this.?a", "expected a name before ? in the expression"),
    ("[1].all(x, y)", "y is not a variable"),
  ])
  func rejects(_ expression: String, _ reason: String) {
    let problem = #expect(throws: LanguageError.self) { try CELParser.parse(expression, variables: ["this"]) }
    #expect(problem?.reason == reason)
  }

  @Test(arguments: ["(", "[", "!", "-", "{1:", "1+", "true?1:", "this.a.", "size("])
  func limitsTheSizeOfExpressions(_ part: String) {
    for count in [150, 5000, 100_000] {
      #expect(throws: LanguageError.self) {
        try CELParser.parse(String(repeating: part, count: count), variables: ["this"])
      }
    }
    #expect(throws: LanguageError.self) {
      try CELParser.parse("1" + String(repeating: " + 1", count: 5000), variables: [])
    }
  }

  @Test func evaluatesTheDeepestExpressions() throws {
    #expect(try result("1" + String(repeating: " + 1", count: 900)) == "901")
    #expect(try result(String(repeating: "(", count: 90) + "1" + String(repeating: ")", count: 90)) == "1")
  }

  @Test(arguments: [
    "this.sizes.map(a, this.sizes.map(b, this.sizes.map(c, this.sizes.map(d, this.sizes.map(e, a + b + c + d + e)))))",
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.matches('(a?){400}b')",
    // Each list contains the one before twice: few steps make it, and visiting its elements takes 2^60.
    "size([[this]]" + String(repeating: ".map(x, [x, x])", count: 60) + ") > 0",
    "[[this]]" + String(repeating: ".map(x, [x, x])", count: 60) + ".all(x, {x: 1, x: 2}.size() == 1)",
    "['', '', '', '', '', '', '', ''].join('\(String(repeating: " ", count: 4000))')",
  ])
  func stopsAtBudget(_ expression: String) {
    let problem = #expect(throws: LanguageError.self) { try result(expression, budget: 1000) }
    #expect(problem?.reason.hasSuffix("takes too long") == true)
  }

  @Test func onlyComparingBytesOfMessagesCostsMoreThanAStep() throws {
    let large = try RuleMessages.make("Lists", #"{"texts":["\#(String(repeating: "a", count: 10_000))"]}"#)
    let small = try RuleMessages.make("Lists", "{}")
    let named = try RuleMessages.make("Named", "{}")
    func areEqual(_ one: Message, _ other: Message, budget: Int) throws(LanguageError) -> Bool {
      var run = RuleRun(now: 0)
      run.budget = budget
      return try CELValue.areEqual(.message(one), .message(other), &run)
    }
    #expect(try areEqual(large, large, budget: 2))
    #expect(try !areEqual(large, named, budget: 2))
    #expect(try !areEqual(large, small, budget: 400))
    #expect(throws: LanguageError.self) { try areEqual(large, small, budget: 300) }
    #expect(throws: LanguageError.self) { try areEqual(small, large, budget: 300) }
    #expect(try areEqual(large, Message(large.type, serialized: large.serialized()), budget: 700))
  }

  @Test(arguments: [
    (0.1, "0.1"), (1e21, "1000000000000000000000"), (1.5e-7, "0.00000015"), (-2, "-2"),
    (123456.75, "123456.75"),
    (1.25e17, "125000000000000000"), (2.5e-300, "0." + String(repeating: "0", count: 299) + "25"), (0, "0"),
    (1.7976931348623157e308, "17976931348623157" + String(repeating: "0", count: 292)),
  ])
  func writesNumbersWithoutExponent(_ number: Double, _ text: String) {
    #expect(DecimalText.plain(number) == text)
  }
}
