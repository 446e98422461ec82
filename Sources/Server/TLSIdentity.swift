import RPCurlBase
import RPCurlCServer
import RPCurlPlatform

/// A certificate with its key, with which a listener accepts TLS.
package final class TLSIdentity {
  /// The context of OpenSSL for the connections of a listener.
  let context: OpaquePointer

  /// Makes an identity of a certificate, those of its authorities, and a key.
  init(_ certificates: [OpaquePointer], key: OpaquePointer) throws(SystemError) {
    guard let context = cserver_context() else { throw Self.lastError("no TLS context") }
    self.context = context
    guard let leaf = certificates.first else { throw SystemError("no certificate in the file") }
    guard SSL_CTX_use_certificate(context, leaf) == 1 else { throw Self.lastError("unusable certificate") }
    guard SSL_CTX_use_PrivateKey(context, key) == 1, SSL_CTX_check_private_key(context) == 1 else {
      throw Self.lastError("the key does not belong to the certificate")
    }
    for certificate in certificates.dropFirst() {
      X509_up_ref(certificate)
      guard cserver_add_to_chain(context, certificate) else {
        X509_free(certificate)
        throw Self.lastError("unusable certificate of an authority")
      }
    }
  }

  deinit { SSL_CTX_free(context) }

  /// Reads a certificate, which those of its authorities may follow, and its key from files in PEM.
  ///
  /// - Throws: `SystemError` with the path of the file that cannot be used.
  package convenience init(certificateFile: String, keyFile: String) throws(SystemError) {
    let certificates = try Self.withMemory(of: certificateFile) { memory in
      var found: [OpaquePointer] = []
      while let certificate = PEM_read_bio_X509(memory, nil, nil, nil) { found.append(certificate) }
      return found
    }
    defer { for certificate in certificates { X509_free(certificate) } }
    ERR_clear_error()
    guard !certificates.isEmpty else { throw SystemError("no certificate in PEM", path: certificateFile) }
    let key = try Self.withMemory(of: keyFile) { cserver_read_key($0) }
    guard let key else {
      ERR_clear_error()
      throw SystemError(
        "no unencrypted private key in PEM", path: keyFile,
        hint: "decrypt it by: openssl pkey -in \(keyFile) -out FILE")
    }
    defer { EVP_PKEY_free(key) }
    do throws(SystemError) {
      try self.init(certificates, key: key)
    } catch {
      throw error.at(certificateFile)
    }
  }

  private static func withMemory<Result>(of path: String, _ body: (OpaquePointer) -> Result)
    throws(SystemError) -> Result
  {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try FileContents.read(path, limitBytes: FileContents.optionLimitBytes)
    } catch {
      throw error.at(path)
    }
    // OpenSSL reads from the bytes, and has no copy of them.
    let result = bytes.withUnsafeBytes { bytes -> Result? in
      guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
      defer { BIO_free(memory) }
      return body(memory)
    }
    guard let result else { throw lastError("no memory") }
    return result
  }

  /// The error of OpenSSL's queue, which is empty then.
  static func lastError(_ reason: String) -> SystemError {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard let detail = ERR_reason_error_string(code) else { return SystemError(reason) }
    return SystemError("\(reason): \(String(cString: detail))")
  }
}
