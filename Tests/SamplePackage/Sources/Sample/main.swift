// Calls demo.v1.Demo through its own interceptor and a built-in one: Sample DESCRIPTOR-SET|reflection URL NAME PROTOCOL
import Glibc
import RPCurlClient
import RPCurlClientInterceptors
import RPCurlClientSwiftProtobuf

struct Tenant: Interceptor {
  func intercept(_ request: inout Request, next: Next) async throws -> Response {
    request.headers["x-tenant"] = "blue"
    return try await next(request)
  }
}

enum Demo {
  static let hello = UnaryMethod<Demo_V1_HelloRequest, Demo_V1_HelloReply>(
    service: "demo.v1.Demo", method: "Hello")
}

guard CommandLine.argc == 5, let protocolName = ProtocolName(rawValue: CommandLine.arguments[4]) else {
  throw RPCError(.invalidArgument, "four arguments, the last a protocol", origin: .client)
}
let source = CommandLine.arguments[1]
let schema = source == "reflection" ? .reflection : try Schema(descriptorSet: source)
let greeting = try BuiltIn("header", ["set": "x-greeting:hi"])
var options = ClientOptions()
options.protocolName = protocolName
// The tests also run where libcurl is older than 8.14.
options.allowsOldLibcurl = getenv("ALLOWS_OLD_LIBCURL") != nil
do {
  try await withRPCClient(
    CommandLine.arguments[2], schema: schema, options: options, interceptors: [Tenant(), greeting]
  ) { client in
    let reply = try await client.unary(
      "demo.v1.Demo/Hello", ["name": CommandLine.arguments[3]], timeout: .seconds(10))
    print(try reply.message["message"] as String)

    let count: ServerStreamingMethod = try await client.method("demo.v1.Demo/Count")
    for try await item in try await client.serverStreaming(count, ["from": 1, "to": 3]) {
      print(try item["number"] as Int)
    }

    let sum = try await client.clientStreaming(
      "demo.v1.Demo/Sum", [["value": 1], ["value": 2], ["value": 39]])
    print(try sum.message["total"] as Int)

    try await client.bidirectional("demo.v1.Demo/Chat") { requests, responses in
      var texts = ["hello", "how are you", "bye"][...]
      try await requests.send(["text": texts.removeFirst()])
      for try await response in responses {
        print(try response["text"] as String)
        guard let text = texts.popFirst() else { break }
        try await requests.send(["text": text])
      }
    }

    let hello: UnaryMethod<Demo_V1_HelloRequest, Demo_V1_HelloReply> =
      try await client.method("demo.v1.Demo/Hello")
    let typed = try await client.unary(hello, .with { $0.name = "Grace" })
    print(typed.message.message)

    let metadata = try await client.unary("demo.v1.Demo/EchoMetadata", [:])
    for header in try metadata.message["headers"] as [Message]
    where ["x-tenant", "x-greeting"].contains(try header["name"] as String) {
      print(try header["value"] as String)
    }

    do {
      _ = try await client.unary(Demo.hello, .init())
    } catch let error as RPCError {
      for detail in await client.details(of: error) {
        print(detail.type.name, try detail["field_violations[0].field"] as String)
      }
    }
  }
} catch let error as RPCError {
  print(error)
}
