import RPCurlProtobuf

/// Why libcurl sends a request again over another connection.
enum ReasonToRepeat: Equatable {
  /// The connection failed before the response. libcurl repeats any request then, if others have used the connection.
  /// The detail is what the system or the TLS library reported, such as "Connection reset by peer"; "" if it reported nothing.
  case loss(detail: String)
  /// The server has refused the request unprocessed (RFC 9113, section 8.7).
  case refusal
  /// The server requires HTTP/1.1.
  case requiredHTTP1
  /// Nothing of the request was sent, or it has no side effects.
  case isSafe

  /// Finds out the reason for a request that was sent.
  ///
  /// - Parameters:
  ///   - isSafe: Whether it has no side effects. After a loss it may be sent again; a server that refuses it receives it as
  ///     often as another request.
  ///   - overHTTP2: Whether it was sent over HTTP/2, without which no server can refuse it unprocessed.
  ///   - restOfError: libcurl's message since the request was sent, without its first character.
  ///   - byOldLibcurl: Whether libcurl is older than 8.14, which reports nothing of some lost connections.
  init(isSafe: Bool, overHTTP2: Bool, restOfError: String, byOldLibcurl: Bool) {
    let cause = restOfError.firstRange(of: ": ").map { restOfError[$0.upperBound...] } ?? ""
    let loss = isSafe ? Self.isSafe : Self.loss(detail: String(cause))
    guard overHTTP2 else {
      self = loss
      return
    }
    // Of a refused request, libcurl reports nothing; of one that the server requires over HTTP/1.1, that or an "Empty reply".
    if restOfError.isEmpty {
      self = byOldLibcurl ? loss : .refusal
    } else {
      self =
        ["HTTP_1_1_REQUIRED", "mpty reply"].contains(where: restOfError.contains) ? .requiredHTTP1 : loss
    }
  }
}
