import RPCurlCall
import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlClient
import RPCurlTransport
import RPCurlTransportSupport
import Testing

/// The thread of the loop of these tests.
@globalActor actor FakeLoop {
  static let shared = FakeLoop()

  private let thread = LoopThread()

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  private init() { thread.start {} }
}

/// Asynchronous interceptors that retry what a server answers in each protocol, over a libcurl without a network.
@FakeLoop @Suite(.serialized, .timeLimit(.minutes(10))) struct AsyncRetryTests {
  private let fake = FakeLibcurl()
  private let client: LoopClient
  /// Field 1 with the number 7.
  private static let message: [UInt8] = [8, 7]

  init() throws {
    client = try LoopClient()
    client.loop.roundTime = .seconds(60)
  }

  /// The retry of the documentation: of the errors that `next` throws, and of those that the messages of a stream throw.
  private struct Retry: Interceptor {
    let replayLimitBytes = 1 << 20

    func intercept(_ request: inout Request, next: Next) async throws -> Response {
      for attempt in 1...2 {
        request.headers["x-attempt"] = "\(attempt)"
        do {
          let response = try await next(request)
          guard request.call.kind == .serverStreaming else { return response }
          var messages: [Message] = []
          for try await message in response.messages { messages.append(message) }
          return Response(start: response.start, messages: messages)
        } catch let error as RPCError where error.code == .unavailable {
          continue
        }
      }
      request.headers["x-attempt"] = "3"
      return try await next(request)
    }
  }

  /// What the server does in one attempt.
  private typealias Attempt = (AsyncRetryTests, UnsafeMutableRawPointer?) -> Void

  private func send(_ handle: UnsafeMutableRawPointer?, _ bytes: [UInt8]) {
    let characters = bytes.map { CChar(bitPattern: $0) }
    _ = fake_body(handle, characters, characters.count)
  }

  private static func envelope(_ flags: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    [flags, 0, 0, 0, UInt8(bytes.count)] + bytes
  }

  /// A response of HTTP with a body of these bytes.
  private static func response(_ status: String, _ fields: String..., body: [UInt8] = []) -> Attempt {
    { tests, handle in
      tests.fake.send(handle, "HTTP/2 \(status)")
      for field in fields { tests.fake.send(handle, field) }
      tests.fake.send(handle, "")
      if !body.isEmpty { tests.send(handle, body) }
      fake_complete(handle, CURLE_OK, nil)
    }
  }

  /// A response of gRPC with trailers.
  private static func grpc(_ body: [UInt8], status: Int) -> Attempt {
    { tests, handle in
      tests.fake.send(handle, "HTTP/2 200", "content-type: application/grpc+proto", "")
      if !body.isEmpty { tests.send(handle, body) }
      tests.fake.send(handle, "grpc-status: \(status)")
    }
  }

  private static var gateway: Attempt {
    response("503", "content-type: text/html", body: Array("busy".utf8))
  }
  private static var trailersOnly: Attempt {
    response("200", "content-type: application/grpc", "grpc-status: 14")
  }

  /// Two failures, and a success.
  private static func attempts(_ protocolName: ProtocolName, _ kind: CallKind) -> [Attempt] {
    let web = "content-type: application/grpc-web+proto"
    let failed = envelope(0x80, Array("grpc-status: 14\r\n".utf8))
    let succeeded = envelope(0x80, Array("grpc-status: 0\r\n".utf8))
    let connect = "content-type: application/connect+proto"
    let error = Array(#"{"code":"unavailable"}"#.utf8)
    let streamError = Array(#"{"error":{"code":"unavailable"}}"#.utf8)
    let sent = envelope(0, message)
    return switch (protocolName, kind.serverStreams) {
    case (.grpc, false): [trailersOnly, grpc([], status: 14), grpc(sent, status: 0)]
    case (.grpc, true): [trailersOnly, grpc(sent, status: 14), grpc(sent, status: 0)]
    case (.grpcWeb, false):
      [response("200", web, body: failed), gateway, response("200", web, body: sent + succeeded)]
    case (.grpcWeb, true):
      [
        response("200", web, "grpc-status: 14"), response("200", web, body: sent + failed),
        response("200", web, body: sent + succeeded),
      ]
    case (.connect, false):
      [
        response("503", "content-type: application/json", body: error), gateway,
        response("200", "content-type: application/proto", body: message),
      ]
    case (.connect, true):
      [
        gateway, response("200", connect, body: sent + envelope(2, streamError)),
        response("200", connect, body: sent + envelope(2, Array("{}".utf8))),
      ]
    }
  }

  @Test(
    arguments: [ProtocolName.grpc, .grpcWeb, .connect], [CallKind.unary, .serverStreaming])
  func documentedRetryRetries(_ protocolName: ProtocolName, _ kind: CallKind) async throws {
    let name = try #require(MethodName("pkg.S/M"))
    var request = CallRequest(
      method: try OpaqueMethod.descriptor(of: name, kind), target: "http://h", userAgent: "test")
    request.protocolName = protocolName
    request.interceptors = [Retry().registration]
    let observer = Recorder()
    let call = client.makeCall(request, observer: observer)
    call.start()
    call.send(.bytes(Self.message))
    call.finishSending()
    let attempts = Self.attempts(protocolName, kind)
    var count = 0
    while !call.isFinished {
      try fake.run(
        client.loop,
        {
          let handle = fake.handle()
          guard count < attempts.count, handle != nil,
            fake_list_contains(handle, CURLOPT_HTTPHEADER, "x-attempt: \(count + 1)")
          else { return }
          count += 1
          attempts[count - 1](self, handle)
        })
      await Task.yield()
    }
    #expect(count == attempts.count)
    #expect(observer.messages == [Self.message])
    #expect(observer.end == ResponseEnd())
    #expect(fake_violations() == 0)
  }
}

/// Records the response of a call.
private final class Recorder: CallObserver {
  var messages: [[UInt8]] = []
  var end: ResponseEnd?

  func receive(_ event: CallEvent<Payload>) {
    switch event {
    case .responseMessage(let message): messages.append(message.serialized)
    case .responseEnd(let end): self.end = end
    case .requestStart, .requestMessage, .requestEnd, .responseStart, .metrics: break
    }
  }
}
