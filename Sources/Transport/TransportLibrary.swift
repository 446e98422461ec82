import RPCurlCCurl
import RPCurlPlatform

/// The loaded libcurl and its features.
package struct TransportLibrary: Sendable {
  /// The origin of a libcurl.
  package enum Source: Sendable, Equatable {
    /// Linked into the program.
    case builtIn
    /// The system's, found by the dynamic loader.
    case system
    /// The file that the environment variable `RPCURL_LIBCURL` names.
    case named(String)

    /// The origin of the libcurl that this process uses, also if it cannot be loaded. Loads it if necessary.
    package static var current: Source {
      _ = ccurl_load()
      return switch ccurl_loaded_from() {
      case CCURL_BUILT_IN: .builtIn
      case CCURL_NAMED: .named(ccurl_path().map { String(cString: $0) } ?? "")
      default: .system
      }
    }
  }

  /// Its origin.
  package let source: Source
  /// The names and versions of libcurl and of its libraries: `libcurl/7.88.1 OpenSSL/3.0.16 …`.
  package let version: String
  /// Its version: `7.88.1`.
  package let number: String
  /// The versions of HTTP that it supports.
  package let httpVersions: [String]
  /// The names of its other features that a call may use.
  package let features: [String]

  /// Loads libcurl, and reads its version and features.
  ///
  /// - Throws: An error of kind ``TransportError/Kind/library`` if it is not found or too old.
  package init() throws(TransportError) {
    if let reason = ccurl_load() { throw TransportError(.library, String(cString: reason)) }
    source = .current
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
    ]
    self.features = others.filter { features & $0.0 != 0 }.map(\.1)
  }
}
