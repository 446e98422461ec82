import Interception
import Protobuf
import RPCProtocols
import Transport

/// What to call, where, and how.
public struct CallRequest {
  /// The method to call.
  public var method: MethodDescriptor
  /// The server: `http[s]://host[:port][/prefix]`, without a final slash.
  public var target: String
  /// Metadata to send.
  public var headers = Headers()
  /// How long the call may take; it travels to the server. `nil` is without a limit.
  public var timeout: Duration?
  /// The protocol to speak.
  public var protocolName = ProtocolName.grpc
  /// How messages are encoded on the wire.
  public var codec = CodecName.proto
  /// How messages are compressed; `nil` sends them as they are.
  public var compression: Compression?
  /// How the server may compress messages, the most wanted first; `nil` is all that this machine can read.
  public var acceptedCompressions: [Compression]?
  /// Whether a unary call over Connect is made by GET, if the method is marked `NO_SIDE_EFFECTS`.
  public var usesGET = false
  /// The longest URL of a call by GET, in bytes; a message that needs a longer one is sent by POST.
  public var maxURLBytes = 8192
  /// The limit for one received message after decompression, in bytes.
  public var maxMessageBytes = 64 << 20
  /// Whether the observer is told the size of each received message.
  public var tellsSizes = false
  /// How to reach the server.
  public var connection = ConnectionOptions()
  /// Addresses for names that earlier requests of the client gave.
  var formerAddresses: [String] = []
  /// Whether a stream of messages is sent only when its last one is known, and then with its length.
  public var isHeldUntilWhole = false
  /// The value of the `user-agent` header.
  public var userAgent: String

  /// Makes a request for a call over gRPC with protobuf.
  public init(method: MethodDescriptor, target: String, userAgent: String) {
    self.method = method
    self.target = target
    self.userAgent = userAgent
  }

  /// The name of the method.
  public var name: MethodName { MethodName(service: method.service, method: method.name) }
}

extension CallRequest {
  /// Where the call goes.
  var route: Route { Route(connection, formerAddresses: formerAddresses) }

  var facts: CallFacts {
    CallFacts(
      method: name, kind: method.kind, protocolName: protocolName, target: target, codec: codec,
      requestType: method.input, responseType: method.output)
  }

  var messageCodec: MessageCodec {
    let method = self.method
    switch codec {
    case .proto:
      return MessageCodec(
        serialize: { $0.serialized() },
        parseRequest: { try Message(method.input, serialized: $0) },
        parseResponse: { try Message(method.output, serialized: $0) })
    case .json:
      // A server may know fields that the schema here does not.
      let lenient = JSONDecodingOptions(allowUnknownFields: true)
      return MessageCodec(
        serialize: { try $0.json(options: JSONEncodingOptions()) },
        parseRequest: { try Message(method.input, json: $0, options: lenient) },
        parseResponse: { try Message(method.output, json: $0, options: lenient) })
    }
  }
}

extension MethodDescriptor {
  /// Which sides of the method are streams.
  public var kind: CallKind { CallKind(clientStreams: clientStreaming, serverStreams: serverStreaming) }
}
