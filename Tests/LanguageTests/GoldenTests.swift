import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlLanguage

@Suite struct GoldenTests {
  private func scalars() throws -> CallResult {
    try response("test3.Scalars", [#"{"anInt64":"5","aString":"x","aDouble":1.25}"#])
  }

  @Test func contentIsComparedByType() throws {
    let files = MemoryFiles([
      "a.json": #"{"a_double":1.250,"an_int64":5,"a_string":"x","an_int32":0}"#, "text.json": "\"x\"",
      "near.json": #"{"aDouble":1.2,"anInt64":5,"aString":"x"}"#, "out within 3.json": "\"x\"",
    ])
    #expect(try outcome(". golden a.json", scalars(), files) == "holds")
    #expect(try outcome(".aString golden text.json", scalars(), files) == "holds")
    #expect(try outcome(".aString golden \"out within 3.json\"", scalars(), files) == "holds")
    #expect(try outcome(". golden near.json within 0.1", scalars(), files) == "holds")
    #expect(files.written.isEmpty)
  }

  @Test func differencesAreShown() throws {
    let files = MemoryFiles(["a.json": #"{"anInt64":6,"aString":"x","aDouble":1.25}"#])
    let found = try mismatch(". golden a.json", scalars(), files)
    #expect(found.got == #"{"aDouble":1.25,"anInt64":5,"aString":"x"}"#)
    #expect(
      found.diff == """
          {
            "aDouble": 1.25,
        -   "anInt64": 6,
        +   "anInt64": 5,
            "aString": "x"
          }
        """)
  }

  @Test(arguments: [
    ("gone.json", "invalid: gone.json does not exist | --update writes it"),
    ("unreadable", "invalid: unreadable: permission denied"),
    ("bad.json", "invalid: bad.json: expected a value (line 2, column 5) | --update writes it"),
    ("other.json", "invalid: other.json: test3.Scalars has no field \"x\" | --update writes it"),
  ])
  func unusableFilesAreInvalid(_ file: String, _ expected: String) throws {
    let files = MemoryFiles(["bad.json": "{\n\"a\":x}", "other.json": #"{"x":1}"#])
    #expect(try outcome(". golden \(file)", scalars(), files) == expected)
  }

  @Test func updateWritesWhatDiffers() throws {
    let files = MemoryFiles(
      ["same.json": #"{"anInt64":5,"aString":"x","aDouble":1.25}"#, "old.json": "{}", "bad.json": "{"],
      isUpdating: true)
    for file in ["same.json", "old.json", "bad.json", "new.json"] {
      #expect(try outcome(". golden \(file)", scalars(), files) == "holds", "\(file)")
    }
    #expect(files.written == ["old.json", "bad.json", "new.json"])
    #expect(
      files.files["new.json"] == """
        {
          "aDouble": 1.25,
          "anInt64": "5",
          "aString": "x"
        }

        """)
    #expect(files.files["old.json"] == files.files["new.json"])
    #expect(try outcome(". golden new.json", scalars(), MemoryFiles(files.files)) == "holds")
  }

  /// Each message that is checked may write the file, and `any` writes it only if none is equal to it.
  @Test(arguments: [
    ("every", "", "invalid: a.json: written before", "a"), ("any", #"{"name":"b"}"#, "holds", ""),
    ("any", #"{"name":"c"}"#, "holds", "b"), ("any", "", "holds", "b"), ("first", "", "holds", "a"),
    ("", "", "holds", "b"), ("every", #"{"name":"b"}"#, "invalid: a.json: written before", "a"),
  ])
  func updateComparesWithTheFileAsItIs(
    _ messages: String, _ content: String, _ expected: String, _ written: String
  ) throws {
    let files = MemoryFiles(content.isEmpty ? [:] : ["a.json": content], isUpdating: true)
    let result = try response("test3.Node", [#"{"name":"a"}"#, #"{"name":"b"}"#])
    #expect(try outcome("\(messages) . golden a.json", result, files) == expected)
    #expect(files.files["a.json"] == (written.isEmpty ? content : "{\n  \"name\": \"\(written)\"\n}\n"))
  }

  @Test func listsHaveGoldenFiles() throws {
    let files = MemoryFiles(isUpdating: true)
    let result = try response("test3.Node", [#"{"name":"a"}"#, "{}"])
    #expect(try outcome("list . golden all.json", result, files) == "holds")
    #expect(files.files["all.json"] == "[\n  {\n    \"name\": \"a\"\n  },\n  {}\n]\n")
    #expect(try outcome("list . golden all.json", result, MemoryFiles(files.files)) == "holds")
    let other = try response("test3.Node", ["{}", #"{"name":"a"}"#])
    #expect(try outcome("list . golden all.json unordered", other, MemoryFiles(files.files)) == "holds")
    #expect(try mismatch("list . golden all.json", other, MemoryFiles(files.files)).diff != nil)
  }

  @Test func filesThatCannotBeWrittenAreReported() throws {
    let files = MemoryFiles(isUpdating: true)
    #expect(
      try outcome(". golden readonly/file", scalars(), files)
        == "invalid: readonly/file: read-only file system")
  }
}
