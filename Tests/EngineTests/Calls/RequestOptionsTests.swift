import RPCurlProgram
import Testing

@testable import RPCurlEngine

struct RequestOptionsTests {
  /// Scripts of `save` turn configured expansion off, and read a configured seed again.
  @Test func expansionThatIsOffHasNoSeed() {
    let seeds = [["--expand"], ["--expand=files"], ["--expand=false"], []].map {
      Parser.parse(["call", "--seed", "5"] + $0).seed
    }
    #expect(seeds == [5, 5, nil, 5])
  }
}
