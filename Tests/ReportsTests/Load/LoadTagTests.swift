import RPCurlLanguage
import RPCurlReports
import Testing

struct LoadTagTests {
  @Test(arguments: [("branch=main", "branch", "main"), ("a.b_c-1==x y", "a.b_c-1", "=x y"), ("n=", "n", "")])
  func isANameAndAValue(text: String, name: String, value: String) throws {
    let tag = try LoadTag(text)
    #expect((tag.name, tag.value) == (name, value) && tag.text == text)
  }

  @Test(arguments: ["", "branch", "=main", "a b=c", "a,b=c", "é=c"])
  func rejectsOtherNames(text: String) {
    #expect(throws: LanguageError.self) { try LoadTag(text) }
  }
}
