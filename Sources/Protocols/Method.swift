import RPCurlProtobuf

/// The full name of a method: its service and its own name.
public struct MethodName: Sendable, Hashable, CustomStringConvertible {
  /// The full name of the service, such as `demo.v1.Demo`.
  public let service: String
  /// The method's own name, such as `Hello`.
  public let method: String

  /// Makes a name from its two parts.
  public init(service: String, method: String) {
    self.service = service
    self.method = method
  }

  /// Parses `pkg.Service/Method` or `pkg.Service.Method`; `nil` if invalid.
  ///
  /// - Parameter text: The name.
  public init?(_ text: some StringProtocol) {
    self.init(parsing: String(text))
  }

  // Not generic: at the start of the program, the conformances of a generic type cost more than the text.
  private init?(parsing text: String) {
    let bytes = Array(text.utf8)
    let dot = UInt8(ascii: ".")
    guard let separator = bytes.lastIndex(of: UInt8(ascii: "/")) ?? bytes.lastIndex(of: dot) else {
      return nil
    }
    let (service, method) = (bytes[..<separator], bytes[(separator + 1)...])
    guard Self.isDottedName(service), Self.isDottedName(method), !method.contains(dot) else { return nil }
    self.init(
      service: String(decoding: service, as: UTF8.self), method: String(decoding: method, as: UTF8.self))
  }

  /// `pkg.Service/Method`, which is also the path of the method's URL.
  public var description: String { "\(service)/\(method)" }

  private static func isDottedName(_ text: ArraySlice<UInt8>) -> Bool {
    var isAtStart = true
    for byte in text {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
        isAtStart = false
      case UInt8(ascii: "0")...UInt8(ascii: "9") where !isAtStart: break
      case UInt8(ascii: ".") where !isAtStart: isAtStart = true
      default: return false
      }
    }
    return !isAtStart
  }
}

/// Which sides of a call are streams.
public enum CallKind: String, Sendable, CaseIterable {
  /// One message each way.
  case unary
  /// Any number of messages to the server, one back.
  case clientStreaming = "client_streaming"
  /// One message to the server, any number back.
  case serverStreaming = "server_streaming"
  /// Any number of messages each way, at once.
  case bidiStreaming = "bidi_streaming"

  /// Makes the kind from the two directions.
  public init(clientStreams: Bool, serverStreams: Bool) {
    self =
      switch (clientStreams, serverStreams) {
      case (false, false): .unary
      case (true, false): .clientStreaming
      case (false, true): .serverStreaming
      case (true, true): .bidiStreaming
      }
  }

  /// Whether the client may send other than exactly one message.
  public var clientStreams: Bool { self == .clientStreaming || self == .bidiStreaming }
  /// Whether the server may send other than exactly one message.
  public var serverStreams: Bool { self == .serverStreaming || self == .bidiStreaming }
}

/// A wire protocol.
public enum ProtocolName: String, Sendable, CaseIterable {
  /// gRPC over HTTP/2.
  case grpc
  /// gRPC-Web, over any version of HTTP.
  case grpcWeb = "grpc-web"
  /// Connect, over any version of HTTP.
  case connect
}

/// How messages are encoded on the wire.
public enum CodecName: String, Sendable, CaseIterable {
  /// Protobuf's binary form.
  case proto
  /// ProtoJSON.
  case json
}

extension CodecName {
  /// Serializes a message.
  ///
  /// - Throws: An error if JSON has no form for a value of the message.
  package func serialize(_ message: Message) throws -> [UInt8] {
    switch self {
    case .proto: message.serialized()
    case .json: try message.json(options: JSONEncodingOptions())
    }
  }

  /// Parses a message, whose sender may use a newer schema with more fields.
  package func parse(_ bytes: [UInt8], as type: MessageType) throws -> Message {
    switch self {
    case .proto: try Message(type, serialized: bytes)
    case .json: try Message(type, json: bytes, options: JSONDecodingOptions(allowUnknownFields: true))
    }
  }
}
