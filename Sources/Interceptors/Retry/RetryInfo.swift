import Protobuf
import RPCProtocols

/// The detail `google.rpc.RetryInfo` of a status: how long to wait at least before the call is tried again.
enum RetryInfo {
  private static let typeName = "google.rpc.RetryInfo"

  /// Known once a status holds such a detail.
  private static let type: MessageType? = {
    let pool = DescriptorPool()
    guard (try? pool.add(WellKnownSchemas.set, source: WellKnownSchemas.sourceName)) != nil else {
      return nil
    }
    return try? pool.messageType(named: typeName)
  }()

  /// The time that the details of a status tell; `nil` when they tell none that can be read.
  static func delay(in details: [StatusDetail]) -> Duration? {
    guard let detail = details.first(where: { $0.typeName == typeName }), let type,
      let message = try? Message(type, serialized: detail.value),
      case .int64(let seconds)? = value("retry_delay.seconds", of: message),
      case .int32(let nanos)? = value("retry_delay.nanos", of: message),
      (0...315_576_000_000).contains(seconds), (0..<1_000_000_000).contains(nanos)
    else { return nil }
    return .seconds(seconds) + .nanoseconds(Int64(nanos))
  }

  private static func value(_ path: String, of message: Message) -> Value? {
    guard let path = try? FieldPath(path) else { return nil }
    return try? message.value(at: path)
  }
}
