import Testing

@testable import CommandLine

struct ConfigurationTests {
  /// Reads a command line with lines of a file: `NAME VALUE` on each.
  private func configured(_ line: String, _ common: [String], _ own: [String] = []) -> Invocation {
    func lines(_ texts: [String], from start: Int) -> [ConfigurationLine] {
      texts.enumerated().map { index, text in
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        return ConfigurationLine(
          number: start + index, name: parts[0], value: parts.count > 1 ? parts[1] : nil)
      }
    }
    var invocation = Parser.parse(line.split(separator: " ").map(String.init))
    invocation.configure(
      lines(common, from: 1), profile: own.isEmpty ? nil : "p", lines(own, from: 100), path: "f")
    return invocation
  }

  @Test func whatIsTypedTakesPrecedence() {
    let invocation = configured("--max-time 5 h M", ["--max-time 10", "--http2"], ["--max-time 7"])
    #expect(invocation.duration(.maxTime) == .seconds(5))
    #expect(invocation.last(.maxTime)?.origin == .typed(index: 0))
    #expect(invocation.all(.maxTime).map(\.origin.place) == ["f, line 1", "f, line 100", nil])
    #expect(invocation.isTyped(.maxTime) && !invocation.isTyped(.http2))
  }

  @Test func schemasOfTheFileFollowThoseThatAreTyped() {
    let invocation = configured("--protoset a h M", ["--descriptor-set b", "-H x: y"])
    #expect(invocation.all(.descriptorSet).map(\.text) == ["a", "b"])
    #expect(invocation.arguments.map(\.id) == [.header, .descriptorSet, .descriptorSet])
  }

  @Test(arguments: [
    ("-u a:b h M", ["--bearer t"], OptionID.bearer), ("--bearer t h M", ["-u a:b"], .user),
    ("-d x h M", ["-d y"], .data), ("-H x:1 h M", ["--rpc-header X: 2"], .rpcHeader),
  ])
  func whatIsTypedReplaces(line: String, lines: [String], id: OptionID) {
    #expect(configured(line, lines).arguments.count == 1)
  }

  @Test func profilesReplaceCommonLines() {
    let invocation = configured("M", ["target a", "-H x: 1", "-H y: 1"], ["target b", "-H X: 2"])
    #expect(invocation.all(.header).map(\.text) == ["y: 1", "X: 2"])
    #expect(invocation.configuredTarget == Positional("b", .file(path: "f", line: 100, profile: "p")))
  }

  @Test func commandsOmitLinesThatTheyHaveNoUseFor() {
    let invocation = configured(
      "list h", ["-d {}", "--format json", "--use log", "--no-cache", "--kind message"])
    #expect(invocation.errors == [])
    #expect(invocation.arguments.map(\.id) == [.noCache, .kind])
    #expect(configured("h M", ["--kind message"]).arguments == [])
  }

  @Test(arguments: [
    (["--no-such-option 1"], "--no-such-option", "unknown option"),
    (["--max-time soon"], "--max-time soon", "not a valid duration"),
    (["--verbose yes"], "--verbose", "it takes no value"), (["--user"], "--user", "missing value"),
    (["--config x"], "--config", "only for the command line"),
    (["--help"], "--help", "only for the command line"),
  ])
  func errorsHaveTheirLine(lines: [String], what: String, why: String) {
    for command in ["h M", "list h"] {
      let error = configured(command, lines).errors.first
      #expect(error?.what == what)
      #expect(error?.why == why)
      #expect(error?.origin?.place == "f, line 1")
    }
  }
}
