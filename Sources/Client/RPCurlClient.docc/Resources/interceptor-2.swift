import RPCurlClient

struct Tenant: Interceptor {
  func intercept(_ request: inout Request, next: Next) async throws -> Response {
    request.headers["x-tenant"] = "blue"
    let method = request.method
    request.onFinish { outcome in print(method, outcome.end.code.name, outcome.metrics.total) }
    return try await next(request)
  }
}
