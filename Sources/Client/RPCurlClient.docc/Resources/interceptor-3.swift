import RPCurlClient

struct Tenant: Interceptor {
  let replayLimitBytes = 1 << 20

  func intercept(_ request: inout Request, next: Next) async throws -> Response {
    request.headers["x-tenant"] = "blue"
    let method = request.method
    request.onFinish { outcome in print(method, outcome.end.code.name, outcome.metrics.total) }
    do {
      return try await next(request)
    } catch let error as RPCError where error.code == .unavailable {
      return try await next(request)
    }
  }
}
