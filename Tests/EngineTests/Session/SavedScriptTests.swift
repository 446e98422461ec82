import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct SavedScriptTests {
  @Test(arguments: [
    ("a", "a"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"),
    // A character that joins the quote with other scalars is a quote to the shell.
    ("a'\u{301};b", "'a'\\''\u{301};b'"), ("\u{600}'", "'\u{600}'\\'''"),
  ])
  func quotesWordsForShell(word: String, quoted: String) {
    #expect(Array(ShellText(word).quoted.utf8) == Array(quoted.utf8))
  }

  @Test func writesTheAttributesOfTheCommandLine() throws {
    let words = ["tier=gold", "token=x", "text=${A}", "price=$a", "lines=a\nb"].flatMap {
      ["--attribute", $0]
    }
    let record = SessionRecord(try SessionState(Parser.parse(words, as: .session), target: nil))
    #expect(
      SavedScript.session(record, WrittenSecrets(separates: false)) == """
        #!/usr/bin/env -S rpcurl run
        # Set TOKEN in the environment: the value of the attribute token.
        attribute tier=gold
        attribute token=${env.TOKEN}
        attribute text=$${A}
        attribute price=${'$a'}
        options --attribute 'lines=a
        b'

        """)
  }

  @Test func escapesShellSyntaxBesideSecret() {
    let word = WrittenSecrets.Word(
      before: "a\"\u{301}$\u{301}`\u{200D}\\: ", placeholder: .init(name: "TOKEN", meaning: "a token"))
    let quoted = "\"a\\\"\u{301}\\$\u{301}\\`\u{200D}\\\\: ${TOKEN}\""
    #expect(Array(ShellText(word).quoted.utf8) == Array(quoted.utf8))
  }

  @Test func writesHeadersThatTheCommandCannotSetAsOptions() throws {
    func script(_ words: String...) throws -> String {
      let record = SessionRecord(try SessionState(Parser.parse(words, as: .session), target: nil))
      return SavedScript.session(record, WrittenSecrets(separates: false), head: [])
    }
    #expect(try script("-H", "a: 1", "-H", "b: ${k}") == "header a: 1\nheader b: $${k}\n")
    #expect(
      try script("-H", "A: 1", "-H", "a: 2", "--expand", "-H", "b: ${k}")
        == "options --expand\noptions -H 'A: 1'\noptions -H 'a: 2'\noptions -H 'b: ${k}'\n")
  }
}
