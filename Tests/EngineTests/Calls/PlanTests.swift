import RPCurlChain
import Testing

@testable import RPCurlEngine

struct ChainWarningsTests {
  /// A factory that only declares.
  private struct Declared: InterceptorFactory {
    let declaration: InterceptorDeclaration
    func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? { nil }
  }

  private static let declarations: [String: InterceptorDeclaration] = [
    "redact-both": .init(
      stages: [.requestMessage, .responseMessage], effects: [.redacts, .changesMessages]),
    "redact-response": .init(stages: .responseMessage, effects: .redacts),
    "log": InterceptorDeclaration(effects: .exports).keepingResponses(),
    "record": InterceptorDeclaration(effects: [.exports, .readsMessages]).keepingResponses(),
    "sign": .init(
      stages: [.requestStart, .requestMessage, .requestEnd], effects: [.readsMessages, .changesHeaders]),
    "sign-headers": .init(stages: .requestStart, effects: [.readsHeaders, .changesHeaders]),
    "header": .init(stages: .requestStart, effects: .changesHeaders),
    "encrypt": .init(stages: .requestMessage, messages: MessageAccesses(request: .opaque)),
    "edit": .init(stages: .requestMessage, effects: .changesMessages),
    "edit-response": .init(stages: .responseMessage, effects: .changesMessages),
    "cache": .init(
      stages: [.requestStart, .requestMessage, .responseMessage],
      effects: [.readsHeaders, .readsMessages, .responds, .reusesResponses]),
    "log-requests": .init(stages: .requestMessage, effects: .exports),
    "mock": .init(stages: .request, effects: .responds),
    "auth": .init(stages: .requestStart, effects: [.authenticates, .changesHeaders]),
    "renewing-auth": .init(effects: [.authenticates, .changesHeaders, .repeatsAttempts]),
    "retry": InterceptorDeclaration(effects: .repeatsAttempts).keepingResponses(),
    "fault": .init(effects: .injectsFailures),
    "fault-headers": .init(
      stages: .requestStart, effects: [.injectsFailures, .readsHeaders, .changesHeaders]),
    "assert": InterceptorDeclaration(effects: .checksResults).keepingResponses(),
    "undeclared": .init(),
  ]

  @Test(arguments: [
    ("", []), ("log", []), ("undeclared log undeclared", []),
    ("redact-response log", ["log receives responses before redact-response redacts them"]),
    ("log redact-response", []),
    ("log redact-both", ["log receives requests before redact-both redacts them"]),
    ("redact-both log redact-response", []), ("log-requests redact-response", []),
    ("redact-both log", ["log receives responses before redact-both redacts them"]),
    ("redact-both log-requests", []),
    ("sign edit", ["edit changes messages after sign has read them"]), ("edit sign", []),
    ("sign encrypt", ["encrypt changes messages after sign has read them"]), ("encrypt sign", []),
    ("record edit", ["edit changes messages after record has read them"]), ("edit record", []),
    ("sign edit-response", []),
    // A signature of the body does not cover the headers.
    ("sign auth", []), ("sign header", []), ("auth sign", []),
    ("sign-headers auth", ["auth changes headers after sign-headers has read them"]),
    ("sign-headers sign", ["sign changes headers after sign-headers has read them"]),
    ("auth sign-headers", []),
    (
      "sign retry",
      ["each attempt of retry has the headers that sign made for the first one"]
    ),
    (
      "sign-headers retry",
      ["each attempt of retry has the headers that sign-headers made for the first one"]
    ),
    ("retry sign", []), ("sign renewing-auth", []), ("header retry", []), ("auth retry", []),
    (
      "cache auth",
      [
        "auth changes headers after cache has read them",
        "cache responds before auth adds credentials, so one caller may get the response to another",
      ]
    ),
    ("auth cache", []), ("mock auth", []),
    ("cache mock", ["cache does not store responses that mock may make or change"]),
    ("cache edit-response", ["cache does not store responses that edit-response may make or change"]),
    ("cache undeclared", ["cache does not store responses that undeclared may make or change"]),
    (
      "sign cache",
      ["cache compares the headers that sign makes, and finds no response if they differ in each request"]
    ),
    ("cache sign", ["sign changes headers after cache has read them"]),
    ("cache log", []), ("cache retry", []), ("mock cache", []), ("edit-response cache", []),
    ("cache edit", ["edit changes messages after cache has read them"]),
    ("fault retry", ["retry does not repeat calls that fault fails"]), ("retry fault", []),
    ("fault-headers retry", ["retry does not repeat calls that fault-headers fails"]),
    ("mock assert", ["assert does not check calls to which mock responds"]), ("assert mock", []),
    ("retry assert", ["assert checks each attempt that retry makes, not the call"]), ("assert retry", []),
    ("retry retry", ["each attempt of retry is repeated by retry"]), ("retry renewing-auth", []),
  ])
  func declaredEffectsCauseWarnings(_ chain: String, _ expected: [String]) throws {
    let registrations = try chain.split(separator: " ").map { name in
      let declaration = try #require(Self.declarations[String(name)])
      return InterceptorRegistration(name: String(name), factory: Declared(declaration: declaration))
    }
    let warnings = ChainWarnings.of(registrations)
    #expect(warnings.map { $0.split(separator: ": ", maxSplits: 1).last.map(String.init) } == expected)
    #expect(warnings.allSatisfy { $0.contains(" precedes ") })
  }

  @Test func cacheUsesResponsesOfInterceptorsWithTheSameSettings() {
    var mock = InterceptorRegistration(
      name: "mock", factory: Declared(declaration: .init(stages: .request, effects: .responds)))
    mock.fingerprint = InterceptorFingerprint("mock", []) { [] }
    let cache = InterceptorRegistration(
      name: "cache", factory: Declared(declaration: .init(stages: .request, effects: .reusesResponses)))
    #expect(
      ChainWarnings.of([cache, mock]) == [
        "cache precedes mock: cache stores responses that mock may make or change, "
          + "and uses them only with the same settings of mock"
      ])
  }

  @Test func signerAfterCacheWithKnownSettingsCausesNoWarning() throws {
    var sign = InterceptorRegistration(
      name: "sign", factory: Declared(declaration: try #require(Self.declarations["sign"])))
    sign.fingerprint = InterceptorFingerprint("sign", []) { [] }
    let cache = InterceptorRegistration(
      name: "cache", factory: Declared(declaration: try #require(Self.declarations["cache"])))
    #expect(ChainWarnings.of([cache, sign]).isEmpty)
  }

  /// The names of interceptors have no influence.
  @Test func namesCauseNoWarnings() {
    let names = ["redact", "log", "gzip", "sign", "cache", "oauth"]
    let registrations = names.map {
      InterceptorRegistration(name: $0, factory: Declared(declaration: InterceptorDeclaration()))
    }
    #expect(ChainWarnings.of(registrations).isEmpty)
  }
}
