import RPCurlCSchemas
import RPCurlProtobuf

/// The message `google.rpc.Status`, read with protobuf-c.
enum RPCStatusMessage {
  /// The serialized status of an error.
  static func bytes(_ error: RPCError) -> [UInt8] {
    // Status.code = 1, which is less than 128; message = 2; details = 3, of google.protobuf.Any: type_url = 1, value = 2.
    var status: [UInt8] = [0x08, UInt8(truncatingIfNeeded: error.code.rawValue), 0x12]
    status.append(delimited: Array(error.message.utf8))
    for detail in error.details {
      var any: [UInt8] = [0x0A]
      any.append(delimited: Array("type.googleapis.com/\(detail.typeName)".utf8))
      any.append(0x12)
      any.append(delimited: detail.value)
      status.append(0x1A)
      status.append(delimited: any)
    }
    return status
  }

  /// The details of a serialized status; `nil` if the bytes are not one.
  static func details(_ bytes: [UInt8]) -> [StatusDetail]? {
    let found = bytes.withUnsafeBytes { bytes in
      KnownMessage.unpack(bytes, rpcurl__schemas__status__unpack) {
        var status = Rpcurl__Schemas__Status()
        rpcurl__schemas__status__init(&status)
        return status.base.descriptor
      }
    }
    guard let status = found else { return nil }
    defer { rpcurl__schemas__status__free_unpacked(status, nil) }
    let details = UnsafeBufferPointer(start: status.pointee.details, count: status.pointee.n_details)
    // Other bytes may look like unknown fields.
    guard !details.isEmpty || status.pointee.base.n_unknown_fields == 0 else { return nil }
    return details.compactMap { detail in
      guard let any = detail?.pointee else { return nil }
      let typeURL = any.type_url.map { String(cString: $0) } ?? ""
      let value = Array(UnsafeBufferPointer(start: any.value.data, count: any.value.len))
      // `type.googleapis.com/google.rpc.ErrorInfo`: only the part after the last slash names the type.
      return StatusDetail(typeName: String(typeURL.split(separator: "/").last ?? ""), value: value)
    }
  }
}
