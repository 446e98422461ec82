import RPCurlBase
import RPCurlCServer
import RPCurlPlatform
import RPCurlTransport

/// A certificate that is made for a listener, and the authority that signed it, whose key is not kept.
package struct MadeCertificate {
  /// How long both are valid.
  private static let days = 7
  /// With which a listener accepts TLS.
  package let identity: TLSIdentity
  /// The certificate of the authority in PEM, for clients.
  package let authority: [UInt8]

  /// Makes an authority that may sign for these names only, and a certificate for them.
  ///
  /// - Parameter names: Host names and IP addresses without brackets.
  package init(names: [String]) throws(SystemError) {
    for name in names where IPAddress.bytes(name) == nil && !Self.isHostName(name) {
      throw SystemError("\(name.debugDescription) is not a host name or an IP address")
    }
    guard !names.isEmpty else { throw SystemError("missing name of the certificate") }
    guard let authorityKey = cserver_make_key() else { throw TLSIdentity.lastError("no key") }
    defer { EVP_PKEY_free(authorityKey) }
    guard let key = cserver_make_key() else { throw TLSIdentity.lastError("no key") }
    defer { EVP_PKEY_free(key) }
    let root = try Self.certificate(
      "rpcurl proxy authority", authorityKey, issuer: nil, signedBy: authorityKey,
      [
        (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"), (NID_key_usage, "critical,keyCertSign"),
        (NID_ext_key_usage, "serverAuth"), (NID_subject_key_identifier, "hash"),
        (NID_name_constraints, "critical," + Self.constraints(names)),
      ])
    defer { X509_free(root) }
    let leaf = try Self.certificate(
      names[0], key, issuer: root, signedBy: authorityKey,
      [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
        (NID_ext_key_usage, "serverAuth"), (NID_subject_key_identifier, "hash"),
        (NID_authority_key_identifier, "keyid"),
        (
          NID_subject_alt_name,
          names.map { (IPAddress.bytes($0) == nil ? "DNS:" : "IP:") + $0 }.joined(separator: ",")
        ),
      ])
    defer { X509_free(leaf) }
    identity = try TLSIdentity([leaf], key: key)
    authority = try Self.pem(root)
  }

  /// Writes the certificate of the authority, without its key, to a file.
  package func writeAuthority(to path: String) throws(SystemError) {
    guard let file = try ReplacementFile.make(replacing: path) else {
      throw SystemError("not a regular file, or its folder cannot be written", path: path)
    }
    if let problem = file.complete({ FileContents.write(authority, to: $0) }) { throw problem.at(path) }
  }

  private static func isHostName(_ name: String) -> Bool {
    let isSafe = name.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D || $0 == 0x2E
    }
    return isSafe && (1...253).contains(name.utf8.count) && !name.hasPrefix(".")
  }

  /// The names that the authority may sign for. A kind of name without a name is excluded: it would be permitted otherwise.
  ///
  /// Addresses of the certificate have no rule: BoringSSL, and with it gRPC and Chromium, rejects an address to which a rule
  /// applies. The key of the authority does not exist any longer.
  private static func constraints(_ names: [String]) -> String {
    let hosts = names.filter { IPAddress.bytes($0) == nil }
    var rules = (hosts.isEmpty ? ["invalid"] : hosts).map { "permitted;DNS:\($0)" }
    if hosts.count == names.count {
      rules += ["excluded;IP:0.0.0.0/0.0.0.0", "excluded;IP:::/::"]
    }
    return rules.joined(separator: ",")
  }

  /// Makes a certificate. The caller frees it.
  private static func certificate(
    _ name: String, _ key: OpaquePointer, issuer: OpaquePointer?, signedBy signer: OpaquePointer,
    _ extensions: [(Int32, String)]
  ) throws(SystemError) -> OpaquePointer {
    guard let certificate = X509_new() else { throw TLSIdentity.lastError("no certificate") }
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1...(.max >> 1)))
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600)
    X509_gmtime_adj(X509_getm_notAfter(certificate), days * 86_400)
    let subject = X509_get_subject_name(certificate)
    let text = Array(name.utf8.prefix(64))
    let isComplete =
      X509_set_version(certificate, 2) == 1
      && X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, text, Int32(text.count), -1, 0)
        == 1
      && X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0) } ?? subject) == 1
      && X509_set_pubkey(certificate, key) == 1
      && extensions.allSatisfy { cserver_extend(certificate, issuer ?? certificate, $0.0, $0.1) }
      && X509_sign(certificate, signer, EVP_sha256()) > 0
    guard isComplete else {
      X509_free(certificate)
      throw TLSIdentity.lastError("the certificate cannot be made")
    }
    return certificate
  }

  private static func pem(_ certificate: OpaquePointer) throws(SystemError) -> [UInt8] {
    guard let memory = BIO_new(BIO_s_mem()) else { throw TLSIdentity.lastError("no memory") }
    defer { BIO_free(memory) }
    guard PEM_write_bio_X509(memory, certificate) == 1 else { throw TLSIdentity.lastError("no certificate") }
    var start: UnsafePointer<CChar>?
    let count = cserver_contents(memory, &start)
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }
}
