import RPCurlLanguage
import Testing

@Suite struct WholeValueTests {
  @Test(arguments: [
    ("", WholeValue.literal("")), ("plain", .literal("plain")), (" @x", .literal(" @x")),
    ("ENV:A", .literal("ENV:A")),
    ("environment", .literal("environment")), ("env", .literal("env")), ("@file", .file("file")),
    ("@a@b", .file("a@b")), ("@", .file("")), ("@@handle", .literal("@handle")), ("@@@a", .literal("@@a")),
    ("env:HOME", .environment("HOME")), ("env:", .environment("")), ("env::prod", .literal("env:prod")),
    ("env:::a", .literal("env::a")), ("cmd:pass api", .command(["pass", "api"])),
    ("cmd::run", .literal("cmd:run")),
    ("@\u{301}a", .file("\u{301}a")), ("x:env:HOME", .literal("x:env:HOME")),
  ])
  func parses(_ text: String, _ value: WholeValue) throws {
    #expect(try WholeValue(parsing: text) == value)
    if case .literal(let literal) = value {
      #expect(!WholeValue.isElsewhere(text))
      #expect(WholeValue.written(literal) == text)
    } else {
      #expect(WholeValue.isElsewhere(text))
    }
  }

  @Test(arguments: [
    ("a", ["a"]), ("  a\tb \n c ", ["a", "b", "c"]), ("a 'b c'd", ["a", "b cd"]),
    (#"a "b 'c' \"d\" \x""#, ["a", #"b 'c' "d" \x"#]),
    (#"a\ b 'c\d' "e\\f""#, ["a b", #"c\d"#, #"e\f"#]), ("a '' \"\"", ["a", "", ""]), ("a\\\nb", ["ab"]),
    ("\"a\\\nb\"", ["ab"]),
    (#"jq -r '.a | .b'"#, ["jq", "-r", ".a | .b"]),
    (#"sh -c 'echo $HOME; exit'"#, ["sh", "-c", "echo $HOME; exit"]),
    (#"echo \$x "\$y" a#b a~b *"#, ["echo", "$x", "$y", "a#b", "a~b", "*"]),
    ("a\u{301} é'x'", ["a\u{301}", "éx"]),
    ("a \u{a0}b", ["a", "\u{a0}b"]), ("a '\u{301}b'", ["a", "\u{301}b"]),
  ])
  func splitsWordsAsAShell(_ text: String, _ words: [String]) throws {
    #expect(try CommandWords.split(text) == words)
  }

  @Test(arguments: [
    ("", "missing command after cmd:"), ("  ", "missing command after cmd:"),
    ("'' a", "missing command after cmd:"),
    ("a 'b", "a single quote is not closed"), ("a \"b", "a double quote is not closed"),
    ("a \"b\\", "a double quote is not closed"),
    ("a \\", "the command ends with a backslash"), ("a\0b", "a command cannot contain a zero byte"),
    ("a | b", "no shell runs the command, so | has no effect"),
    ("a&", "no shell runs the command, so & has no effect"),
    ("a;b", "no shell runs the command, so ; has no effect"),
    ("a >b", "no shell runs the command, so > has no effect"),
    ("a <b", "no shell runs the command, so < has no effect"),
    ("(a)", "no shell runs the command, so ( has no effect"),
    ("a $HOME", "no shell runs the command, so $ has no effect"),
    ("a \"$HOME\"", "no shell runs the command, so $ has no effect"),
    ("a `b`", "no shell runs the command, so ` has no effect"),
    ("~/a", "no shell runs the command, so ~ has no effect"),
    ("a #b", "no shell runs the command, so # has no effect"),
  ])
  func rejectsWhatAShellWouldInterpret(_ text: String, _ reason: String) {
    #expect(throws: LanguageError.self) { try CommandWords.split(text) }
    do { _ = try CommandWords.split(text) } catch { #expect(error.reason == reason) }
  }
}
