import RPCurlChainSupport
import RPCurlProtocols
import Testing

@testable import RPCurlChain

/// Where messages cannot be parsed because an interceptor encrypts or damages them.
@Suite struct MessageFlowTests {
  /// A factory that declares, and makes probes.
  private struct Declared: InterceptorFactory {
    let declaration: InterceptorDeclaration

    func make(for call: CallFacts, _ context: CallContext) -> (any StagedInterceptor)? {
      Probe(context.name, declaration.stages ?? .all, Journal(), messages: declaration.messages)
    }
  }

  private static let accesses: [String: MessageAccess] = [
    "none": .none, "read": .readTyped, "change": .changeTyped, "bytes": .readBytes, "set-bytes": .changeBytes,
    "opaque": .opaque, "decode": .decode,
  ]

  /// The interceptors of `NAME[:REQUEST[:RESPONSE]]…`; without a second access both directions have the first.
  private func registrations(_ text: String, stages: Stages? = .all) throws -> [InterceptorRegistration] {
    try text.split(separator: " ").map { word in
      let parts = word.split(separator: ":").map(String.init)
      let request = try #require(Self.accesses[parts[1]])
      let response = try parts.count > 2 ? #require(Self.accesses[parts[2]]) : request
      let declaration = InterceptorDeclaration(
        stages: stages, messages: MessageAccesses(request: request, response: response))
      return InterceptorRegistration(name: parts[0], factory: Declared(declaration: declaration))
    }
  }

  private func conflict(_ registrations: [InterceptorRegistration]) -> String? {
    do {
      _ = try ChainBuilder(registrations).order()
      return nil
    } catch {
      return "\(error.description); \(error.hint ?? "")"
    }
  }

  @Test(arguments: [
    "", "a:change b:read", "f:opaque", "a:bytes f:opaque:none b:bytes", "f:opaque:none a:none b:set-bytes",
    "a:read f:opaque:none", "a:none:read f:opaque:none b:none:read",
    // A response passes the last interceptor first.
    "f:none:opaque a:read", "f:none:opaque a:change:read", "a:read:none f:none:opaque",
    "e:opaque:decode", "a:change e:opaque:decode", "e:opaque:decode d:decode:opaque a:change",
    "e:opaque:none d:decode:none a:read:none f:none:opaque b:read",
  ])
  func typedMessagesThatCanBeParsedAreNoConflict(_ chain: String) throws {
    #expect(try conflict(registrations(chain)) == nil)
  }

  @Test(arguments: [
    ("f:opaque:none a:change", "a", "requests", "f"), ("f:opaque:none a:read:none", "a", "requests", "f"),
    ("f:opaque:none b:bytes a:read:none", "a", "requests", "f"),
    ("f:opaque:none g:opaque:none a:read:none", "a", "requests", "g"),
    ("a:none:read f:none:opaque", "a", "responses", "f"), ("a:change f:none:opaque", "a", "responses", "f"),
    ("e:opaque:none d:decode:none f:opaque:none a:read", "a", "requests", "f"),
    ("a:none:change b:none e:opaque:none f:none:opaque", "a", "responses", "f"),
  ])
  func typedMessagesAfterTheyWereMadeOpaqueAreAnError(
    _ chain: String, _ name: String, _ direction: String, _ other: String
  ) throws {
    let found = try #require(try conflict(registrations(chain)))
    #expect(found.contains("receives typed \(direction) that \(other) has made impossible to parse"))
    #expect(found.hasPrefix("\(name): "))
    #expect(
      found.hasSuffix("; place \(name) on the other side of \(other), with before= or after="), "\(found)")
  }

  @Test(arguments: [
    ("a:change:none d:decode:none", "a", "requests", "d"),
    ("d:none:decode a:none:read", "a", "responses", "d"),
    ("a:read:none b:none d:decode:none c:change:none", "a", "requests", "d"),
  ])
  func typedMessagesBeforeTheyAreDecodedAreAnError(
    _ chain: String, _ name: String, _ direction: String, _ other: String
  ) throws {
    let found = try #require(try conflict(registrations(chain)))
    #expect(found.contains("receives typed \(direction) before \(other) decodes them"))
    #expect(found.hasPrefix("\(name): "))
  }

  @Test func decodingEndsTheSearchForTypedInterceptorsBefore() throws {
    #expect(try conflict(registrations("e:opaque:none d:decode:none a:read:none f:decode:none")) != nil)
    #expect(try conflict(registrations("e:opaque:none d:decode:none f:decode:none a:read:none")) == nil)
  }

  @Test func onlyDeclaredStagesCount() throws {
    let fault = try registrations("f:opaque")
    #expect(try conflict(fault + registrations("a:change", stages: [.requestStart, .responseEnd])) == nil)
    #expect(try conflict(registrations("a:change", stages: .responseMessage) + fault) != nil)
    #expect(try conflict(registrations("a:change", stages: .requestMessage) + fault) == nil)
    // Undeclared stages may be any.
    #expect(try conflict(fault + registrations("a:change", stages: nil)) != nil)
  }

  @Test func placementsAreAppliedFirst() throws {
    var chain = try registrations("f:opaque:none a:change:none")
    chain[1].before = ["f"]
    #expect(conflict(chain) == nil)
    chain = try registrations("a:change:none f:opaque:none")
    chain[0].priority = -1
    #expect(conflict(chain) != nil)
  }

  // MARK: Scopes

  private func end(of chain: [InterceptorRegistration]) -> RPCError? {
    let call = TestCall(.unary, Journal(), chain)
    call.run()
    return call.end?.error
  }

  @Test func callThatPassesBothFails() throws {
    var chain = try registrations("f:opaque:none a:change:none")
    chain[0].scope.methods = Selection([.exact(MethodName(service: "test.Echo", method: "Say"))])
    #expect(conflict(chain) == nil)
    let error = try #require(end(of: chain))
    #expect(error.code == .invalidArgument)
    #expect(error.origin == .interceptor("a"))
    #expect(error.message.contains("receives typed requests that f has made impossible to parse"))
  }

  @Test func callThatPassesOneOfThemSucceeds() throws {
    let other = MethodName(service: "test.Echo", method: "Other")
    for index in 0...1 {
      var chain = try registrations("f:opaque:none a:change:none")
      chain[index].scope.methods = Selection([.exact(other)])
      #expect(conflict(chain) == nil)
      #expect(end(of: chain) == nil)
      chain[index].scope = .all
      chain[index].scope.kinds = Selection([.serverStreaming])
      #expect(conflict(chain) == nil)
      #expect(end(of: chain) == nil)
    }
  }

  @Test func builderErrorFailsTheCallBeforeAnythingIsSent() throws {
    let call = TestCall(.unary, Journal(), try registrations("f:opaque:none a:change:none"))
    call.run()
    #expect(call.end?.error?.code == .invalidArgument)
    #expect(call.wireStarts == 0)
  }
}
