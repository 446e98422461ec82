import CommandLine
import Testing

@testable import Calls

struct SchemaOptionsTests {
  @Test func sourceThatIsNamedAgainIsReadOnce() {
    let words = ["--descriptor-set", "a", "--proto", "x", "--descriptor-set", "b"]
    let options = SchemaOptions(Parser.parse(words + words, as: .session))
    #expect(options.descriptorSets.map(\.text) == ["a", "b"])
    #expect(options.protos.map(\.text) == ["x"])
  }

  @Test func typedSourcesAreWordsOfACommand() {
    var invocation = Parser.parse(["template", "--descriptor-set", "my file", "-I", "protos", "X"])
    let line = ConfigurationLine(number: 1, name: "--proto", value: "configured.proto")
    invocation.configure([ConfigurationLayer(path: "config", profile: nil, lines: [line])])
    let options = SchemaOptions(invocation)
    #expect(options.protos.map(\.text) == ["configured.proto"])
    #expect(options.words == "--descriptor-set 'my file' -I protos")
  }
}
