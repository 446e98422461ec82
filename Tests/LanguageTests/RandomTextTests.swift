import RPCurlBase
import RPCurlLanguageSupport
import RPCurlPlatform
import RPCurlProtobuf
import Testing

@testable import RPCurlLanguage

/// Random paths, templates, conditions and regular expressions: each is parsed, and what is printed is parsed as the same. Changed
/// text is parsed too, or is an error with a hint.
@Suite struct RandomTextTests {
  /// 5,000 of each, or a million of all with RPCURL_TESTS=all.
  private static let count = getenv("RPCURL_TESTS").map { String(cString: $0) } == "all" ? 250_000 : 5_000

  private func check(
    _ make: (inout RandomText<SeededGenerator>) -> String, _ property: (String, Bool) -> String?
  ) {
    var random = RandomText(SeededGenerator(seed: 42))
    var failures: Set<String> = []
    for number in 0..<Self.count where failures.count < 10 {
      let text = make(&random)
      if let failure = property(text, true) { failures.insert(failure) }
      let other = random.mutated(text)
      if let failure = property(other, false) { failures.insert(failure) }
      // Of many bytes, quadratic time would take minutes.
      guard number.isMultiple(of: Self.count / 20), !other.isEmpty else { continue }
      _ = property(String(repeating: other, count: 20_000 / other.utf8.count + 1), false)
    }
    #expect(failures == [])
  }

  @Test func pathsAreReadAsPrinted() { check({ $0.path() }, LanguageProperty.path) }
  @Test func templatesAreReadAsPrinted() { check({ $0.template() }, LanguageProperty.template) }
  @Test func conditionsAreReadAsPrinted() { check({ $0.condition() }, LanguageProperty.condition) }
  @Test func patternsAreRead() { check({ $0.pattern() }, LanguageProperty.pattern) }
}
