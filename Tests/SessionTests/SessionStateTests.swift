import CommandLine
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
}
