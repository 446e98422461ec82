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

  /// The HTTP status of a unary response in Connect (Connect protocol, "Error Codes").
  package static func status(_ code: StatusCode) -> Int {
    switch code {
    case .ok: 200
    case .invalidArgument, .failedPrecondition, .outOfRange: 400
    case .unauthenticated: 401
    case .permissionDenied: 403
    case .notFound: 404
    case .alreadyExists, .aborted: 409
    case .resourceExhausted: 429
    case .canceled: 499
    case .unknown, .internal, .dataLoss: 500
    case .unimplemented: 501
    case .unavailable: 503
    case .deadlineExceeded: 504
    }
  }
}
