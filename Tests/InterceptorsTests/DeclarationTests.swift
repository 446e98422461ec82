import RPCurlChain
import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlInterceptors

/// What the built-in interceptors declare for `--explain`.
@Suite struct DeclarationTests {
  private let services = TestServices()

  @Test(
    arguments: [
      ("retry", [.repeatsAttempts]), ("retry,until=.value == a", [.repeatsAttempts]),
      ("header,set=a:b", [.changesHeaders]), ("header,response-set=a:b", []), ("header,trailer-remove=a", []),
      ("log", []), ("log,bodies=true", [.exports]), ("record,file=f", [.exports, .readsMessages]),
      ("auth,bearer=t", [.changesHeaders, .authenticates]),
      ("auth,bearer=cmd:c", [.changesHeaders, .authenticates, .repeatsAttempts]),
      ("assert,check=status ok", [.checksResults]), ("assert,check=count 1,check=header a", [.checksResults]),
      ("fault,delay=1s", []), ("fault,abort=unavailable", [.injectsFailures]),
      ("fault,drop-request=5", [.injectsFailures, .changesMessages]), ("fault,rate=1k", []),
      ("deadline,default=1s", []), ("deadline,idle=1s", []), ("limit,concurrency=1", []), ("breaker", []),
      ("hedge,methods=*", [.repeatsAttempts]), ("metrics", []), ("trace", [.changesHeaders]),
      ("validate", [.readsMessages]), ("validate,requests=off,responses=warn", []),
      ("edit,set=value=a", [.changesMessages]), ("edit,response-clear=value", [.changesMessages]),
      ("cache,methods=*", [.readsHeaders, .readsMessages, .responds, .reusesResponses]),
      ("shadow,to=b", [.exports, .readsMessages]), ("fault,corrupt-response=5", [.injectsFailures]),
      ("fault,truncate-request=5,delay=1s", [.injectsFailures, .changesMessages]),
      ("fault,headers=true", [.injectsFailures, .readsHeaders, .changesHeaders]),
      ("mock,file=stubs.json", [.responds]), ("auth,bearer=@f", [.changesHeaders, .authenticates]),
    ] as [(String, InterceptorEffects)])
  func stagesOfEachCallAreDeclared(_ text: String, _ effects: InterceptorEffects) throws {
    services.files["stubs.json"] = #"{"response":{"message":"a"}}"#
    services.files["f"] = "token"
    let registration = try services.registration(text)
    let declaration = registration.factory.declaration
    #expect(declaration.effects == effects)
    let declared = try #require(declaration.stages)
    for kind in CallKind.allCases {
      for protocolName in ProtocolName.allCases {
        var made: (stages: Stages, messages: MessageAccesses)?
        let call = TestCall(
          kind, Journal(),
          [
            TestCall.registration("x") { facts, context in
              let interceptor = try registration.factory.make(for: facts, context)
              made = interceptor.map { ($0.stages, $0.messages) }
              return interceptor
            }
          ], protocolName: protocolName)
        call.start()
        if let made {
          #expect(declared.isSuperset(of: made.stages), "\(kind) \(protocolName)")
          if declared.contains(.requestMessage) {
            #expect(declaration.messages.request == made.messages.request, "\(kind) \(protocolName)")
          }
          if declared.contains(.responseMessage) {
            #expect(declaration.messages.response == made.messages.response, "\(kind) \(protocolName)")
          }
        }
        call.chain.cancel(RPCError(.canceled, "", origin: .client))
      }
    }
  }

  @Test func defaultsApplyBesidesTheSettings() throws {
    func defaults(_ name: String, _ given: Set<String>) throws -> [String] {
      try #require(BuiltIns.all.first { $0.name == name }).defaults(besides: given)
    }
    #expect(
      try defaults("retry", ["attempts", "until"]) == [
        "codes=unavailable", "initial=100ms", "max=5s", "multiplier=2", "jitter=0.2", "only=all",
        "timeout=30s", "buffer=1m",
      ])
    #expect(try defaults("retry", ["policy"]) == ["attempts=5", "jitter=0.2", "only=all", "buffer=1m"])
    #expect(try defaults("header", ["set"]) == [])
    #expect(try defaults("auth", ["bearer"]) == ["header=authorization"])
    #expect(try defaults("auth", ["token-url"]) == ["header=authorization", "timeout=30s"])
    #expect(try defaults("fault", ["abort"]) == ["abort-percent=100"])
  }

  @Test(arguments: [
    ("validate,requests=no", "validate: requests: must be one of fail, warn, off"),
    ("validate,responses=", "validate: responses: must be one of fail, warn, off"),
    ("validate,requests=off", "validate: neither requests nor responses are validated"),
  ])
  func invalidSettingsOfValidateNameKey(_ text: String, _ message: String) {
    let error = #expect(throws: ConfigurationError.self) { try services.registration(text) }
    #expect(error?.description == message)
  }
}
