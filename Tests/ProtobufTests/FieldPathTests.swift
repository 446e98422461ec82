import RPCurlBase
import Testing

@testable import RPCurlProtobuf

/// The syntax of paths.
@Suite struct FieldPathTests {
  @Test(
    arguments: [
      ("a", "a"), (".a", "a"), ("a.b", "a.b"), (".a.b", "a.b"), ("a_1.2", "a_1.2"), ("größe.x", "größe.x"),
      ("a[0]", "a[0]"), ("a[-1].b", "a[-1].b"), ("a[007]", "a[7]"), ("a.[0]", "a[0]"), ("a[]", "a[]"),
      (".a[].b[]", "a[].b[]"), ("[]", "[]"), (".[]", "[]"), ("[0].a", "[0].a"), ("[-1]", "[-1]"),
      (#"labels["a\"]b"]"#, #"labels["a\"]b"]"#), (#"["a b"].c"#, #"["a b"].c"#),
      (#"a["\u0041"]"#, #"a["A"]"#),
      (#"a[""]"#, #"a[""]"#), ("m[true]", "m[true]"), ("m[false]", "m[false]"), ("true.false", "true.false"),
      ("n[18446744073709551615]", "n[18446744073709551615]"),
      ("n[-9223372036854775808]", "n[-9223372036854775808]"),
      ("[pkg.ext].x", "[pkg.ext].x"), ("a.[pkg.ext][1]", "a[pkg.ext][1]"), ("[.ext]", "[.ext]"),
      ("[.pkg.ext]", "[pkg.ext]"), ("a[type.googleapis.com/pkg.T].b", "a[type.googleapis.com/pkg.T].b"),
      ("[/T]", "[/T]"), ("[a-b.com/x/pkg.T]", "[a-b.com/x/pkg.T]"), ("any.@type", "any.@type"), (".", "."),
    ])
  func parsesAndPrints(_ text: String, _ printed: String) throws {
    let path = try FieldPath(text)
    #expect(path.description == printed)
    #expect(try FieldPath(printed) == path)
    #expect(try FieldPath(afterFullStop: printed == "." ? "." : ".\(printed)") == path)
  }

  @Test(arguments: [
    "", "..", "a.", "a..b", "a[", "a]", "[", "[x]", "a[x]", "a[\"x]", "a[\"x\"", "a[\"\\q\"]", "a b", "a[0]b",
    "a[99999999999999999999]", "a[+1]", "a[ 1]", "a[1.5]", "a[-]", "a[--1]", "a[1e3]", "a[TRUE]", "a['x']",
    "[pkg.]", "[..x]", "[pkg..x]", "[.]", "[pkg.x/]", "[a b/pkg.T]", "[x/pkg.T.]", "a-b", "a$", "@", "@typ",
    "a=b", "a\u{0}", "(pkg.ext)", "a.(pkg.ext)", "(", "a.*", "\n",
  ])
  func rejectsInvalidSyntax(_ text: String) {
    let error = #expect(throws: FieldPathError.self) { try FieldPath(text) }
    guard case .syntax(let offset, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect((0...text.utf8.count).contains(offset))
  }

  @Test func parenthesesShowTheNewFormOfAnExtension() {
    let error = #expect(throws: FieldPathError.self) { try FieldPath("a.(pkg.ext).b") }
    #expect(error?.description == "expected an extension in brackets, [pkg.ext] at byte 2 of the path")
  }

  @Test(arguments: ["", "a", "[0]", "a.b", " .a"])
  func conditionsRequireAFullStop(_ text: String) {
    #expect(throws: FieldPathError.syntax(offset: 0, expected: "\".\"")) {
      try FieldPath(afterFullStop: text)
    }
  }

  @Test func limitsSteps() throws {
    let steps = { (count: Int) in [String](repeating: "a", count: count).joined(separator: ".") }
    #expect(try FieldPath(steps(100)).steps.count == 100)
    #expect(throws: FieldPathError.self) { try FieldPath(steps(101)) }
    #expect(throws: FieldPathError.self) { try FieldPath("a" + String(repeating: "[]", count: 100)) }
  }

  @Test(arguments: [
    ("a=b", "a", "b"), ("a==", "a", "="), ("=", "", ""), (#"a["x=y"].b=c="d""#, #"a["x=y"].b"#, #"c="d""#),
    (#"a["\"="]=1"#, #"a["\"="]"#, "1"),
  ])
  func splitsAtTheSeparatorOutsideOfQuotes(_ text: String, _ path: String, _ rest: String) {
    let parts = FieldPath.split(text, at: "=")
    #expect(parts?.path == path && parts?.rest == rest)
  }

  @Test(arguments: ["", "a", #"a["x=y"]"#, #"a["="#])
  func splitsNothingWithoutASeparator(_ text: String) {
    #expect(FieldPath.split(text, at: "=") == nil)
  }

  // MARK: - Random paths

  private static let names = [
    "name", "child", "children", "weight", "texts", "any", "value", "fields", "größe", "a1", "_",
  ]

  private static func step(_ random: inout SeededGenerator) -> FieldPath.Step {
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1, 2: .field(names.randomElement(using: &random) ?? "a")
    case 3: .each
    case 4: .extension(Bool.random(using: &random) ? "test2.ext_number" : "global")
    case 5: .any("type.googleapis.com/test3.Node")
    case 6: .subscripted(.integer(Int64.random(in: -3...3, using: &random)))
    default:
      [
        .subscripted(.integer(.random(in: .min ... .max, using: &random))), .subscripted(.unsigned(.max)),
        .subscripted(.bool(.random(using: &random))), .subscripted(.string(text(&random))),
      ].randomElement(using: &random) ?? .each
    }
  }

  /// Text of the characters of paths, and of some that they do not have.
  private static func text(_ random: inout SeededGenerator) -> String {
    let characters = Array("ab.[]\"\\/@()-01 =~\n\u{0}é🙂$type")
    return String(
      (0..<Int.random(in: 0..<12, using: &random)).map { _ in characters.randomElement(using: &random) ?? "a"
      })
  }

  @Test func printedPathsParseAgain() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<5000 {
      let count = Int.random(in: 0..<8, using: &random)
      let path = FieldPath(steps: (0..<count).map { _ in Self.step(&random) })
      #expect(try FieldPath(path.description) == path, "\(path)")
    }
  }

  @Test func randomTextParsesOrIsRejected() {
    var random = SeededGenerator(seed: 2)
    var accepted = 0
    for _ in 0..<20_000 {
      guard let path = try? FieldPath(Self.text(&random)) else { continue }
      accepted += 1
      #expect(throws: Never.self) { try FieldPath(path.description) }
    }
    #expect(accepted > 100)
  }

  @Test(arguments: ["test3.Node", "test3.Maps", "test3.WellKnown", "test2.Old", "google.protobuf.Value"])
  func anyPathReadsAndWritesWithoutACrash(_ typeName: String) throws {
    let type = try type(typeName)
    var random = SeededGenerator(seed: 3)
    var written = 0
    var message = Message(type)
    for _ in 0..<4000 {
      let path = FieldPath(steps: (0..<Int.random(in: 1..<6, using: &random)).map { _ in Self.step(&random) })
      let before = message.serialized()
      do {
        try message.setText(["1", "x", "{}", "[]", "null"].randomElement(using: &random) ?? "1", at: path)
        written += 1
      } catch {
        #expect(message.serialized() == before)
      }
      if let matches = try? path.matches(in: message) {
        // What exists in a message exists in its type.
        if matches.contains(where: { $0 != nil }) { #expect(throws: Never.self) { try path.leaf(in: type) } }
        #expect(path.hasEach || matches.count == 1)
        #expect((try? message.json(at: path)) != nil)
        if written.isMultiple(of: 7) { try? message.clear(at: path) }
      }
      if message.serialized().count > 10_000 { message = Message(type) }
    }
    #expect(written > 0)
  }
}
