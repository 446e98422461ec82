import RPCurlBase
import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf
import RPCurlProtocols
import Testing

@testable import RPCurlPluginHost

/// The place of each plugin on the chain, and what it declares of messages.
@Suite(.oneAtATime) struct PlaceTests {
  private let log = LogCollector()

  /// Loads a fixture, with settings such as `on=request`.
  private func load(_ name: String, _ settings: String...) throws -> LoadedPlugin {
    let settings = settings.map { setting in
      let parts = setting.split(separator: "=", maxSplits: 1).map(String.init)
      return InterceptorSpec.Setting(key: parts[0], value: parts[1])
    }
    return try log.loader().load(InterceptorSpec(name: try Fixtures.path(name), settings: settings))
  }

  private func send(_ texts: String..., on call: PluginCallTest) {
    for text in texts { call.chain.send(.bytes(PluginCallTest.bytes(text))) }
    call.chain.closeRequest()
  }

  private func respond(_ texts: String..., on call: PluginCallTest) {
    call.wireChain.receive(.responseStart(ResponseStart()))
    for text in texts { call.wireChain.receive(.responseMessage(.bytes(PluginCallTest.bytes(text)))) }
    call.wireChain.receive(.responseEnd(ResponseEnd()))
  }

  // MARK: - Values that are held until later ones have come

  @Test(arguments: ["request", "response"], ["typed", "bytes"])
  func holdsMessagesUntilEndBesidePluginOfOtherForm(_ direction: String, _ form: String) throws {
    let batch = try load("batch", "on=\(direction)", "of=\(form)")
    for plugins in [[try load("enc"), batch], [batch, try load("enc")], [batch, try load("mask")]] {
      let call = try PluginCallTest(plugins, .bidiStreaming)
      call.start()
      send("a", "b", "c", on: call)
      #expect(call.sent.count == 3 && call.isRequestClosed)
      respond("d", "e", on: call)
      #expect(call.received.count == 2)
      #expect(call.end == ResponseEnd())
    }
    #expect(log.lines == Array(repeating: "\(direction == "request" ? 3 : 2) held", count: 3))
  }

  @Test func fullWindowEndsCallOfPluginThatCollects() throws {
    let call = try PluginCallTest([try load("batch", "on=request", "of=bytes")], .clientStreaming)
    call.start()
    for _ in 0..<5 {
      call.chain.send(.bytes([0x1a, 0x80, 0x80, 0x40] + [UInt8](repeating: 97, count: 1 << 20)))
    }
    #expect(call.end?.error?.code == .resourceExhausted)
    #expect(call.end?.error?.message.contains("batch") == true)
    #expect(call.sent.isEmpty)
  }

  @Test(arguments: ["leak", "late"], ["typed", "bytes"])
  func failureLetsOnlyMaskedMessagesReachCaller(_ name: String, _ form: String) throws {
    let failing = name == "leak" ? try load(name) : try load(name, "of=\(form)")
    for plugins in [[failing, try load("mask")], [try load("mask"), failing]] {
      let call = try PluginCallTest(plugins, .serverStreaming)
      call.start()
      send("ask", on: call)
      respond("one", "two", "three", "four", on: call)
      #expect(call.receivedTexts == ["***", "***"])
      #expect(call.end?.error?.code == .internal)
      #expect(call.outcome != nil)
    }
  }

  @Test(arguments: ["0", "50"]) func delayedStartBeforeChangerWorksAsUndelayed(_ milliseconds: String) throws
  {
    for changer in ["mask", "enc"] {
      let call = try PluginCallTest([try load("gate", "ms=\(milliseconds)"), try load(changer)])
      call.start()
      send("Ada", on: call)
      #expect(call.sent.count == (milliseconds == "0" ? 1 : 0))
      call.clock.advance(by: .milliseconds(60))
      call.work()
      let sent = changer == "mask" ? PluginCallTest.bytes("***") : PluginCallTest.bytes("Ada") + [0xf8, 6, 1]
      #expect(call.sent == [sent] && call.isRequestClosed)
      respond("done", on: call)
      #expect(call.end == ResponseEnd())
    }
    #expect(log.lines == ["5 bytes", "5 bytes"])
  }

  @Test(arguments: [CallKind.unary, .bidiStreaming])
  func startHeldUntilEndReceivesMessagesOfChangerBefore(_ kind: CallKind) throws {
    let call = try PluginCallTest([try load("enc"), try load("sig2")], kind)
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    #expect(call.sentStart == nil && call.sent.isEmpty)
    call.chain.closeRequest()
    #expect(call.sentStart?.headers.first("x-sig") == "1")
    #expect(call.sent == [PluginCallTest.bytes("Ada") + [0xf8, 6, 1]] && call.isRequestClosed)
    respond("done", on: call)
    #expect(call.end == ResponseEnd())
    #expect(log.warnings == [])
  }

  // MARK: - What a plugin declares

  private static let readTyped = "RPCURL_MESSAGES_READ_TYPED or RPCURL_MESSAGES_CHANGE_TYPED"
  private static let readBytes = "RPCURL_MESSAGES_READ_BYTES or RPCURL_MESSAGES_CHANGE_BYTES"
  private static let change = "RPCURL_MESSAGES_CHANGE_TYPED or RPCURL_MESSAGES_CHANGE_BYTES"

  @Test(arguments: MessageAccess.allCases)
  func functionsForMessagesRequireTheirDeclaration(_ access: MessageAccess) throws {
    let call = try PluginCallTest([try load("declared", "use=\(access.rawValue)")])
    call.start()
    call.chain.send(.bytes(PluginCallTest.bytes("Ada")))
    let names = ["CHANGE_TYPED", "NONE", "READ_TYPED", "READ_BYTES", "CHANGE_BYTES", "OPAQUE", "DECODE"]
    let name = "request_messages is RPCURL_MESSAGES_\(names[Int(access.rawValue)]): this function requires "
    #expect(
      log.lines == [
        "declared: 31",
        "get: " + (access.isTyped ? "0" : name + Self.readTyped),
        "get_payload: " + (access.isBytes ? "0" : name + Self.readBytes),
        "set: " + (access == .changeTyped ? "0" : name + "RPCURL_MESSAGES_CHANGE_TYPED"),
        "set_payload: " + (access.mayChange ? "0" : name + Self.change),
      ])
    #expect(call.sent == [PluginCallTest.bytes(access.mayChange ? "bytes" : "Ada")])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func messageThatPluginsOnlyReadKeepsItsBytes() throws {
    // A field that is encoded twice: serialized again, it would be there once.
    let bytes = PluginCallTest.bytes("old") + PluginCallTest.bytes("new")
    for use in [MessageAccess.none, .readTyped, .readBytes] {
      let call = try PluginCallTest([try load("declared", "use=\(use.rawValue)")])
      call.start()
      call.chain.send(.bytes(bytes))
      #expect(call.sent == [bytes])
      call.chain.cancel(RPCError(.canceled, "", origin: .client))
    }
  }

  @Test(arguments: [CodecName.proto, .json]) func bytesAreInCodecOfCall(_ codec: CodecName) throws {
    let call = try PluginCallTest([try load("declared", "use=3")], codec: codec)
    let bytes = codec == .json ? Array("\"Ada\"".utf8) : PluginCallTest.bytes("Ada")
    call.start()
    call.chain.send(.bytes(bytes))
    #expect(log.lines.contains("get_payload: 0"))
    #expect(call.sent == [bytes])
    call.chain.cancel(RPCError(.canceled, "", origin: .client))
  }

  @Test func pluginIsCalledAtItsPossibleStagesOnly() throws {
    let all: Stages = [.requestMessage, .requestEnd, .responseStart, .attemptEnd]
    #expect(try load("declared").registration.factory.declaration.stages == all)
    let plugin = try load("declared", "use=1", "only=\(Stages.requestMessage.union(.metrics).rawValue)")
    #expect(plugin.registration.factory.declaration.stages == .requestMessage)
    let call = try PluginCallTest([plugin])
    call.run()
    let names = Set(log.lines.compactMap { $0.split(separator: ":").first })
    #expect(names == ["declared", "get", "get_payload", "set", "set_payload"])
  }

  /// The test's own wire, which a mistake of the chain must not pass.
  @Test func secondHalfCloseFailsTheProcess() async {
    await #expect(processExitsWith: .failure) {
      let call = try PluginCallTest([])
      call.start()
      call.closeRequest()
      call.closeRequest()
    }
  }

  @Test func refusesUnknownDeclaration() throws {
    let path = try Fixtures.path("bad_messages")
    let error = #expect(throws: PluginError.self) { try log.loader().load(InterceptorSpec(name: path)) }
    #expect(
      error
        == .malformed(
          path: path, reason: "request_messages or response_messages is not one of RPCURL_MESSAGES_..."))
    let call = try PluginCallTest([try load("declared", "use=7")])
    call.start()
    #expect(
      call.end?.error
        == RPCError(
          .invalidArgument, "needs: request_messages or response_messages is not RPCURL_MESSAGES_...",
          origin: .configuration("declared")))
  }

  @Test func refusesSerialPluginThatCollects() throws {
    let call = try PluginCallTest([try load("declared", "serial=yes", "collects=yes")])
    call.start()
    #expect(call.end?.error?.origin == .configuration("declared"))
    #expect(call.end?.error?.message.contains("is_serial and collects exclude each other") == true)
    #expect(call.sentStart == nil)
  }

  // MARK: - Injections by context

  @Test func injectionAfterForwardedEndIsRefused() throws {
    let call = try PluginCallTest([try load("declared", "use=1")], .bidiStreaming)
    call.start()
    call.chain.closeRequest()
    respond("done", on: call)
    #expect(call.sent == [PluginCallTest.bytes("end")] && call.isRequestClosed)
    #expect(
      log.lines == [
        "declared: 31", "inject before: 0", "proceed: 0", "inject after: -4", "inject later: -4",
      ])
  }

  // MARK: - Attempts

  @Test func eachAttemptIsReportedFurtherOut() throws {
    let flow = try log.loader().load(InterceptorSpec(name: try Fixtures.path("flow")))
    let call = try PluginCallTest([try load("declared", "use=1"), flow], .bidiStreaming, method: "Retry")
    call.start()
    call.chain.closeRequest()
    call.wireChain.receive(
      .responseEnd(ResponseEnd(error: RPCError(.notFound, "gone", origin: .server))))
    call.clock.advance(by: .seconds(3))
    call.work()
    respond("done", on: call)
    #expect(call.end == ResponseEnd())
    #expect(
      log.lines.filter { $0.hasPrefix("attempt") } == [
        "attempt 1 of 1 numbers: 5, wait -1, peer ", "attempt 2 of 1 numbers: 0, wait 2000000000, peer ",
      ])
  }
}
