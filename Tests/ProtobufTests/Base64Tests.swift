import Testing

@testable import Protobuf

@Suite struct Base64Tests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
  ])
  func encodesAndDecodes(_ text: String, _ encoded: String) {
    #expect(Base64.encode(Array(text.utf8)) == encoded)
    let bare = encoded.replacing("=", with: "")
    #expect(Base64.encode(Array(text.utf8), padding: false) == bare)
    #expect(Base64.decode(encoded) == Array(text.utf8))
    #expect(Base64.decode(bare) == Array(text.utf8))
  }

  @Test func readsBothAlphabets() {
    #expect(Base64.decode("+/8") == [0xfb, 0xff])
    #expect(Base64.decode("-_8") == [0xfb, 0xff])
  }

  @Test(arguments: [
    "A", "AAAAA", "A===", "Zg=", "=", "==", "Zm=8", "Zm9v=", "Z g=", "Zg==\n", "+_8", "Zm9*", "Zm\u{e9}",
  ])
  func rejectsInvalidText(_ text: String) {
    #expect(Base64.decode(text) == nil)
  }
}
