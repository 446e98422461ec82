import RPCurlProtobuf

/// How the chain serializes and parses messages, in the call's codec. It does neither before a stage needs the form.
package struct MessageCodec {
  package let serialize: (Message) throws -> [UInt8]
  let parseRequest: ([UInt8]) throws -> Message
  let parseResponse: ([UInt8]) throws -> Message

  /// Makes a codec.
  ///
  /// - Parameters:
  ///   - serialize: Serializes a message of either direction.
  ///   - parseRequest: Parses a request message that the caller gave as bytes.
  ///   - parseResponse: Parses a response message.
  package init(
    serialize: @escaping (Message) throws -> [UInt8], parseRequest: @escaping ([UInt8]) throws -> Message,
    parseResponse: @escaping ([UInt8]) throws -> Message
  ) {
    self.serialize = serialize
    self.parseRequest = parseRequest
    self.parseResponse = parseResponse
  }
}
