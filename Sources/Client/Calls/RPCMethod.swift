import RPCurlProtobuf
import RPCurlProtocols

/// A method with the Swift types of its messages.
///
/// ```swift
/// extension Demo_V1_Demo {
///   static let hello = RPCMethod<Demo_V1_HelloRequest, Demo_V1_HelloReply>(
///     MethodName(service: "demo.v1.Demo", method: "Hello"),
///     serialize: { try $0.serializedBytes() }, parse: { try Demo_V1_HelloReply(serializedBytes: $0) })
/// }
/// let reply = try await client.unary(Demo_V1_Demo.hello, request)
/// ```
///
/// For the types of SwiftProtobuf, `RPCurlClientSwiftProtobuf` has a shorter initializer.
public struct RPCMethod<Input: Sendable, Output: Sendable>: Sendable {
  /// The full name.
  public let name: MethodName
  /// Which sides are streams.
  public let kind: CallKind
  let serialize: @Sendable (Input) throws -> [UInt8]
  let parse: @Sendable ([UInt8]) throws -> Output

  /// Makes a method from functions that turn its messages into protobuf's binary format and back.
  ///
  /// - Parameters:
  ///   - name: The full name.
  ///   - kind: Which sides are streams.
  ///   - serialize: Serializes a message of the request.
  ///   - parse: Parses a message of the response.
  public init(
    _ name: MethodName, _ kind: CallKind = .unary,
    serialize: @escaping @Sendable (Input) throws -> [UInt8],
    parse: @escaping @Sendable ([UInt8]) throws -> Output
  ) {
    self.name = name
    self.kind = kind
    self.serialize = serialize
    self.parse = parse
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
  init(_ method: RPCMethod<Input, Output>, _ descriptor: MethodDescriptor) {
    let (serialize, parse, name) = (method.serialize, method.parse, method.name)
    self.init(
      descriptor: descriptor, codec: .proto,
      encode: { (message) throws(RPCError) in
        do {
          return .bytes(try serialize(message))
        } catch {
          throw RPCError(thrown: error)
            ?? RPCError(.invalidArgument, "the request of \(name): \(error)", origin: .request)
        }
      },
      decode: { (payload) throws(RPCError) in
        do {
          return try parse(payload.serialized)
        } catch {
          throw RPCError(thrown: error)
            ?? RPCError(.internal, "the response of \(name) cannot be parsed: \(error)", origin: .violation)
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
      encode: { (value) throws(RPCError) in try value.payload(of: input, codec) },
      decode: { (payload) throws(RPCError) in
        do {
          switch payload {
          case .typed(let message): return message
          case .bytes(let bytes):
            // A server may use a newer schema with more fields.
            let lenient = JSONDecodingOptions(allowUnknownFields: true)
            return codec == .json
              ? try Message(output, json: bytes, options: lenient)
              : try Message(output, serialized: bytes)
          }
        } catch {
          throw RPCError(.internal, "the response cannot be parsed: \(error)", origin: .violation)
        }
      })
  }
}
