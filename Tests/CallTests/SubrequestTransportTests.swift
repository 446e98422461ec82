import RPCurlBase
import RPCurlCCurl
import RPCurlCFakeCurl
import RPCurlChain
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport
import RPCurlTransportSupport
import Testing

@testable import RPCurlCall

/// Calls of interceptors, over a libcurl without a network.
struct SubrequestTransportTests {
  private let fake = FakeLibcurl()

  /// The options of the call that belong to its server: all but those that name the other one.
  @Test(
    arguments: [nil, .seconds(1)] as [Duration?],
    [(nil, true), ("https://H:443/x", true), ("https://other", false)])
  func onlyServerOfTheCallReceivesItsOptions(
    _ lingering: Duration?, _ other: (target: String?, isServer: Bool)
  ) throws {
    let client = try LoopClient()
    let name = try #require(MethodName("pkg.S/M"))
    var request = CallRequest(
      method: try OpaqueMethod.descriptor(of: name), target: "https://h", userAgent: "test")
    request.connection.isInsecure = true
    request.connection.certificate = ConnectionOptions.Certificate(file: "c")
    request.connection.connectTo = ["::evil:1", "other:443:local:1"]
    request.connection.unixSocket = "/s"
    let transport = ClientSubrequestTransport(client, request, onFinding: { _ in })
    var own = Subrequest(method: name, target: other.target)
    own.lingering = lingering
    transport.call(own, for: request.facts, excluding: []) { _ in }
    try client.loop.run { fake.handle() != nil }
    let handle = fake.handle()
    #expect((fake_long(handle, CURLOPT_SSL_VERIFYPEER) == 0) == other.isServer)
    #expect((fake_string(handle, CURLOPT_SSLCERT) != nil) == other.isServer)
    #expect((fake_string(handle, CURLOPT_UNIX_SOCKET_PATH) != nil) == other.isServer)
    #expect(fake_list_contains(handle, CURLOPT_CONNECT_TO, "::evil:1") == other.isServer)
    #expect(fake_list_contains(handle, CURLOPT_CONNECT_TO, "other:443:local:1"))
    transport.end()
    try fake.run(client.loop)
  }

  /// The other interceptors receive the types of the schema, unless it has no such method.
  @Test(arguments: [("Check", false), ("Watch", true), ("Other", true)])
  func methodIsThatOfTheSchema(_ method: String, _ isOpaque: Bool) throws {
    let pool = DescriptorPool()
    try pool.add(WellKnownSchemas.set, source: "types")
    try pool.add(WellKnownSchemas.services, source: "services")
    let service = "grpc.health.v1.Health"
    let made = Locked<CallFacts?>(nil)
    let recorder = ClosureFactory { facts, _ in
      made.withLock { $0 = facts }
      return nil
    }
    let client = try LoopClient()
    var request = CallRequest(
      method: try #require(try pool.method(service: service, method: "Check")), target: "https://h",
      userAgent: "test")
    request.interceptors = [InterceptorRegistration(name: "recorder", factory: recorder)]
    let transport = ClientSubrequestTransport(client, request, onFinding: { _ in })
    let own = Subrequest(method: MethodName(service: service, method: method))
    transport.call(own, for: request.facts, excluding: []) { _ in }
    try client.loop.run { fake.handle() != nil }
    let facts = try #require(made.withLock { $0 })
    #expect(facts.isOpaque == isOpaque)
    #expect((facts.requestType?.name == "grpc.health.v1.HealthCheckRequest") == !isOpaque)
    transport.end()
    try fake.run(client.loop)
  }
}
