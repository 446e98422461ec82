import Testing

@testable import RPCurlProtobuf

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

  @Test func decodesEachLengthAndRefusesOneWrongCharacter() {
    for count in 0..<100 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
      let text = Array(Base64.encode(bytes).utf8)
      #expect(Base64.decode(text) == bytes)
      for index in text.indices {
        var wrong = text
        wrong[index] = UInt8(ascii: "*")
        #expect(Base64.decode(wrong) == nil)
      }
    }
  }

  @Test func readsBothAlphabets() {
    #expect(Base64.decode("+/8") == [0xfb, 0xff])
    #expect(Base64.decode("-_8") == [0xfb, 0xff])
  }

  @Test(arguments: [
    // Without padding, with bits after the last byte, and words.
    ("bar", true), ("ab", true), ("ab==", true), ("abd=", true), ("abc=", false), ("name", true),
    ("Adam", true), ("deadbeef", true),
    ("Zm9v", false), ("YmFy", false), ("Zg==", false), ("Zm8=", false), ("-_8=", false), ("AAAA", false),
    ("", false),
    ("aGVsbG8gw6k=", false),
  ])
  func recognizesText(_ text: String, _ isText: Bool) {
    #expect(Array(text.utf8).withUnsafeBytes { Base64.resemblesText($0) } == isText)
  }

  @Test(arguments: [
    "A", "AAAAA", "A===", "Zg=", "=", "==", "Zm=8", "Zm9v=", "Z g=", "Zg==\n", "+_8", "Zm9*", "Zm\u{e9}",
  ])
  func rejectsInvalidText(_ text: String) {
    #expect(Base64.decode(text) == nil)
  }
}
