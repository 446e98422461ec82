import CCurl
import Glibc

/// The libcurl that was found, and what it can do.
public struct TransportLibrary: Sendable {
  /// Its own account of itself: `libcurl/7.88.1 OpenSSL/3.0.16 …`.
  public let version: String
  /// Its version: `7.88.1`.
  public let number: String
  /// The versions of HTTP that it speaks.
  public let httpVersions: [String]
  /// What else it can do that a call may ask for, in words.
  public let features: [String]

  /// Loads libcurl and asks it.
  public init() throws(TransportError) {
    if let reason = ccurl_load() { throw TransportError(.library, String(cString: reason)) }
    version = String(cString: ccurl_version())
    let info = ccurl_version_info()?.pointee
    number = info?.version.map { String(cString: $0) } ?? ""
    let features = info?.features ?? 0
    var versions = ["1.1"]
    if features & CURL_VERSION_HTTP2 != 0 { versions.append("2") }
    if features & CURL_VERSION_HTTP3 != 0 { versions.append("3") }
    httpVersions = versions
    let others: [(Int32, String)] = [
      (CURL_VERSION_SSL, "TLS"), (CURL_VERSION_HTTPS_PROXY, "HTTPS proxies"),
      (CURL_VERSION_UNIX_SOCKETS, "unix sockets"), (CURL_VERSION_IPV6, "IPv6"),
      (CURL_VERSION_IDN, "international names"),
    ]
    self.features = others.filter { features & $0.0 != 0 }.map(\.1)
  }

  /// Where systems keep the authorities that they trust.
  private static let knownAuthorities = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ]

  /// The system's file of authorities, for a libcurl that was built for a system with another one; else `nil`.
  static let authoritiesInstead: String? = {
    guard let own = ccurl_version_info()?.pointee.cainfo, access(own, R_OK) != 0 else { return nil }
    return knownAuthorities.first { access($0, R_OK) == 0 }
  }()
}
