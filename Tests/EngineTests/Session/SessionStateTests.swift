import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct SessionStateTests {
  private func state(_ words: String...) throws -> SessionState {
    try SessionState(Parser.parse(words, as: .session), target: nil)
  }

  @Test func keepsTheLastValueOfAnOptionThatDoesNotRepeat() throws {
    var state = try state("--bearer", "a", "-k", "--proto", "a.proto", "-H", "x: 1")
    try state.add(Parser.parse(["--bearer", "b", "-k", "--proto", "b.proto"], as: .session))
    #expect(
      state.fixedArguments == ["--proto", "a.proto", "--bearer", "b", "-k", "--proto", "b.proto"])
  }

  @Test func keepsOneAttributeOfEachKey() throws {
    var state = try state("--attribute", "a=1", "--attribute", "b=2", "--attribute", "a=3")
    #expect(state.commandLine == ["--attribute", "b=2", "--attribute", "a=3"])
    try state.add(Parser.parse(["--attribute", "b=", "--attribute", "c="], as: .session))
    #expect(state.commandLine == ["--attribute", "a=3"])
    #expect(throws: Failure.self) { try state.add(Parser.parse(["--attribute", "="], as: .session)) }
    #expect(throws: Failure.self) { try state.add(Parser.parse(["--attribute", "a"], as: .session)) }
  }

  /// Data has its values already; headers that are typed may be templates.
  @Test func omitsExpansionForExpandedData() throws {
    let typed = try state("--expand=files", "--seed", "1", "-H", "x: ${env.A}")
    #expect(typed.commandLineOfExpandedData == ["-H", "x: ${env.A}", "--expand"])
    var both = typed
    both.headers.set(try SessionState.header("y: ${env.A}"))
    #expect(both.commandLineOfExpandedData == ["-H", "x: ${env.A}", "-H", "y: $${env.A}", "--expand"])
    let plain = try state("--expand", "-H", "x: a")
    #expect(plain.commandLineOfExpandedData == ["-H", "x: a"])
  }

  /// Also if the command line or the session has the option too, the configuration is read again.
  @Test(arguments: [[], ["--expand"], ["--expand=false"]])
  func turnsConfiguredExpansionOffForExpandedData(typed: [String]) throws {
    let configured = try Argument(
      .expand, "all", name: "--expand", .file(path: "config", line: 1, profile: nil))
    let invocation = Parser.parse(typed, as: .session)
    var session = try SessionState(
      Invocation(.session, [configured] + invocation.arguments), target: nil)
    #expect(session.commandLineOfExpandedData == ["--expand=false"])
    try session.add(invocation)
    #expect(session.commandLineOfExpandedData == ["--expand=false"])
  }
}
