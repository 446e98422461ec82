import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport
import RPCurlTransportSupport
import Testing

@testable import RPCurlCall

/// The end of a response over HTTP/3, whose trailers arrive in parts.
struct TrailerTests {
  private final class Recorder: CallObserver {
    var end: ResponseEnd?
    func receive(_ event: CallEvent<Payload>) {
      if case .responseEnd(let end) = event { self.end = end }
    }
  }

  private let fake = FakeLibcurl()
  private let client: LoopClient
  private let recorder = Recorder()

  init() throws {
    client = try LoopClient()
  }

  /// Starts a call whose request has not ended.
  private func start(timeout: Duration? = nil) throws -> Call {
    let name = try #require(MethodName("pkg.S/M"))
    var request = CallRequest(
      method: try OpaqueMethod.descriptor(of: name, .bidiStreaming), target: "http://h", userAgent: "test")
    request.timeout = timeout
    let call = client.makeCall(request, observer: recorder)
    call.start()
    return call
  }

  private func receive(_ trailers: String...) {
    for trailer in trailers { fake.send(fake.handle(), trailer) }
  }

  @Test func trailersAfterTheStatusAreThoseOfTheCall() throws {
    let call = try start()
    try fake.run(
      client.loop,
      { fake.send(fake.handle(), "HTTP/3 200", "content-type: application/grpc+proto", "") },
      { receive("x-a: b") },
      { receive("grpc-status: 5") },
      { receive("grpc-message: not here") })
    #expect(!call.isFinished)
    #expect(fake.read(fake.handle()) == [], "the request ends")
    try fake.run(client.loop, { fake_complete(fake.handle(), CURLE_OK, nil) })
    #expect(recorder.end?.error?.message == "not here")
    #expect(recorder.end?.trailers == Headers([("x-a", "b")]))
    #expect(call.isFinished)
    #expect(fake_violations() == 0)
  }

  /// The wait is half of the time until the deadline, at most a second.
  @Test func callEndsIfTheResponseDoesNotEndAfterItsStatus() throws {
    let call = try start(timeout: .seconds(600))
    try fake.run(
      client.loop,
      {
        fake.send(fake.handle(), "HTTP/3 200", "content-type: application/grpc+proto", "")
        receive("grpc-status: 0")
      })
    try client.loop.run { call.isFinished }
    #expect(recorder.end == ResponseEnd())
  }

  @Test func callWithoutStatusEndsAtItsDeadline() throws {
    let call = try start(timeout: .milliseconds(100))
    try fake.run(
      client.loop,
      {
        fake.send(fake.handle(), "HTTP/3 200", "content-type: application/grpc+proto", "")
        receive("x-a: b")
      })
    try client.loop.run { call.isFinished }
    #expect(recorder.end?.code == .deadlineExceeded)
  }
}
