import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct SchemaOptionsTests {
  @Test func sourceThatIsNamedAgainIsReadOnce() {
    let words = ["--descriptor-set", "a", "--proto", "x", "--descriptor-set", "b"]
    let options = Parser.parse(words + words, as: .session)
    #expect(options.descriptorSets.map(\.text) == ["a", "b"])
    #expect(options.protos.map(\.text) == ["x"])
  }

  @Test func typedSourcesAreWordsOfACommand() {
    var invocation = Parser.parse(["template", "--descriptor-set", "my file", "-I", "protos", "X"])
    let line = ConfigurationLine(number: 1, name: "--proto", value: "configured.proto")
    invocation.configure([ConfigurationLayer(path: "config", profile: nil, lines: [line])])
    #expect(invocation.protos.map(\.text) == ["configured.proto"])
    #expect(invocation.schemaWords == "--descriptor-set 'my file' -I protos")
  }

  /// Also in the options of a session, which are made of arguments without the report of the files that were read.
  @Test(arguments: [
    (ConfigurationLayer.Owner.user, false), (.project(isTrusted: true), false),
    (.project(isTrusted: false), true),
  ])
  func sourcesOfAnUntrustedProjectFileKeepTheirOrigin(owner: ConfigurationLayer.Owner, isUntrusted: Bool) {
    var invocation = Parser.parse(["session", "--proto", "typed.proto"])
    let line = ConfigurationLine(number: 1, name: "--proto", value: "configured.proto")
    invocation.configure([ConfigurationLayer(path: "config", profile: nil, owner: owner, lines: [line])])
    let options = Invocation(.session, invocation.arguments)
    #expect(options.all(.proto).map(\.origin.isUntrusted) == [false, isUntrusted])
  }
}
