import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// What selects a stored response.
enum CacheKey {
  /// The key of a request: everything on which its response may depend.
  ///
  /// Headers with credentials are always part of it, so that one user of a server does not get the response to another.
  /// The folder stores a hash of the key only.
  ///
  /// - Parameters:
  ///   - names: The names of further headers that are part of it, in lower case.
  ///   - secret: Which headers have credentials.
  ///   - fingerprints: What identifies the interceptors that the response depends on, in the order of the chain.
  static func bytes(
    of message: Message, _ start: RequestStart, _ call: CallFacts, _ names: Set<String>,
    secret: SecretNames, _ fingerprints: [String]
  ) -> [UInt8] {
    let headers = start.headers.fields.enumerated().filter { _, field in
      names.contains(field.name) || secret.contains(field.name)
    }.sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
    let texts = [
      call.protocolName.rawValue, call.codec.rawValue, start.target, call.route, "\(start.method)",
      "\(headers.count)", "\(fingerprints.count)",
    ]
    // Each text ends with a byte that UTF-8 does not contain.
    let parts = texts + fingerprints + headers.flatMap { [$0.element.name, $0.element.value] }
    return parts.flatMap { Array($0.utf8) + [0xFF] } + message.serialized()
  }
}
