import RPCurlPlatform
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

/// What is written about commands elsewhere, compared with their table.
struct SessionVerbTests {
  private static func file(_ path: String) throws -> [UInt8] {
    let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
    return try FileContents.read("\(root)/\(path)", limitBytes: 1 << 20)
  }

  private func names(where isIncluded: (SessionVerb) -> Bool) -> Set<String> {
    Set(SessionVerb.all.filter(isIncluded).map(\.name))
  }

  @Test func namesAreUniqueWords() {
    let names = SessionVerb.all.map(\.name)
    #expect(names.count == Set(names).count)
    for name in names where name != "!" {
      #expect(!name.isEmpty && name.allSatisfy { ("a"..."z").contains($0) })
    }
    for word in Suite.Word.allCases { #expect(SessionVerb.named(word.rawValue) == nil) }
  }

  /// The words of the first group of a rule's pattern.
  private func words(of rule: String, in grammar: JSONValue) throws -> Set<String> {
    let rule = try #require(grammar["repository"]?[rule])
    guard case .string(let pattern)? = rule["match"] ?? rule["begin"] else { return [] }
    let group = pattern.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
    return Set(group.split(separator: "|").map(String.init))
  }

  @Test func grammarForEditorsHasTheWords() throws {
    let grammar = try JSONValue(parsing: Self.file("docs/rpcurl.tmLanguage.json"))
    #expect(try words(of: "expect", in: grammar) == names(where: \.isCheck))
    let call = try words(of: "call", in: grammar)
    #expect(call == names(where: \.acceptsMessages))
    // Each command with JSON values is in one of two rules.
    #expect(try call.union(words(of: "set", in: grammar)) == names { $0.arguments.last == .json })
    let blocks: Set<String> = ["setup", "test", "step", "teardown"]
    #expect(try words(of: "block", in: grammar) == blocks)
    #expect(
      try words(of: "word", in: grammar) == Set(Suite.Word.allCases.map(\.rawValue)).subtracting(blocks))
  }

  @Test func manualDescribesEachCommand() throws {
    let lines = String(decoding: try Self.file("man/rpcurl-session.1"), as: UTF8.self).split(separator: "\n")
    let words = lines.filter { $0.hasPrefix(".It Cm ") }.flatMap { $0.split(separator: " ") }
      .map { $0.hasPrefix("\\&") ? $0.dropFirst(2) : $0 }
    #expect(names { !words.contains(Substring($0.name)) } == [])
  }

  /// Files must not contain what these arguments may be.
  @Test func commandsWithCredentialsSayWhereTheyAre() {
    let places: [(argument: SessionVerb.Argument, secrets: SessionVerb.Secrets)] = [
      (.header, .named), (.attribute, .named), (.variable, .named), (.condition, .ofCheck),
      (.specification, .settings),
    ]
    for (argument, secrets) in places {
      // Without a value, or with another name, the argument is only a name.
      let isName = secrets == .named
      let verbs = SessionVerb.all.filter { verb in
        verb.arguments.first == argument
          && (!isName || verb.arguments.count > 1 && verb.arguments.last != .header)
      }
      #expect(!verbs.isEmpty)
      for verb in verbs { #expect(verb.secrets == secrets, "\(verb.name)") }
    }
  }

  @Test func readsValuesAndOutputsOfCommandsThatAcceptThem() throws {
    for verb in SessionVerb.all {
      let line = "\(verb.name) M \(verb.acceptsMessages ? "" : "= "){\"a\": 1}"
      var reader = SessionStatementReader()
      let values = try #require(try reader.add(line)).values
      #expect(values.count == (verb.arguments.last == .json ? 1 : 0), "\(line)")
      let written = try? reader.add("\(line) > file")
      #expect((written?.output != nil) == verb.acceptsOutput, "\(line)")
    }
  }

  @Test func settingsHaveCommands() {
    for option in SessionState.settable {
      #expect(SessionVerb.named(option.sessionVerb)?.saving == .withWords, "\(option.name)")
    }
  }
}
