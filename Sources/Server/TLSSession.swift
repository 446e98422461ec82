import RPCurlCServer

/// The TLS of one connection: encrypted bytes in and out, without I/O.
final class TLSSession {
  /// The protocol that the handshake selects.
  enum Selected {
    case http1
    case http2
    /// The client offers none.
    case none
  }

  private let ssl: OpaquePointer
  /// What the client sends, and what is sent to it. OpenSSL owns both.
  private let input: OpaquePointer
  private let output: OpaquePointer

  /// Makes a session; nil without memory.
  init?(_ identity: TLSIdentity) {
    guard let ssl = SSL_new(identity.context) else { return nil }
    guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
      SSL_free(ssl)
      return nil
    }
    (self.ssl, self.input, self.output) = (ssl, input, output)
    SSL_set_bio(ssl, input, output)
    SSL_set_accept_state(ssl)
  }

  deinit {
    SSL_free(ssl)
    ERR_clear_error()
  }

  var isEstablished: Bool { SSL_is_init_finished(ssl) == 1 }

  var selected: Selected {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    return count == 0 ? .none : count == 2 ? .http2 : .http1
  }

  /// Receives encrypted bytes.
  ///
  /// - Returns: false if the client has ended TLS, or breaks its rules: an alert may be in the output.
  func receive(_ bytes: RawSpan, _ decrypted: (RawSpan) -> Void) -> Bool {
    let written = bytes.withUnsafeBytes { BIO_write(input, $0.baseAddress, Int32(clamping: $0.count)) }
    guard written == bytes.byteCount else { return false }
    return withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
      while true {
        ERR_clear_error()
        let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
        guard count > 0 else { return SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ }
        decrypted(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]).bytes)
      }
    }
  }

  /// Encrypts bytes. Returns false if that fails.
  func send(_ bytes: [UInt8]) -> Bool {
    ERR_clear_error()
    return bytes.isEmpty || SSL_write(ssl, bytes, Int32(clamping: bytes.count)) == bytes.count
  }

  /// Announces the end.
  func end() {
    ERR_clear_error()
    if isEstablished { SSL_shutdown(ssl) }
  }

  /// Moves the encrypted bytes to send to an array.
  func moveOutput(to bytes: inout [UInt8]) {
    var start: UnsafePointer<CChar>?
    let count = cserver_contents(output, &start)
    guard count > 0 else { return }
    bytes += UnsafeRawBufferPointer(start: start, count: count)
    // Empty again, with the same memory.
    cserver_empty(output)
  }
}
