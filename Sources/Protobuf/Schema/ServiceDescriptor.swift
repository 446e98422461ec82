/// A service of a schema.
public struct ServiceDescriptor: Sendable {
  /// The full name.
  public let name: String
  /// The `.proto` file that defines it.
  package let file: String
  /// The methods in the order of the `.proto` file.
  public let methods: [MethodDescriptor]
  /// Whether it is marked `deprecated`.
  package let isDeprecated: Bool
  /// The options, including custom ones.
  public let options: DescriptorOptions

  /// Finds a method.
  ///
  /// - Parameter name: The method's own name.
  public func method(named name: String) -> MethodDescriptor? {
    methods.first { $0.name == name }
  }
}

/// A method of a service.
public struct MethodDescriptor: Sendable {
  /// The service's full name.
  public let service: String
  /// The method's name.
  public let name: String
  /// The type of request messages.
  public let input: MessageType
  /// The type of response messages.
  public let output: MessageType
  /// Whether the request is a stream.
  public let clientStreaming: Bool
  /// Whether the response is a stream.
  public let serverStreaming: Bool
  /// The idempotency level; nil if it is unknown.
  let idempotency: IdempotencyLevel?
  /// Whether it is marked `deprecated`.
  package let isDeprecated: Bool
  /// The options, including custom ones such as `(google.api.http)`.
  public let options: DescriptorOptions

  /// Whether the idempotency level is `NO_SIDE_EFFECTS`, which allows Connect's GET.
  public var hasNoSideEffects: Bool { idempotency == .noSideEffects }
  /// Whether repeating a call has no further effect: `NO_SIDE_EFFECTS` or `IDEMPOTENT`.
  public var isIdempotent: Bool { idempotency != nil }
}

/// `MethodOptions.IdempotencyLevel` of `descriptor.proto`, without `IDEMPOTENCY_UNKNOWN`.
enum IdempotencyLevel: UInt32 {
  case noSideEffects = 1
  case idempotent
}
