import RPCurlBase
import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

/// Messages of plugins as JSON and in the binary form, in calls of either codec.
///
/// Serialized, because the plugin keeps a message in a static variable.
@Suite(.oneAtATime) struct MessageFormTests {
  private let log = LogCollector()
  private let network = Network()

  private func call(_ method: String, _ codec: CodecName) throws -> PluginCallTest {
    let pool = try Fixtures.pool(
      "forms.proto",
      "syntax = \"proto3\"; package forms; message Text { string text = 3; } "
        + "service Forms { rpc Get(Text) returns (Text); }")
    let plugin = try log.loader().load(InterceptorSpec(name: try Fixtures.path("forms")))
    return try PluginCallTest(
      [plugin], method: method, type: try pool.messageType(named: "forms.Text"), codec: codec,
      network: network)
  }

  private func message(_ codec: CodecName) -> [UInt8] {
    codec == .json ? Array(#"{"text":"Ada"}"#.utf8) : PluginCallTest.bytes("Ada")
  }

  /// Makes the call whose response the plugin keeps.
  private func keep(_ codec: CodecName) throws {
    let call = try call("Keep", codec)
    call.start()
    call.chain.send(.bytes(message(codec)))
    call.chain.closeRequest()
    call.wireChain.receive(.responseStart(ResponseStart()))
    call.wireChain.receive(.responseMessage(.bytes(message(codec))))
    call.wireChain.receive(.responseEnd(ResponseEnd()))
    #expect(call.end == ResponseEnd())
  }

  @Test(arguments: CodecName.allCases, CodecName.allCases)
  func respondsWithMessageOfEarlierCall(_ first: CodecName, _ second: CodecName) throws {
    try keep(first)
    let call = try call("Give", second)
    call.start()
    #expect(call.end == ResponseEnd())
    // Without its first two bytes: a message in the call's form is not parsed.
    #expect(call.receivedTexts == [second == .json ? #"text":"Ada"}"# : "Ada"])
  }

  @Test(arguments: CodecName.allCases) func makesCallInBinaryForm(_ codec: CodecName) throws {
    try keep(.proto)
    let call = try call("Own", codec)
    call.start()
    call.work()
    #expect(network.made.first?.message == message(codec))
    network.completion?(SubrequestResponse(message: message(codec), end: ResponseEnd()))
    call.work()
    #expect(
      log.lines == ["call: 0", "own: 0 \u{1a}\u{03}Ada", "field: 0 Ada", "proceed: -5"])
    #expect(call.sentStart != nil)
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func requiresSchemaToConvert() throws {
    var message = rpcurl_local_message()
    message.form = UInt32(RPCURL_FORM_BINARY)
    let failure = #expect(throws: ABIFailure.self) { try HostFunctions.payload(message, nil, .json) }
    #expect(failure?.code == RPCURL_EUNSUPPORTED)
    #expect(throws: Never.self) { try HostFunctions.payload(message, nil, .proto) }
  }
}
