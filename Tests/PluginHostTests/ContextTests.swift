import RPCurlBase
import RPCurlChain
import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

/// Attributes, the facts of a request, its method, and messages that a plugin makes.
@Suite(.oneAtATime) struct ContextTests {
  private let log = LogCollector()

  private func call(
    _ method: String, _ kind: CallKind = .unary, codec: CodecName = .proto,
    network: (any SubrequestTransport)? = nil
  ) throws -> PluginCallTest {
    let pool = try Fixtures.pool(
      "shop.proto",
      """
      syntax = "proto3"; package shop; message Item { string name = 1; repeated string tags = 2; } message Other {}
      service Shop { rpc Attributes(Item) returns (Item); rpc Facts(Item) returns (Item);
        rpc Build(stream Item) returns (stream Item); rpc Route(stream Item) returns (stream Item);
        rpc Chat(stream Item) returns (stream Item); rpc Others(stream Item) returns (stream Other); }
      """)
    return try PluginCallTest(
      [log.loader().load(InterceptorSpec(name: try Fixtures.path("context")))], kind, method: method,
      type: try pool.messageType(named: "shop.Item"), service: "shop.Shop", codec: codec, network: network)
  }

  private func item(_ name: String) -> [UInt8] { [0x0a, UInt8(name.utf8.count)] + Array(name.utf8) }

  @Test func pluginReadsAndSetsAttributes() throws {
    let call = try call("Attributes")
    call.start()
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
    let key = "the key of an attribute must be 1 to 4096 printable characters of ASCII without blank, = and :"
    #expect(
      log.lines == [
        "get: -6 no attribute tenant", "set: 0", "get: 0", "blue", "key: -1 \(key)",
        "long: -1 the attribute long is longer than 4096 bytes", "remove: 0",
        "remove again: -6 no attribute tenant", "many: -1 a call has at most 64 attributes",
        "closed: -4 the call has ended",
      ])
    #expect(call.chain.attributes.all.count == 64)
  }

  @Test func factsAreThoseOfRequestAsItReachesThePlugin() throws {
    let call = try call("Facts", codec: .json)
    call.start(deadline: .now + .seconds(60))
    let facts = #""" application/grpc+json server, limit, 2 headers, a: 1"#
    #expect(
      log.lines == [
        "call_facts: 0", facts, "call_facts: 0", facts, "content-type: 0", "application/grpc+json", "host: 0",
        "other:8443",
      ])
    #expect(call.sentStart?.headers.first("host") == nil)
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func pluginRoutesByFirstMessage() throws {
    let call = try call("Route", .bidiStreaming)
    call.start()
    #expect(call.sentStart == nil)
    call.chain.send(.bytes(item("shop.Shop/Chat")))
    #expect(call.sentStart?.method.method == "Chat")
    #expect(call.sent == [item("shop.Shop/Chat")])
    #expect(
      log.lines == [
        #"no name: -1 "Facts" is not of the form pkg.Service/Method"#,
        "at a message: -5 not available at this stage", "set_method: 0", "get_start: 0", "shop.Shop/Chat",
        "proceed: 0",
      ])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test(arguments: [
    ("Others", "shop.Shop/Others has other types than shop.Shop/Route"),
    ("Facts", "shop.Shop/Facts is of another kind than shop.Shop/Route"),
    ("None", "the schema has no method shop.Shop/None"),
  ])
  func otherMethodFailsTheCall(_ method: String, _ reason: String) throws {
    let call = try call("Route", .bidiStreaming)
    call.start()
    call.chain.send(.bytes(item("shop.Shop/\(method)")))
    #expect(
      call.end?.error
        == RPCError(
          .invalidArgument, "the method cannot be changed: \(reason)", origin: .interceptor("context")))
    #expect(call.sentStart == nil)
  }

  @Test(arguments: [CodecName.proto, .json])
  func pluginMakesMessagesWithoutWireFormat(_ codec: CodecName) throws {
    let network = Network()
    let call = try call("Build", .bidiStreaming, codec: codec, network: network)
    call.start()
    call.work()
    let item = { (name: String) in
      codec == .json
        ? Array(#"{"name":"\#(name)","tags":["a","b"]}"#.utf8)
        : self.item(name) + [0x12, 1, 0x61, 0x12, 1, 0x62]
    }
    #expect(network.made.map(\.message) == [item("Ada")])
    #expect(call.sent == [item("Ada"), item("Bob")])
    network.completion?(SubrequestResponse(message: item("Eve"), end: ResponseEnd()))
    call.work()
    #expect(call.sent.last == item("Eve"))
    #expect(
      log.lines == [
        "no type: -6 the schema has no message type or method shop.None",
        "no method: -6 the schema has no message type or method shop.Shop/None", "type: 0", "method: 0",
        "set: 0", "set_json: 0", "get_json: 0", #"{"name":"Ada","tags":["a","b"]}"#,
        "proceed: -5 not available for a message that has no place in the call",
        "header_count: -5 not available at this stage", "call: 0", "inject: 0", "set: 0", "inject: 0",
        "other type: -1 the message is of the type shop.Other, not shop.Item",
        "other response: -1 the message is of the type shop.Other, not shop.Item",
        "free a token: -5 this message is not from message_new", "free: 0",
        "plugin misbehaving: using a value with a token that was already used",
        "freed: -2 the token was already used", "read: 0", "inject own: 0",
      ])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }
}
