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
}
