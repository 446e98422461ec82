import RPCurlCommandSupport
import RPCurlProgram
import RPCurlProtobuf
import Testing

@testable import RPCurlEngine

@Suite struct VariableArgumentsTests {
  private func variables(_ texts: [String]) throws -> VariableArguments {
    let invocation = Parser.parse(["call"] + texts.flatMap { ["--var", $0] })
    let sources = ArgumentSources(environment: { ["TOKEN": "a: 1\n"][$0] }, secrets: SecretPrompt())
    return try VariableArguments(invocation.all(.variable), sources)
  }

  @Test func readsJSONOrElseText() throws {
    let read = try variables(["a=1", "b=x y", "c={\"d\":[true]}", "e=", "a=2", "f==", "g=env::x"])
    #expect(
      read.values == [
        "a": .number("2"), "b": .string("x y"), "c": try JSONValue(parsing: Array("{\"d\":[true]}".utf8)),
        "e": .string(""), "f": .string("="), "g": .string("env:x"),
      ])
    #expect(read.secrets.isEmpty)
  }

  @Test func valueFromElsewhereIsASecretText() throws {
    let read = try variables(["a=env:TOKEN"])
    #expect(read.values == ["a": .string("a: 1")])
    #expect(read.secrets == ["a": "a: 1"])
  }

  @Test func valueWithTheNameOfASecretIsASecret() throws {
    let read = try variables(["password=hunter2", "api_token=env:TOKEN", "pin=1", "secret={\"a\":1}"])
    #expect(read.secrets == ["password": "hunter2", "api_token": "a: 1", "secret": "{\"a\":1}"])
    #expect(try variables(["a=env:TOKEN", "a=1"]).secrets.isEmpty)
  }

  /// Calls `body` with the path of a file.
  private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
    let directory = try #require(TemporaryDirectory())
    try body(directory.write("variables", text.utf8))
  }

  @Test func namesAFileThatIsMissing() {
    let failure = #expect(throws: Failure.self) { try variables(["@/none"]) }
    #expect(failure?.message?.what == "--var @/none")
    #expect(failure?.message?.why == "No such file or directory")
  }

  @Test func readsVariablesOfAFile() throws {
    let text = "# comment\n\nuser=Ada L\r\nids=[1,2]\napi_token=s3cret=\nat=@@home\n"
    try withFile(text) { path in
      let read = try variables(["user=x", "@\(path)", "ids=3"])
      #expect(
        read.values == [
          "user": .string("Ada L"), "ids": .number("3"), "api_token": .string("s3cret="),
          "at": .string("@home"),
        ])
      #expect(read.secrets == ["api_token": "s3cret="])
    }
  }

  @Test(arguments: [
    ("user", "line 2", "not NAME=VALUE"), ("last=1", "line 2: last", "a value of the language has this name"),
    ("a=env:TOKEN", "line 2: a", "a file of variables contains values"),
    ("a=cmd:id", "line 2: a", "a file of variables contains values"),
    ("a=@/etc/passwd", "line 2: a", "a file of variables contains values"),
  ])
  func rejectsALineOfAFile(line: String, what: String, why: String) throws {
    try withFile("ok=1\n\(line)\n") { path in
      let failure = #expect(throws: Failure.self) { try variables(["@\(path)"]) }
      #expect(failure?.status == .usage)
      #expect(failure?.message?.what == "\(path), \(what)")
      #expect(failure?.message?.why == why)
      #expect(failure?.message?.hint != nil)
    }
  }

  @Test(arguments: [
    ("a", "--var a", "not NAME=VALUE"), ("=a", "--var =a", "not NAME=VALUE"),
    ("last=1", "--var last", "a value of the language has this name"),
    ("row=1", "--var row", "a value of the language has this name"),
    ("env=1", "--var env", "a value of the language has this name"),
    ("request=1", "--var request", "a value of the language has this name"),
    ("a=@/none", "--var a=@/none", "No such file or directory"),
    ("a=cmd:", "--var a=", "missing command after cmd:"), ("a.b=1", "--var a.b", "invalid name"),
    ("a-b=1", "--var a-b", "invalid name"),
    ("a=env:NONE", "--var a=env:NONE", "the environment variable is not set"),
  ])
  func rejects(text: String, what: String, why: String) {
    let failure = #expect(throws: Failure.self) { try variables([text]) }
    #expect(failure?.status == .usage)
    #expect(failure?.message?.what == what)
    #expect(failure?.message?.why == why)
    #expect(failure?.message?.hint != nil)
  }

  @Test(arguments: ["--seed 1", "--var a=1"])
  func requiresExpand(option: String) {
    let words = option.split(separator: " ").map(String.init)
    let failure = #expect(throws: Failure.self) { try CallPlan.ofOrders("Place", words) }
    #expect(failure?.message?.why == "requires --expand")
    #expect(failure?.message?.hint?.contains("add --expand") == true)
    #expect(failure?.message?.what == words[0])
  }
}
