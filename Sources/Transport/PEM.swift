import RPCurlProtocols

/// Certificates and keys in memory. libcurl's errors do not say which of them is invalid.
enum PEM {
  /// The name of bytes in errors, in place of that of a file.
  static func name(of what: String) -> String { "(\(what) in memory)" }

  /// Whether there is a block whose label ends with a text: `PRIVATE KEY` also is the end of `EC PRIVATE KEY`.
  static func hasBlock(_ label: String, in pem: [UInt8]) -> Bool {
    // Each transfer searches: bytes are read up to the block, and characters are not formed.
    let (begin, end) = (Array("-----BEGIN ".utf8), Array("\(label)-----".utf8))
    var start = pem.startIndex
    while start < pem.endIndex {
      let rest = pem[start...]
      let stop = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? rest.endIndex
      let line = pem[start..<stop]
      if line.starts(with: begin), line.indices.contains(where: { line[$0...].starts(with: end) }) {
        return true
      }
      start = stop + 1
    }
    return false
  }
}

extension ConnectionOptions.Certificate {
  /// Why the certificate or the key in memory cannot be used; nil if it may be valid, or is in a file.
  var problem: ConnectionCause? {
    guard let pem else { return nil }
    guard PEM.hasBlock("CERTIFICATE", in: pem) else { return .invalidClientCertificate(file: file) }
    guard PEM.hasBlock("PRIVATE KEY", in: keyPEM ?? pem) else {
      return keyFile.map { .wrongKey(file: $0) } ?? .missingKey(certificate: file)
    }
    return nil
  }
}
