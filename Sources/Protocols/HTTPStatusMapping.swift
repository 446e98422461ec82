/// The status code of a response that carries no RPC status, by its HTTP status.
package enum HTTPStatusMapping {
  /// For gRPC and gRPC-Web ("HTTP to gRPC Status Code Mapping").
  package static func grpc(_ status: Int) -> StatusCode {
    switch status {
    case 400: .internal
    case 401: .unauthenticated
    case 403: .permissionDenied
    case 404: .unimplemented
    case 429, 502, 503, 504: .unavailable
    default: .unknown
    }
  }

  /// For Connect ("HTTP to Error Code").
  static func connect(_ status: Int) -> StatusCode {
    grpc(status)
  }
}
