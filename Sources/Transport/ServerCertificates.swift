import RPCurlCCurl
import RPCurlPlatform
import RPCurlProtocols

/// The certificates of the servers that transfers of a loop are connected to.
///
/// libcurl describes a certificate to the transfer that makes the connection, if the handshake has one: neither to later
/// transfers of the connection, nor after a handshake that resumes a session of TLS.
final class ServerCertificates {
  private var byConnection: [String: [ServerCertificate]] = [:]
  private var byOrigin: [String: [ServerCertificate]] = [:]

  /// The certificates of the server of a transfer, its own first; none if they are not known.
  ///
  /// - Parameters:
  ///   - peer: The address of the server.
  ///   - url: The URL of the request.
  func certificates(of handle: UnsafeMutableRawPointer, _ peer: String, _ url: String) -> [ServerCertificate]
  {
    var port = 0
    _ = ccurl_get_long(handle, CURLINFO_LOCAL_PORT, &port)
    let connection = "\(port) \(peer)"
    let origin = String(url.dropFirst("https://".count).prefix { $0 != "/" })
    let certificates = Self.read(from: handle)
    if !certificates.isEmpty {
      byConnection[connection] = certificates
      byOrigin[origin] = certificates
    }
    let now = Int64(time(nil))
    return (byConnection[connection] ?? byOrigin[origin] ?? []).map { $0.valid(from: now) }
  }

  /// What libcurl describes to a transfer: the server's certificate, followed by those of its authorities that the server sent.
  static func read(from handle: UnsafeMutableRawPointer) -> [ServerCertificate] {
    (0..<ccurl_certificate_count(handle)).map { index in
      var lines: [String] = []
      var line = ccurl_certificate(handle, index)
      while let entry = line {
        lines.append(String(cString: entry.pointee.data))
        line = UnsafePointer(entry.pointee.next)
      }
      return ServerCertificate(lines: lines)
    }
  }
}
