import RPCurlLanguage
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

  /// The message in a query, perhaps compressed; nil if there is none, or if it is not valid base64.
  static func message(in parameters: [String: [UInt8]]) -> [UInt8]? {
    parameters["message"].flatMap { parameters["base64"] == [UInt8(ascii: "1")] ? Base64.decode($0) : $0 }
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

extension HTTPRequest {
  /// The URL with a placeholder for the message of a call by GET, if it is to be hidden.
  ///
  /// - Parameter isHidden: Whether to hide the message, which is nil if it is compressed.
  package func shownURL(hidingMessage isHidden: (_ message: [UInt8]?) -> Bool) -> String {
    guard method == "GET", let query = url.firstRange(of: "?"), let name = url.firstRange(of: "&message=")
    else {
      return url
    }
    let parameters = ConnectGet.parameters(of: url[query.upperBound...])
    let message = parameters["compression"] == nil ? ConnectGet.message(in: parameters) : nil
    return isHidden(message) ? "\(url[..<name.upperBound])\(SecretMask.placeholder)" : url
  }
}
