import RPCurlCSchemas
import RPCurlProtobuf

/// A response of the reflection service: a ServerReflectionResponse.
struct ServerReflectionResponse {
  enum Content {
    /// Serialized FileDescriptorProtos.
    case files([[UInt8]])
    /// Full names of services. The leading dot that some servers write is removed.
    case services([String])
    /// A gRPC status code and its message.
    case error(code: Int, message: String)
    /// Empty, or a response to another kind of request.
    case nothing
  }

  /// The request that the server repeats; many servers omit it.
  let request: ServerReflectionRequest?
  let content: Content

  /// Decodes a response; `nil` if the bytes are invalid.
  init?(serialized bytes: [UInt8]) {
    let found = bytes.withUnsafeBytes { bytes in
      KnownMessage.unpack(bytes, rpcurl__schemas__server_reflection_response__unpack) {
        var response = Rpcurl__Schemas__ServerReflectionResponse()
        rpcurl__schemas__server_reflection_response__init(&response)
        return response.base.descriptor
      }
    }
    guard let message = found else { return nil }
    defer { rpcurl__schemas__server_reflection_response__free_unpacked(message, nil) }
    let response = message.pointee
    request = response.original_request.flatMap { ServerReflectionRequest($0.pointee) }
    switch response.message_response_case {
    case RPCURL__SCHEMAS__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE:
      content = .files(Self.files(response.file_descriptor_response.pointee))
    case RPCURL__SCHEMAS__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE:
      content = .services(Self.services(response.list_services_response.pointee))
    case RPCURL__SCHEMAS__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE:
      let error = response.error_response.pointee
      content = .error(code: Int(error.error_code), message: String(cString: error.error_message))
    default:
      content = .nothing
    }
  }

  private static func files(_ response: Rpcurl__Schemas__FileDescriptorResponse) -> [[UInt8]] {
    UnsafeBufferPointer(start: response.file_descriptor_proto, count: response.n_file_descriptor_proto)
      .map { Array(UnsafeBufferPointer(start: $0.data, count: $0.len)) }
  }

  private static func services(_ response: Rpcurl__Schemas__ListServiceResponse) -> [String] {
    UnsafeBufferPointer(start: response.service, count: response.n_service)
      .compactMap { $0.map { String(cString: $0.pointee.name) } }
      .map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
  }
}
