import RPCurlCSchemas

/// A request to the reflection service: a ServerReflectionRequest.
package enum ServerReflectionRequest: Hashable, Sendable {
  /// The file that defines a symbol, with or without the files that it imports.
  case fileContaining(symbol: String)
  /// The file that defines the extension with this number of a message type.
  case fileContainingExtension(of: String, number: UInt32)
  /// The file with this name.
  case file(named: String)
  /// The names of all services.
  case services

  /// The symbol whose file is requested; nil for other requests.
  package var symbol: String? {
    if case .fileContaining(let symbol) = self { symbol } else { nil }
  }

  /// The serialized request.
  package func serialized() -> [UInt8] {
    var text = argument.utf8CString
    return text.withUnsafeMutableBufferPointer { text in
      var extensionRequest = Rpcurl__Schemas__ExtensionRequest()
      return withUnsafeMutablePointer(to: &extensionRequest) { extensionRequest in
        rpcurl__schemas__extension_request__init(extensionRequest)
        var request = Rpcurl__Schemas__ServerReflectionRequest()
        rpcurl__schemas__server_reflection_request__init(&request)
        switch self {
        case .fileContaining:
          request.message_request_case =
            RPCURL__SCHEMAS__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL
          request.file_containing_symbol = text.baseAddress
        case .fileContainingExtension(_, let number):
          request.message_request_case =
            RPCURL__SCHEMAS__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION
          extensionRequest.pointee.containing_type = text.baseAddress
          extensionRequest.pointee.extension_number = Int32(truncatingIfNeeded: number)
          request.file_containing_extension = extensionRequest
        case .file:
          request.message_request_case =
            RPCURL__SCHEMAS__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME
          request.file_by_filename = text.baseAddress
        case .services:
          request.message_request_case =
            RPCURL__SCHEMAS__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES
          request.list_services = text.baseAddress
        }
        let size = rpcurl__schemas__server_reflection_request__get_packed_size(&request)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
          count = rpcurl__schemas__server_reflection_request__pack(&request, buffer.baseAddress)
        }
      }
    }
  }

  private var argument: String {
    switch self {
    case .fileContaining(let symbol): symbol
    case .fileContainingExtension(let type, _): type
    case .file(let name): name
    // Servers ignore the text; the specification does not define it.
    case .services: "*"
    }
  }

  /// The request that a server repeats in its response; `nil` if it is another one.
  init?(_ request: Rpcurl__Schemas__ServerReflectionRequest) {
    switch request.message_request_case {
    case RPCURL__SCHEMAS__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
      self = .fileContaining(symbol: String(cString: request.file_containing_symbol))
    case RPCURL__SCHEMAS__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION:
      let extensionRequest = request.file_containing_extension.pointee
      self = .fileContainingExtension(
        of: String(cString: extensionRequest.containing_type),
        number: UInt32(truncatingIfNeeded: extensionRequest.extension_number))
    case RPCURL__SCHEMAS__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
      self = .file(named: String(cString: request.file_by_filename))
    case RPCURL__SCHEMAS__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
      self = .services
    default: return nil
    }
  }
}
