import Base
import Glibc
import Protobuf
import Testing

@testable import Language

/// Random paths, templates, conditions and regular expressions: each is parsed, and what is printed is parsed as the same.
@Suite struct RandomTextTests {
  /// 5,000 of each, or a million of all with RPCURL_TESTS=all.
  private static let count = getenv("RPCURL_TESTS").map { String(cString: $0) } == "all" ? 250_000 : 5_000

  private func check(_ make: (inout RandomText<SeededGenerator>) -> String, _ property: (String) -> String?) {
    var random = RandomText(SeededGenerator(seed: 42))
    var failures: [String] = []
    for _ in 0..<Self.count where failures.count < 10 {
      if let failure = property(make(&random)) { failures.append(failure) }
    }
    #expect(failures == [])
  }

  @Test func pathsAreReadAsPrinted() { check({ $0.path() }, LanguageProperty.path) }
  @Test func templatesAreReadAsPrinted() { check({ $0.template() }, LanguageProperty.template) }
  @Test func conditionsAreReadAsPrinted() { check({ $0.condition() }, LanguageProperty.condition) }
  @Test func patternsAreRead() { check({ $0.pattern() }, LanguageProperty.pattern) }
}
