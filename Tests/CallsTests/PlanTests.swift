import Interception
import Testing

@testable import Calls

struct ChainWarningsTests {
  /// A factory that only declares.
  private struct Declared: InterceptorFactory {
    let declaration: InterceptorDeclaration
    func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? { nil }
  }

  private static let declarations: [String: InterceptorDeclaration] = [
    "redact-both": .init(
      stages: [.requestMessage, .responseMessage], effects: [.redacts, .changesMessages]),
    "redact-response": .init(stages: .responseBytes, effects: .redacts),
    "log": .init(effects: .exports),
    "sign": .init(stages: [.requestStart, .requestBytes], effects: [.readsMessages, .changesHeaders]),
    "sign-headers": .init(stages: .requestStart, effects: .readsHeaders),
    "edit": .init(stages: .requestMessage, effects: .changesMessages),
    "edit-response": .init(stages: .responseMessage, effects: .changesMessages),
    "cache": .init(effects: [.responds, .reusesResponses]),
    "cache-bytes": .init(stages: [.requestStart, .responseBytes], effects: [.responds, .reusesResponses]),
    "cache-typed": .init(stages: [.requestStart, .responseMessage], effects: [.responds, .reusesResponses]),
    "log-typed": .init(stages: [.requestMessage, .responseMessage], effects: .exports),
    "log-bytes": .init(stages: [.requestBytes, .responseBytes], effects: .exports),
    "mock": .init(effects: .responds),
    "auth": .init(effects: [.authenticates, .changesHeaders]),
    "renewing-auth": .init(effects: [.authenticates, .changesHeaders, .repeatsAttempts]),
    "retry": .init(effects: .repeatsAttempts),
    "fault": .init(effects: .injectsFailures),
    "assert": .init(effects: .checksResults),
    "undeclared": .init(),
  ]

  @Test(arguments: [
    ("", []), ("log", []), ("undeclared log undeclared", []),
    ("redact-response log", ["log receives responses before redact-response redacts them"]),
    ("log redact-response", []),
    (
      "log redact-both",
      [
        "log receives requests before redact-both redacts them",
        "log receives responses before redact-both redacts them",
      ]
    ),
    ("redact-both log-typed redact-both", []), ("redact-both log-bytes redact-response", []),
    ("sign edit", ["edit changes messages after sign has read them"]), ("edit sign", []),
    ("sign edit-response", []),
    ("sign-headers auth", ["auth changes headers after sign-headers has read them"]),
    ("auth sign-headers", []),
    (
      "cache auth",
      ["cache responds before auth adds credentials, so one caller may get the response to another"]
    ),
    ("auth cache", []), ("mock auth", []),
    (
      "cache-bytes edit-response",
      ["cache-bytes keeps responses before edit-response changes them, and returns them unchanged"]
    ),
    ("edit-response cache-bytes", []), ("cache-typed edit-response", []),
    ("cache-bytes redact-response", []), ("cache-bytes edit", []),
    // Requests pass as typed messages first, responses as bytes: the order on the chain alone does not decide.
    ("log-bytes redact-both", ["log-bytes receives responses before redact-both redacts them"]),
    ("redact-both log-bytes", ["log-bytes receives responses before redact-both redacts them"]),
    ("redact-both log", ["log receives responses before redact-both redacts them"]),
    ("redact-response log-bytes", ["log-bytes receives responses before redact-response redacts them"]),
    ("log-bytes redact-response", []),
    ("fault retry", ["retry does not repeat calls that fault fails"]), ("retry fault", []),
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

  /// The names of interceptors have no influence.
  @Test func namesCauseNoWarnings() {
    let names = ["redact", "log", "gzip", "sign", "cache", "oauth"]
    let registrations = names.map {
      InterceptorRegistration(name: $0, factory: Declared(declaration: InterceptorDeclaration()))
    }
    #expect(ChainWarnings.of(registrations).isEmpty)
  }
}

struct ProgressLineTests {
  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1587, "1.5 KiB"), (1 << 20, "1.0 MiB"),
    ((1 << 20) - 1, "1023.9 KiB"), (3 << 30, "3.0 GiB"), (5 << 40, "5.0 TiB"), (2048 << 40, "2048.0 TiB"),
  ])
  func showsSizeWithUnit(bytes: Int, text: String) {
    let traffic = ProgressLine.Traffic(sentMessages: 1, receivedMessages: 2, sentBytes: bytes)
    #expect(
      ProgressLine.text(traffic, rate: Double(bytes), elapsed: .zero)
        == "sent 1 message, \(text); received 2 messages, 0 B; \(text)/s; 0:00")
  }

  @Test(arguments: [(0, "0:00"), (9, "0:09"), (59, "0:59"), (60, "1:00"), (3_661, "61:01")])
  func showsElapsedTime(seconds: Int, text: String) {
    #expect(ProgressLine.text(.init(), rate: 0, elapsed: .seconds(seconds)).hasSuffix("; \(text)"))
  }
}
