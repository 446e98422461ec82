import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlChain

@Suite struct ChainOrderTests {
  /// The registrations of `NAME[:PRIORITY][<BEFORE][>AFTER]…`.
  private func registrations(_ text: String) -> [InterceptorRegistration] {
    text.split(separator: " ").map { word in
      var parts: [Character: [String]] = [:]
      var mark: Character = "="
      for character in word {
        if ":<>".contains(character) {
          mark = character
          parts[mark, default: []].append("")
        } else {
          parts[mark, default: [""]][parts[mark, default: [""]].count - 1].append(character)
        }
      }
      return InterceptorRegistration(
        name: parts["="]?.first ?? "", factory: ClosureFactory { _, _ in Probe("x", .all, Journal()) },
        priority: parts[":"].flatMap { Int($0[0]) } ?? 0, before: parts["<"] ?? [], after: parts[">"] ?? [])
    }
  }

  private func order(_ text: String) throws -> String {
    try ChainBuilder(registrations(text)).order().map(\.name).joined(separator: " ")
  }

  @Test(arguments: [
    ("a b c", "a b c"), ("a b:1 c", "b a c"),
    ("a b c<a", "c a b"), ("a<b x b", "a x b"), ("a>c b c d", "b c a d"), ("a b c d<b", "a d b c"),
    ("p q x>p z>q<x", "p q z x"), ("a:5 b<a", "b a"), ("a b>a<c c", "a b c"),
    ("a b a c<a", "c a b a"), ("a b c>a>b", "a b c"), ("a b c<?none", "a b c"), ("b>?a a", "a b"),
    ("a<a b a", "a b a"),
  ])
  func placementsMoveOnlyWhatTheyMust(_ text: String, _ expected: String) throws {
    #expect(try order(text) == expected)
  }

  @Test func orderIsStableWhenAppliedAgain() throws {
    for text in ["a:5 b<a c d:2>c", "a b c<a d>b", "p q x>p z>q<x"] {
      let first = try ChainBuilder(registrations(text)).order()
      #expect(try ChainBuilder(first).order().map(\.id) == first.map(\.id))
    }
  }

  @Test func unknownNameIsAnErrorWithTheNamesOnTheChain() {
    let error = #expect(throws: ConfigurationError.self) { try order("log<aut auth retry") }
    #expect(error?.description == "log: before: no other interceptor on the chain is named aut")
    #expect(error?.hint == "on the chain: auth, retry; before=?aut also accepts a chain without it")
    let alone = #expect(throws: ConfigurationError.self) { try order("log>log") }
    #expect(alone?.hint == "the chain has no other interceptor; after=?log also accepts a chain without it")
  }

  @Test(arguments: [
    ("a<b b<a", "b: before: the placements contradict each other: b before a before b"),
    ("a>b b>a", "b: after: the placements contradict each other: b before a before b"),
    ("a b c>b<a", "c: before: the placements contradict each other: "),
    ("a:1 b:2 c<b>a", "c: before: the placements contradict each other: "),
    ("a>b b>c c>a d", "contradict each other"),
  ])
  func cycleIsAnErrorThatNamesItsMembers(_ text: String, _ expected: String) {
    let error = #expect(throws: ConfigurationError.self) { try order(text) }
    #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
    #expect(error?.hint?.hasPrefix("remove or change a placement: ") == true)
  }

  @Test func callFailsIfItsInterceptorsCannotBeOrdered() {
    let call = TestCall(.unary, Journal(), registrations("a<b b<a"))
    call.run()
    #expect(call.end?.code == .invalidArgument)
    #expect(call.end?.error?.origin == .interceptor("b"))
    #expect(call.wireLines.isEmpty)
  }
}
