import RPCurlClient

struct Tenant: Interceptor {
  func intercept(_ request: inout Request, next: Next) async throws -> Response {
    request.headers["x-tenant"] = "blue"
    return try await next(request)
  }
}
