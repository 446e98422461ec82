import Calls
import Testing

@testable import Session

struct SavedScriptTests {
  @Test(arguments: [
    ("a", "a"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"),
    // A character that joins the quote with other scalars is a quote to the shell.
    ("a'\u{301};b", "'a'\\''\u{301};b'"), ("\u{600}'", "'\u{600}'\\'''"),
  ])
  func quotesWordsForShell(word: String, quoted: String) {
    #expect(Array(SavedScript.quoted(word).utf8) == Array(quoted.utf8))
  }

  @Test func escapesShellSyntaxBesideSecret() {
    let word = CommandSecrets.Word(
      before: "a\"\u{301}$\u{301}`\u{200D}\\: ", placeholder: .init(name: "TOKEN", meaning: "a token"))
    let quoted = "\"a\\\"\u{301}\\$\u{301}\\`\u{200D}\\\\: ${TOKEN}\""
    #expect(Array(SavedScript.quoted(word).utf8) == Array(quoted.utf8))
  }
}
