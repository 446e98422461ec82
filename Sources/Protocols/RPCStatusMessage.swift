import RPCurlCSchemas
import RPCurlProtobuf

/// The message `google.rpc.Status`, read with protobuf-c.
enum RPCStatusMessage {
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
