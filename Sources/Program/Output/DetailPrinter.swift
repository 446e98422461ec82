import RPCurlProtobuf
import RPCurlProtocols

/// Prints the details of a status, decoded with the call's schema, which always contains `google.rpc`.
package struct DetailPrinter {
  package let pool: DescriptorPool

  package init(pool: DescriptorPool) {
    self.pool = pool
  }

  /// A detail as text, for example `google.rpc.ErrorInfo: {"reason":"…"}`.
  ///
  /// If no schema contains the type: the Connect server's debug text, or the bytes in base64.
  package func line(_ detail: StatusDetail) -> String {
    guard !detail.typeName.isEmpty else {
      return "grpc-status-details-bin: \(detail.value.count) bytes that are not a google.rpc.Status, "
        + "base64 \(Base64.encode(detail.value))"
    }
    if let json = decoded(detail) { return "\(detail.typeName): \(json)" }
    if let debug = detail.debug { return "\(detail.typeName): \(debug) (as the server shows it)" }
    return "\(detail.typeName): \(detail.value.count) bytes, base64 \(Base64.encode(detail.value))"
  }

  /// The JSON form of a detail; nil if no schema declares its type and the server gave none.
  package func debug(_ detail: StatusDetail) -> String? { decoded(detail) ?? detail.debug }

  private func decoded(_ detail: StatusDetail) -> String? {
    guard let type = try? pool.messageType(named: detail.typeName),
      let message = try? Message(type, serialized: detail.value),
      let json = try? message.json(options: JSONEncodingOptions())
    else { return nil }
    return String(decoding: json, as: UTF8.self)
  }
}
