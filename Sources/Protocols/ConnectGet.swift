import RPCurlProtobuf

/// The URL of a unary call without side effects by GET (Connect protocol, "Unary-Get-Request").
enum ConnectGet {
  /// The query with its question mark. The message is already compressed if it should be.
  static func query(_ message: [UInt8], codec: CodecName, _ compression: Compression?) -> String {
    // The order that the specification recommends: caches see the same URL from all clients.
    let isText = codec == .json && compression == nil
    var query = isText ? "?connect=v1" : "?connect=v1&base64=1"
    if let compression { query += "&compression=\(compression.rawValue)" }
    query += "&encoding=\(codec.rawValue)&message="
    return query + (isText ? PercentEncoding.encode(message) : urlSafe(message))
  }

  /// The parameters of a query, decoded; of parameters with the same name, the first.
  static func parameters(of query: Substring) -> [String: [UInt8]] {
    var parameters: [String: [UInt8]] = [:]
    for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        .map { part in
          PercentEncoding.decode(bytes: part.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
        }
      let name = String(decoding: parts[0], as: UTF8.self)
      if parameters[name] == nil { parameters[name] = parts.count > 1 ? parts[1] : [] }
    }
    return parameters
  }

  /// Base64 in the URL-safe alphabet, without padding.
  private static func urlSafe(_ bytes: [UInt8]) -> String {
    let text = Base64.encode(bytes, padding: false).utf8.map { byte in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: byte
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
