import RPCurlProtobuf
import RPCurlProtocols

/// The detail `google.rpc.RetryInfo` of a status: the minimum time before a retry.
enum RetryInfo {
  private static let typeName = "google.rpc.RetryInfo"

  /// The time in the details of a status; `nil` if they contain no valid one.
  static func delay(in details: [StatusDetail]) -> Duration? {
    guard let detail = details.first(where: { $0.typeName == typeName }),
      let type = WellKnownMessages.type(typeName),
      let message = try? Message(type, serialized: detail.value),
      case .int64(let seconds)? = WellKnownMessages.value("retry_delay.seconds", of: message),
      case .int32(let nanos)? = WellKnownMessages.value("retry_delay.nanos", of: message),
      (0...315_576_000_000).contains(seconds), (0..<1_000_000_000).contains(nanos)
    else { return nil }
    return .seconds(seconds) + .nanoseconds(Int64(nanos))
  }
}
