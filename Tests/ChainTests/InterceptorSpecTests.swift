import RPCurlLanguage
import Testing

@testable import RPCurlChain

@Suite struct InterceptorSpecTests {
  private let sources = ValueSources(
    file: { path throws(LanguageError) in
      guard path == "secret.txt" else { throw LanguageError("no such file") }
      return "s3cret\n"
    },
    environment: { $0 == "TOKEN" ? "t0ken" : $0 == "NOTATION" ? "env:TOKEN" : nil },
    command: { words throws(LanguageError) in
      guard words[0] == "pass" else { throw LanguageError("no such command") }
      return "\(words.dropFirst())\n\n"
    })

  private func parse(_ text: String) throws(ConfigurationError) -> InterceptorSpec {
    try InterceptorSpec(parsing: text, sources: sources)
  }

  @Test func keepsSettingsInOrder() throws {
    let spec = try parse("header,set=a:1,add=b:2,set=c:3=4")
    #expect(spec.name == "header")
    #expect(spec.settings.map { "\($0.key) \($0.value)" } == ["set a:1", "add b:2", "set c:3=4"])
  }

  @Test func twoCommasAreOne() throws {
    #expect(try parse("x,a=1,,2,,,b=3").settings.map(\.value) == ["1,2,", "3"])
  }

  @Test(arguments: [
    (#"x,check='.tags == ["a","b"]',name=y"#, [#".tags == ["a","b"]"#, "y"]),
    ("x,a='it''s, fine',b='',c=''''", ["it's, fine", "", "'"]), ("x,a='@f',b='env:A'", ["@f", "env:A"]),
    (#"x,a=["b,,c",{"d":"]"}],b=1"#, [#"["b,,c",{"d":"]"}]"#, "1"]), (#"x,a="\",",b=2"#, [#""\",""#, "2"]),
    (#"x,a={"b":[1,2]} + 1,,2"#, [#"{"b":[1,2]} + 1,2"#]), (#"x,a=b'c,d=e"f"#, ["b'c", #"e"f"#]),
    ("x,a='b' ,c='d'", ["b", "d"]),
  ])
  func valuesEndAtTheMatchOfTheirFirstCharacter(_ text: String, _ values: [String]) throws {
    #expect(try parse(text).settings.map(\.value) == values)
  }

  @Test(arguments: ["", "a", "a,b", "'a", "it's", "[", "@f", "env:A", "''", ",", #"{"a":'b'}"#])
  func quotedValuesAreReadAsTheirText(_ value: String) throws {
    #expect(try parse("x,a=\(SettingScanner.inQuotes(value)),b=1").settings.map(\.value) == [value, "1"])
  }

  @Test func delimitersEndBeforeCombiningScalars() throws {
    let spec = try parse("x,a=\u{301}1,\u{301}b=2,,\u{301},c=@@\u{301}")
    #expect(spec.settings.map(\.key) == ["a", "\u{301}b", "c"])
    #expect(spec.settings.map(\.value) == ["\u{301}1", "2,\u{301}", "@\u{301}"])
  }

  @Test func valuesComeFromElsewhere() throws {
    let values = try parse(
      "x,a=@secret.txt,b=env:TOKEN,c=@@literal,d=a@b,e=cmd:pass 'a b' c,f=env::x,g=cmd::x,h=env:NOTATION"
    ).settings.map(\.value)
    #expect(
      values == [
        "s3cret", "t0ken", "@literal", "a@b", #"["a b", "c"]"# + "\n", "env:x", "cmd:x", "env:TOKEN",
      ])
  }

  /// Only what the user wrote may be elsewhere.
  @Test func settingsKnowWhetherTheirValueIsWritten() throws {
    let written = try parse("x,a=n:env:A,b=env:NOTATION,c=@@n,d=").settings.map(\.isWritten)
    #expect(written == [true, false, false, true])
    let later = try InterceptorSpec(
      parsing: "x,a=env:TOKEN,b=env:TOKEN", sources: sources, readsLater: { $1 == "a" })
    #expect(later.settings.map(\.value) == ["env:TOKEN", "t0ken"])
    #expect(later.settings.map(\.isWritten) == [true, false])
  }

  @Test func chainInterpretsPriorityAndMethods() throws {
    let spec = try parse("x,priority=-3,k=v,methods=a.B/*")
    #expect(spec.common.priority == -3)
    #expect(spec.common.scope.methods == Selection([.service("a.B")]))
    #expect(spec.settings.map(\.key) == ["k"])
  }

  @Test(arguments: [
    ("", "missing name"), (",auth,bearer=S3CRET", "'': missing name"), ("x,", "setting 1"),
    ("x,a", "setting 1"), ("x,=1", "setting 1"),
    ("x,priority=high", "priority: not a whole number"), ("x,methods=?", "methods: ?: none of"),
    ("x,a=@none", "a: no such file"),
    ("x,a=env:NONE", "a: the environment variable NONE"), ("x,a=cmd:none", "a: no such command"),
    ("x,a=cmd:pass | S3CRET", "a: no shell runs the command"),
    ("x,a='b,c=1", "a: the value does not end at the match of its first character"),
    ("x,a='b' c,d=1", "a: text follows the closing single quote"), ("x,a='b''c'd", "a: text follows"),
    ("x,a=[1,c=2", "a: the value does not end at the match of its first character"),
  ])
  func errorNamesTheInvalidSetting(_ text: String, _ part: String) {
    let error = #expect(throws: ConfigurationError.self) { try parse(text) }
    #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
  }

  @Test func hintShowsSettingOfInterceptor() {
    let error = #expect(throws: ConfigurationError.self) {
      try InterceptorSpec(parsing: "x,a:b", sources: sources, example: { $0 == "x" ? "set=NAME:VALUE" : nil })
    }
    #expect(error?.reason == "setting 1 is not of the form KEY=VALUE")
    #expect(error?.hint == "write x,set=NAME:VALUE; write a value with a comma in single quotes: KEY='a,b'")
  }
}
