import RPCurlBase
import Testing

@testable import RPCurlLanguage

@Suite struct TextPatternTests {
  @Test(
    arguments: [
      // Characters and anchors.
      ("", "", true), ("b", "abc", true), ("d", "abc", false), ("^b", "abc", false), ("^a", "abc", true),
      ("c$", "abc", true), ("b$", "abc", false), ("^$", "", true), ("^$", "a", false), (".", "\n", false),
      ("(?s).", "\n", true), ("^b", "a\nb", false), ("(?m)^b$", "a\nb\nc", true), (#"\Aa\z"#, "a", true),
      (#"\bcat\b"#, "a cat!", true), (#"\bcat\b"#, "concat", false), (#"\Bcat"#, "concat", true),
      // Alternatives, groups and flags.
      ("^(a|bc|)$", "bc", true), ("^(a|bc|)$", "", true), ("^(a|bc)$", "b", false),
      ("^(?:ab)+$", "abab", true),
      ("^(?P<name>a)(?<other>b)$", "ab", true), ("(?i)HELLO", "say hello", true), ("a(?i:B)c", "abc", true),
      ("a(?i:B)c", "abC", false), ("a((?i)b)c", "aBC", false), ("(?i)é", "É", true), ("(?i-i)a", "A", false),
      // Repetitions.
      ("^a*$", "", true), ("^a+$", "", false), ("^a?b$", "b", true), ("^a{2}$", "aa", true),
      ("^a{2}$", "aaa", false),
      ("^a{2,}$", "aaaa", true), ("^a{2,3}$", "aaaa", false), ("^a{0}$", "", true),
      ("^a{,2}$", "a{,2}", true),
      ("^a{x$", "a{x", true), ("^(a*)*$", "aaa", true), ("^(a|a?)+?b", "aab", true),
      ("^((a?)*)*$", "b", false),
      // Sets and escapes.
      ("^[a-c]+$", "abc", true), ("^[^a-c]$", "d", true), ("^[^a-c]$", "b", false), ("^[]a]+$", "]a", true),
      ("^[a-]+$", "-a", true), (#"^[\d_-]+$"#, "1_-", true), (#"^\d+$"#, "12", true), (#"^\D$"#, "a", true),
      (#"^\w+\s\W$"#, "aB_1 !", true), (#"^\S$"#, " ", false), (#"^[^\s]$"#, "a", true), (#"\."#, "a", false),
      (#"^\x41\x{1F600}\x{e9}\t$"#, "A😀é\t", true), ("^[😀-😂]$", "😁", true), ("^.$", "😁", true),
      ("^[[:alpha:]_]+$", "aZ_", true), ("^[[:^digit:]]$", "é", true), ("^[[:^digit:]]$", "1", false),
      ("^[^[:space:]]$", "\t", false), (#"^\p{Lu}\pL\PL$"#, "Éé1", true), (#"^\p{^N}$"#, "1", false),
      (#"^\Qa.b(\E+$"#, "a.b((", true), (#"^\Qa.b"#, "axb", false),
    ] as [(String, String, Bool)])
  func finds(_ pattern: String, _ text: String, _ isFound: Bool) throws {
    #expect(try TextPattern(pattern).isFound(in: text) == isFound)
  }

  @Test(arguments: [
    (#"^\d$"#, "٣", false), (#"^\w$"#, "é", false), (#"^\s$"#, "\u{a0}", false), (#"^\W$"#, "é", true),
    (#"^\w+ \d\s$"#, "a_B 1\n", true), (#"\bé"#, "aé", true), (#"\Bb"#, "ab", true),
  ])
  func classesOfRE2AreASCII(_ pattern: String, _ text: String, _ isFound: Bool) throws {
    #expect(try TextPattern(pattern).isFound(in: text) == isFound)
  }

  @Test(arguments: [
    ("a|ab", "ab", "a", nil), ("a+", "baa", "aa", nil), ("a+?", "baa", "a", nil), ("(?U)a+", "aa", "a", nil),
    ("(?U)a+?", "aa", "aa", nil), ("(a*)*", "b", "", ""), ("(a|b)+", "abba!", "abba", "a"),
    ("(?:x)(y)(z)", "xyz", "xyz", "y"),
    ("(?P<n>é)+", "ééa", "éé", "é"), ("x|(y)", "x", "x", nil), ("(a){0}b", "ab", "b", nil),
    (#"(\w+)@(\w+)"#, "to ada@example now", "ada@example", "ada"),
  ])
  func prefersTheMatchOfPerl(_ pattern: String, _ text: String, _ match: String, _ group: String?) throws {
    #expect(try TextPattern(pattern).firstMatch(in: text) == TextPattern.Match(text: match, group: group))
  }

  @Test func stopsAtBudget() throws {
    let pattern = try TextPattern("(a?){100}b")
    var budget = 10_000
    #expect(pattern.isFound(in: String(repeating: "a", count: 100_000), budget: &budget) == nil)
    budget = 10_000
    #expect(pattern.isFound(in: "aab", budget: &budget) == true)
    #expect((0..<10_000).contains(budget))
  }

  @Test func searchForTheFirstMatchStopsAtBudget() throws {
    let pattern = try TextPattern("(a?){100}b")
    let error = #expect(throws: LanguageError.self) {
      try pattern.firstMatch(in: String(repeating: "a", count: 100_000), budget: 10_000)
    }
    #expect(error?.reason == "the regular expression takes too long")
    #expect(try pattern.firstMatch(in: "aab", budget: 10_000)?.text == "aab")
  }

  @Test(arguments: [
    ("(", "missing )"), (")", "unmatched )"), ("[a", "missing ]"), ("a**+", "possessive"),
    ("*", "nothing to repeat"), (#"(a)\1"#, "backreferences"), ("(?=a)", "lookaround"),
    ("(?<!a)b", "lookaround"),
    ("(?>a)", "atomic"), (#"\"#, "trailing backslash"), (#"\y"#, "not supported"), ("[b-a]", "range"),
    ("a{3,2}", "out of range"),
    ("a{99999999999999999999}", "out of range"), ("a{1001}", "out of range"),
    ("(a{1000}){1000}", "too large"), (#"\xg1"#, "code"),
    (#"\x{110000}"#, "code"), ("[[:alfa:]]", "unknown class"), (#"\p{Greek}"#, "categories"),
    ("(?i", "missing"),
    (String(repeating: "(", count: 100_000), "too deep"),
  ])
  func rejects(_ pattern: String, _ why: String) {
    let error = #expect(throws: LanguageError.self) { try TextPattern(pattern) }
    #expect(error?.reason.contains(why) == true, "\(error?.reason ?? "")")
  }

  @Test(arguments: [
    "((((){10}){10}){10})", "(((a{0}){10}){10}){10}", "(?:((?:|){1000}())*b){0}", "((?:()*()+){1000,})",
  ])
  func compilesRepetitionsOfEmptyParts(_ pattern: String) throws {
    #expect(try TextPattern("^x\(pattern)y$").isFound(in: "xy"))
    #expect(try !TextPattern("^x\(pattern)y$").isFound(in: "xay"))
  }

  /// Backtracking engines need time that doubles with each character here.
  @Test(arguments: [#"^(\w+\s?)*$"#, "^(a|aa)+$", "^(a*)*$", "(a?){40}a{40}$"])
  func takesLinearTime(_ pattern: String) throws {
    #expect(try !TextPattern(pattern).isFound(in: String(repeating: "a", count: 20_000) + "!"))
  }

  @Test(arguments: [
    "", "abc", "^[a-z]{2,5}$", "^\\d+(\\.\\d{1,2})?$", "a|bc|d{3}", "(?i)x[[:digit:]]y", "^[^a-zA-Z0-9]$",
    "^\\p{Lu}\\p{Ll}*$",
    "^[A-Z]{3}-[0-9]{4}$", "^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$", "[\\x{1F600}-\\x{1F64F}]", "^.*$",
    "^\\Q.*\\E$", "^\\s\\S$", "^\\W$",
    "^/(a|b)+/?$", "^$",
  ])
  func examplesMatch(_ source: String) throws {
    let pattern = try TextPattern(source)
    var random = SeededGenerator(seed: 1)
    for more in [0, 1, 5, 20] {
      let example = try #require(pattern.example(repeating: more, using: &random))
      #expect(pattern.isFound(in: example), "\(example.debugDescription)")
    }
  }

  @Test(arguments: ["[^\\x{0}-\\x{10ffff}]", "(?:a{1000}){1000}", "(?:a{1000}b?){11}"])
  func someExpressionsHaveNoExample(_ source: String) {
    guard let pattern = try? TextPattern(source) else { return }
    var random = SeededGenerator(seed: 1)
    #expect(pattern.example(repeating: 1, using: &random) == nil)
  }
}
