import CommandLine
import Output
import Testing

@testable import Session

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

  /// Data is expanded already; headers are not.
  @Test func omitsExpansionForExpandedData() throws {
    let typed = try state("--expand-data", "--seed", "1", "--expand-headers", "-H", "x: ${A}")
    #expect(typed.commandLineOfExpandedData == ["--expand-headers", "-H", "x: ${A}"])
  }

  /// Also if the command line or the session has the option too, the configuration is read again.
  @Test(arguments: [[], ["--expand-data"], ["--expand-data=false"]])
  func turnsConfiguredExpansionOffForExpandedData(typed: [String]) throws {
    let configured = try Argument(
      .expandData, name: "--expand-data", .file(path: "config", line: 1, profile: nil))
    let invocation = Parser.parse(typed, as: .session)
    var session = try SessionState(
      Invocation(.session, [configured] + invocation.arguments), target: nil)
    #expect(session.commandLineOfExpandedData == ["--expand-data=false"])
    try session.add(invocation)
    #expect(session.commandLineOfExpandedData == ["--expand-data=false"])
  }
}
