import RPCurlClient
import RPCurlClientInterceptors

struct Tenant: Interceptor {
  let replayLimitBytes = 1 << 20

  func intercept(_ request: inout Request, next: Next) async throws -> Response {
    request.headers["x-tenant"] = "blue"
    let method = request.method
    request.onFinish { outcome in print(method, outcome.end.code.name, outcome.metrics.total) }
    do {
      let response = try await next(request)
      var messages: [Message] = []
      for try await message in response.messages { messages.append(message) }
      return Response(start: response.start, messages: messages)
    } catch let error as RPCError where error.code == .unavailable {
      return try await next(request)
    }
  }
}

let limit = try BuiltIn("limit", ["rate": "100/s"])
try await withRPCClient(
  "http://localhost:50051", schema: .reflection, interceptors: [Tenant(), limit]
) { client in
  _ = try await client.unary("demo.v1.Demo/Hello", ["name": "Ada"])
}
