import RPCurlBase
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

@Suite(.oneAtATime) struct BridgeTests {
  private let log = LogCollector()

  private func load(_ path: String, _ settings: [(String, String)] = []) throws -> LoadedPlugin {
    try log.loader().load(
      InterceptorSpec(
        name: path, settings: settings.map { InterceptorSpec.Setting(key: $0.0, value: $0.1) }))
  }

  @Test func everyHostFunctionWorksAsDocumented() throws {
    let plugin = try load(try Fixtures.path("exercise"))
    #expect(plugin.version == "2.1" && plugin.summary == "exercises the host")
    #expect(plugin.configurationHelp == "none")
    let call = try PluginCallTest([plugin])
    call.run()
    #expect(call.sentStart?.headers == Headers([("a", "one"), ("c", "3")]))
    #expect(call.sent == [PluginCallTest.bytes("raw")])
    #expect(call.receivedStart?.headers.first("x-seen") == "yes")
    #expect(call.end?.error?.message == "not here")
    #expect(call.end?.error?.details == [StatusDetail(typeName: "google.rpc.RetryInfo", value: [10, 0])])
    #expect(call.end?.trailers.first("x-trailer") == "t")
    #expect(call.sentStart?.target == "https://other:8443/prefix")
    #expect(call.sentStart?.deadline != nil)
    #expect(call.outcome?.metrics.receivedMessages == 12)
    #expect(
      call.outcome?.metrics.tls == .microseconds(3) && call.outcome?.metrics.resolve == .microseconds(1))
    #expect(call.outcome?.metrics.sentMessageBytes == 3 && call.outcome?.metrics.receivedMessageBytes == 4)
    #expect(call.findings == [Finding(interceptor: "exercise", kind: .failure, text: "found")])
    plugin.unload()
    #expect(log.lines == ["closed", "unloaded"])
  }

  @Test func convenienceFunctionsFormatAndFail() throws {
    let plugin = try load(try Fixtures.path("smallest"))
    var call = try PluginCallTest([plugin])
    call.start()
    #expect(call.sentStart?.headers.first("x-hello") == "")
    #expect(log.lines == ["hello 1"])
    call = try PluginCallTest([plugin])
    call.start(headers: Headers([("refuse", "1")]))
    #expect(call.end?.error == RPCError(.internal, "refused: 7 of nine", origin: .interceptor("smallest")))
  }

  @Test func copiesTextsAndParsesIntegers() throws {
    _ = try load(try Fixtures.path("helpers"))
    #expect(
      log.lines == [
        "0: 0 0", "-0: 0 0", "12: 0 12", "-34: 0 -34", "007: 0 7",
        "9223372036854775807: 0 9223372036854775807",
        "-9223372036854775808: 0 -9223372036854775808", "9223372036854775808: -9 7",
        "-9223372036854775809: -9 7", "92233720368547758070: -9 7", ": -10 7", "-: -10 7", "+1: -10 7",
        " 1: -10 7", "1 : -10 7", "1-: -10 7", "0x1: -10 7", "--1: -10 7", "copy: second", "empty: 0",
      ])
  }

  /// Compiled as C99 and as C++11, with every warning: a plugin may use such flags.
  @Test(arguments: ["cc -x c -std=c99", "c++ -x c++ -std=c++11"])
  func headerHasNoWarnings(_ compiler: String) {
    let flags = "-Wall -Wextra -Werror -pedantic -Wconversion -fsyntax-only"
    let command =
      "\(compiler) \(flags) -include rpcurl/plugin.h -I'\(Fixtures.root)/Sources/CPlugins/include' /dev/null"
    #expect(Fixtures.run(command) == 0)
  }

  @Test func readsAndWritesFieldsOfEveryKind() throws {
    let plugin = try load(try Fixtures.path("fields"))
    let type = try Fixtures.messageType("diff2.All", of: "proto2.proto")
    let call = try PluginCallTest([plugin], type: type)
    call.start()
    call.chain.send(.bytes([]))
    #expect(log.lines == ["done"])
    #expect(call.end == nil)
    let sent = try Message(type, serialized: try #require(call.sent.first))
    let json = String(decoding: try sent.json(), as: UTF8.self)
    #expect(
      json
        == #"{"fInt32":7,"fgroup":{"all":{"fgroup":{}},"deep":[{"text":"t"}]},"fMessage":{"fMessage":{}},"#
        + #""rInt32":[3],"rgroup":[{"id":-4}],"rMessage":[{"fInt32":1}],"rEnum":["HIGH"],"ogroup":{"raw":"cg=="},"#
        + #""mClosed":{"a \"q\"":"OFF","b":"ON"},"mMessage":{"3":{"fInt32":9}},"mBool":{"true":"yes"},"#
        + #""[diff2.All.x_nested]":{},"[diff2.xgroup]":{}}"#)
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func describesSchema() throws {
    let plugin = try load(try Fixtures.path("schema"))
    let pool = try Fixtures.pool(
      "shop.proto",
      """
      syntax = "proto2"; package shop; import "google/protobuf/descriptor.proto";
      extend google.protobuf.MethodOptions { optional string team = 50000; }
      extend google.protobuf.FieldOptions { optional bool secret = 50001; }
      message Order { required string id = 1; repeated sint32 codes = 3; map<string, State> states = 4;
        optional Order parent = 2 [(secret) = true]; oneof way { string mail = 6; bool pickup = 7; } }
      enum State { NONE = 0; PAID = 5; }
      service Shop { rpc Buy(Order) returns (stream Order) { option (team) = "t"; option idempotency_level = IDEMPOTENT; } }
      """)
    // The same files in the same order as those of protoc.
    let set = try pool.descriptorSet(ofFiles: pool.fileNames).serialized
    let files = "files: \(set.count) bytes, sum \(set.reduce(UInt32(0)) { $0 &* 31 &+ UInt32($1) }), 1"
    let call = try PluginCallTest(
      [plugin], .serverStreaming, method: "Buy", type: try pool.messageType(named: "shop.Order"),
      service: "shop.Shop")
    call.start()
    #expect(
      log.lines == [
        "facts: 2 with 8 bytes of options",
        "shop.Order: 0 bytes of options", "1 id/id: 9, 0, 12 () in () 0",
        "2 parent/parent: 11, 0, 4 (shop.Order) in () 4",
        "3 codes/codes: 17, 0, 1 () in () 0", "4 states/states: 14, 9, 3 (shop.State) in () 0",
        "6 mail/mail: 9, 0, 4 () in (way) 0", "7 pickup/pickup: 8, 0, 4 () in (way) 0",
        "shop.State: NONE=0 PAID=5", "shop.Shop: Buy 2 2 shop.Order shop.Order 8",
        "none: -6 the schema has no message type shop.None", "no text: -1", files, "again: 1",
      ])
    call.chain.send(.bytes([0x0a, 1, 0x78, 0x38, 1, 0x12, 3, 0x0a, 1, 0x79]))
    #expect(log.lines.suffix(2) == ["set: id parent pickup", "parent: id"])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func opaqueCallHasNoSchema() throws {
    let call = try PluginCallTest([try load(try Fixtures.path("schema"))], isOpaque: true)
    call.start()
    #expect(log.lines == ["facts: 0 with 0 bytes of options"])
    #expect(call.end?.error != nil)
  }

  @Test func failsResponseWithTrailers() throws {
    let plugin = try load(try Fixtures.path("trailers"))
    let call = try PluginCallTest([plugin])
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    call.chain.receive(.responseStart(ResponseStart()))
    #expect(call.end?.error == RPCError(.aborted, "checked", origin: .interceptor("trailers")))
    #expect(call.end?.trailers == Headers([("x-reason", "1"), ("x-more", "2")]))
  }

  @Test func sampleStampsHeaderRequestAndResponse() throws {
    let plugin = try load(
      try Fixtures.plugin("stamp"),
      [
        ("header", "x-who:me"), ("request-field", "string_value"), ("request-prefix", "<"),
        ("request-suffix", ">"), ("response-field", "string_value"), ("response-value", "new"),
      ])
    let call = try PluginCallTest([plugin])
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    call.chain.receive(.responseStart(ResponseStart()))
    call.chain.receive(.responseMessage(.bytes(PluginCallTest.bytes("old"))))
    call.chain.receive(.responseEnd(ResponseEnd()))
    #expect(call.sentStart?.headers.first("x-who") == "me")
    #expect(call.sent == [PluginCallTest.bytes("<Ada>")])
    #expect(call.receivedTexts == ["new"])
    plugin.unload()
  }

  @Test func sampleRequestsOnlyNeededStages() throws {
    let plugin = try load(try Fixtures.plugin("stamp"))
    let call = try PluginCallTest([plugin])
    call.start()
    #expect(!call.chain.wantsRequestMessages)
    #expect(call.sentStart?.headers.first("x-stamp") == "1")
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func invalidFieldFailsCallWithReasonOfPlugin() throws {
    let plugin = try load(try Fixtures.plugin("stamp"), [("request-field", "nme")])
    let call = try PluginCallTest([plugin])
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    #expect(call.end?.error?.message.contains("google.protobuf.Value has no field nme") == true)
    #expect(call.end?.error?.origin == .interceptor("stamp"))
  }

  @Test func loadsOfOneFileHaveSeparateConfigurations() throws {
    let path = try Fixtures.plugin("stamp")
    let plugins = [try load(path, [("header", "x-a:1")]), try load(path, [("header", "x-b:2")])]
    let call = try PluginCallTest(plugins)
    call.start()
    #expect(call.sentStart?.headers.first("x-a") == "1")
    #expect(call.sentStart?.headers.first("x-b") == "2")
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func misuseReturnsCodesAndIsReported() throws {
    let path = try Fixtures.path("misbehaving")
    let plugin = try load(path)
    let call = try PluginCallTest([plugin], .serverStreaming)
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    #expect(call.isRequestClosed)
    call.chain.receive(.responseStart(ResponseStart()))
    call.chain.receive(.responseMessage(.bytes(PluginCallTest.bytes("never"))))
    call.chain.cancel(RPCError(.canceled, "Ctrl-C", origin: .client))
    #expect(call.outcome != nil)
    _ = try load(path)
    let expected = [
      "respond without a response: -1", "drop of a start: -5", "fail with ok: -1", "fail with 99: -1",
      "message at a start: -5", "bad name: -1", "bad value: -1", "not UTF-8: -1", "too large: -1",
      "respond with cut JSON: -10", "null result: -1",
      "invented: -3", "none: -3", "proceed: 0", "proceed again: -2", "fail again: -2", "read again: -2",
      "proceed in close: -4",
      // Also with the host of another load of the file, which shares its static variables.
      "proceed after the end: -2", "facts after the end: -4",
    ]
    let warnings = log.warnings
    #expect(log.lines.filter { !warnings.contains($0) } == expected)
    #expect(
      warnings.prefix(3) == [
        "plugin misbehaving: proceed with a token that it never received",
        "plugin misbehaving: proceed with a token that it never received",
        "plugin misbehaving: proceed with a token that was already used",
      ])
    #expect(warnings.contains("plugin misbehaving: request_end used the token and returned -12"))
  }

  @Test func keptTokensAreUsedOnOtherThreads() throws {
    let plugin = try load(try Fixtures.path("later"))
    let call = try PluginCallTest([plugin])
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    call.wait { call.isRequestClosed }
    #expect(call.sentStart?.headers.first("x-later") == "yes")
    #expect(call.sent.count == 1)
    call.chain.receive(.responseStart(ResponseStart()))
    call.chain.receive(.responseMessage(.bytes(PluginCallTest.bytes("Grace"))))
    call.chain.receive(.responseEnd(ResponseEnd()))
    #expect(call.end == nil)
    call.wait { call.outcome != nil }
    #expect(call.receivedTexts == ["Grace"])
    #expect(call.end?.trailers.first("x-later") == "yes")
    #expect(log.warnings.isEmpty)
  }

  @Test func endOfCallWithKeptTokensIsNotMisuse() throws {
    let plugin = try load(try Fixtures.path("later"))
    let call = try PluginCallTest([plugin], method: "AfterEnd")
    call.start()
    call.chain.cancel(RPCError(.deadlineExceeded, "after 1 s", origin: .client))
    #expect(call.end?.error?.message == "after 1 s (held by later at request_start)")
    var turns = 0
    call.wait {
      turns += 1
      return turns > 60
    }
    #expect(call.sentStart == nil)
    #expect(log.warnings.isEmpty)
  }

  @Test(arguments: [(StatusCode.canceled, "proceed"), (.deadlineExceeded, "fail")])
  func resultOfUseAfterEndOfCallIsNotMisuse(_ code: StatusCode, _ use: String) throws {
    let plugin = try load(try Fixtures.path("ended"))
    let call = try PluginCallTest([plugin])
    call.start()
    call.chain.cancel(RPCError(code, "over", origin: .client))
    #expect(call.outcome != nil)
    #expect(log.lines == ["\(use): -4"])
  }

  @Test func pluginRespondsToDeclinesAndRefusesCalls() throws {
    let plugin = try load(try Fixtures.path("mock"))
    let call = try PluginCallTest([plugin], .serverStreaming)
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    call.chain.closeRequest()
    #expect(call.receivedStart?.headers.first("x-mock") == "1")
    #expect(call.receivedTexts == ["one", "two"])
    #expect(
      call.end
        == ResponseEnd(
          error: RPCError(
            .notFound, "no more", details: [StatusDetail(typeName: "a.B", value: [1])],
            origin: .interceptor("mock")),
          trailers: Headers([("x-end", "2")])))
    let declined = try PluginCallTest([plugin], .serverStreaming, method: "Decline")
    declined.start()
    #expect(declined.sentStart != nil)
    let refused = try PluginCallTest([plugin], method: "Refuse")
    refused.start()
    #expect(refused.sentStart == nil)
    #expect(refused.end?.error?.message == "not on a Friday")
    #expect(refused.end?.error?.origin == .interceptor("mock"))
  }

  @Test func pluginFailsCallWithDetails() throws {
    let plugin = try load(try Fixtures.path("mock"))
    let call = try PluginCallTest([plugin], .serverStreaming, method: "Fail")
    call.start()
    #expect(
      call.end?.error
        == RPCError(
          .failedPrecondition, "not yet", details: [StatusDetail(typeName: "a.B", value: [2])],
          origin: .interceptor("mock")))
    #expect(call.sentStart == nil)
  }

  @Test func cxxExceptionBecomesFailure() throws {
    let plugin = try load(try Fixtures.path("throwing", ending: "cpp"))
    let call = try PluginCallTest([plugin])
    call.start()
    #expect(call.end?.error == RPCError(.internal, "thrown on purpose", origin: .interceptor("throwing")))
    #expect(log.lines == ["an unknown exception"])
  }
}
