import RPCurlProtobuf
import RPCurlProtocols

/// A method with the types of its messages and its kind, which are checked when the program is compiled: a stream cannot be called as
/// a unary method.
///
/// Its names are ``UnaryMethod``, ``ServerStreamingMethod``, ``ClientStreamingMethod`` and ``BidirectionalMethod``. A method of a
/// schema has dynamic messages:
///
/// ```swift
/// let hello: UnaryMethod = try schema.method("demo.v1.Demo/Hello")
/// let reply = try await client.unary(hello, ["name": "Ada"])
/// ```
///
/// A method with types of its own has functions that serialize and parse them:
///
/// ```swift
/// let hello = UnaryMethod<HelloRequest, HelloReply>(
///   MethodName(service: "demo.v1.Demo", method: "Hello"),
///   serialize: { try $0.bytes() }, parse: { try HelloReply(bytes: $0) })
/// let reply = try await client.unary(hello, HelloRequest(name: "Ada"))
/// ```
///
/// For the types of SwiftProtobuf, `RPCurlClientSwiftProtobuf` has shorter forms.
public struct RPCMethod<Input: Sendable, Output: Sendable, Kind: MethodKind>: Sendable {
  /// The full name.
  public let name: MethodName
  /// Finds what a client needs for calls.
  let resolve: @Sendable (MethodResolver, CodecName) throws(RPCError) -> ResolvedMethod<Input, Output>

  /// Makes a method from functions that turn its messages into protobuf's binary format and back. A client with a schema checks its
  /// name and its kind at the first call.
  ///
  /// - Parameters:
  ///   - name: The full name.
  ///   - serialize: Serializes a message of the request. If it throws, the call fails with `invalidArgument`, or with the `RPCError`
  ///     that it throws.
  ///   - parse: Parses a message of the response. If it throws, the call fails with `internal`, or with the `RPCError` that it throws.
  public init(
    _ name: MethodName, serialize: @escaping @Sendable (Input) throws -> [UInt8],
    parse: @escaping @Sendable ([UInt8]) throws -> Output
  ) {
    self.init(name, messages: nil, serialize: serialize, parse: parse)
  }

  /// Makes a method of which only the name is known.
  ///
  /// - Parameters:
  ///   - name: The full name.
  ///   - messages: The names of the messages, which a client with a schema checks; nil if they are not known.
  ///   - serialize: Serializes a message of the request.
  ///   - parse: Parses a message of the response.
  package init(
    _ name: MethodName, messages: MessageNames?, serialize: @escaping @Sendable (Input) throws -> [UInt8],
    parse: @escaping @Sendable ([UInt8]) throws -> Output
  ) {
    self.name = name
    let signature = MethodSignature(kind: Kind.kind, messages: messages)
    resolve = { (resolver, _) throws(RPCError) in
      ResolvedMethod(try resolver.descriptor(name, signature), serialize, parse)
    }
  }

  /// Makes a method of a schema.
  ///
  /// - Parameters:
  ///   - descriptor: The method, whose kind and messages are those of the types.
  ///   - serialize: Serializes a message of the request.
  ///   - parse: Parses a message of the response.
  package init(
    _ descriptor: MethodDescriptor, serialize: @escaping @Sendable (Input) throws -> [UInt8],
    parse: @escaping @Sendable ([UInt8]) throws -> Output
  ) {
    name = descriptor.fullName
    resolve = { (_, _) in ResolvedMethod(descriptor, serialize, parse) }
  }
}

extension RPCMethod where Input == FieldValue, Output == Message {
  /// Makes a method of a schema with dynamic messages.
  ///
  /// - Parameter descriptor: The method, whose kind is that of the type.
  init(_ descriptor: MethodDescriptor) {
    name = descriptor.fullName
    resolve = { (_, codec) in ResolvedMethod(descriptor, codec: codec) }
  }
}

/// A method with one message each way.
public typealias UnaryMethod<Input: Sendable, Output: Sendable> = RPCMethod<Input, Output, CallKind.Unary>
/// A method with one message to the server, and any number back.
public typealias ServerStreamingMethod<Input: Sendable, Output: Sendable> =
  RPCMethod<Input, Output, CallKind.ServerStreaming>
/// A method with any number of messages to the server, and one back.
public typealias ClientStreamingMethod<Input: Sendable, Output: Sendable> =
  RPCMethod<Input, Output, CallKind.ClientStreaming>
/// A method with any number of messages each way, at once.
public typealias BidirectionalMethod<Input: Sendable, Output: Sendable> =
  RPCMethod<Input, Output, CallKind.Bidirectional>

/// The kind of a method as a type.
public protocol MethodKind: Sendable {
  /// Which sides are streams.
  static var kind: CallKind { get }
}

extension CallKind {
  /// The kind of a `UnaryMethod`.
  public enum Unary: MethodKind {
    /// `unary`.
    public static let kind = CallKind.unary
  }

  /// The kind of a `ServerStreamingMethod`.
  public enum ServerStreaming: MethodKind {
    /// `serverStreaming`.
    public static let kind = CallKind.serverStreaming
  }

  /// The kind of a `ClientStreamingMethod`.
  public enum ClientStreaming: MethodKind {
    /// `clientStreaming`.
    public static let kind = CallKind.clientStreaming
  }

  /// The kind of a `BidirectionalMethod`.
  public enum Bidirectional: MethodKind {
    /// `bidiStreaming`.
    public static let kind = CallKind.bidiStreaming
  }
}

/// A method that is known to exist, with the form of its messages.
struct ResolvedMethod<Input: Sendable, Output: Sendable>: Sendable {
  let descriptor: MethodDescriptor
  let codec: CodecName
  let encode: @Sendable (Input) throws(RPCError) -> Payload
  let decode: @Sendable (Payload) throws(RPCError) -> Output
}

extension ResolvedMethod {
  /// A method with generated types, which are binary on the wire.
  init(
    _ descriptor: MethodDescriptor, _ serialize: @escaping @Sendable (Input) throws -> [UInt8],
    _ parse: @escaping @Sendable ([UInt8]) throws -> Output
  ) {
    self.init(
      descriptor: descriptor, codec: .proto,
      encode: { (message) throws(RPCError) in
        do {
          return .bytes(try serialize(message))
        } catch {
          throw RPCError(thrown: error)
            ?? RPCError(.invalidArgument, "the request of \(descriptor.fullName): \(error)", origin: .request)
        }
      },
      decode: { (payload) throws(RPCError) in
        do {
          return try parse(payload.serialized)
        } catch {
          throw RPCError(thrown: error)
            ?? RPCError(
              .internal, "the response of \(descriptor.fullName) cannot be parsed: \(error)",
              origin: .violation)
        }
      })
  }
}

extension ResolvedMethod where Input == FieldValue, Output == Message {
  /// A method with dynamic messages.
  init(_ descriptor: MethodDescriptor, codec: CodecName) {
    let (input, output) = (descriptor.input, descriptor.output)
    self.init(
      descriptor: descriptor, codec: codec,
      encode: { (value) throws(RPCError) in try value.payload(of: input, codec, as: "the request") },
      decode: { (payload) throws(RPCError) in
        do {
          switch payload {
          case .typed(let message): return message
          case .bytes(let bytes): return try codec.parse(bytes, as: output)
          }
        } catch {
          throw RPCError(.internal, "the response cannot be parsed: \(error)", origin: .violation)
        }
      })
  }
}
