import CCurl

/// The libcurl that was found, and what it can do.
public struct TransportLibrary: Sendable {
  /// Its own account of itself: `libcurl/7.88.1 OpenSSL/3.0.16 …`.
  public let version: String
  /// The versions of HTTP that it speaks.
  public let httpVersions: [String]

  /// Loads libcurl and asks it.
  public init() throws(TransportError) {
    if let reason = ccurl_load() { throw TransportError(.library, String(cString: reason)) }
    version = String(cString: ccurl_version())
    let features = ccurl_version_info().map { $0.pointee.features } ?? 0
    var versions = ["1.1"]
    if features & CURL_VERSION_HTTP2 != 0 { versions.append("2") }
    if features & CURL_VERSION_HTTP3 != 0 { versions.append("3") }
    httpVersions = versions
  }
}
