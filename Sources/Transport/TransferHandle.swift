import RPCurlCCurl
import RPCurlProtocols

/// One easy handle of libcurl; setting an option throws its error.
struct TransferHandle {
  private let handle: UnsafeMutableRawPointer

  init(_ handle: UnsafeMutableRawPointer) {
    self.handle = handle
  }

  func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
    try check(ccurl_set_long(handle, option, value))
  }

  func set(_ option: CURLoption, _ value: String) throws(TransportError) {
    try check(ccurl_set_string(handle, option, value))
  }

  /// Sets an option to bytes, which libcurl copies.
  func set(_ option: CURLoption, _ bytes: [UInt8]) throws(TransportError) {
    try check(bytes.withUnsafeBytes { ccurl_set_bytes(handle, option, $0.baseAddress, $0.count) })
  }

  func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer) throws(TransportError) {
    try check(ccurl_set_pointer(handle, option, pointer))
  }

  func set(_ option: CURLoption, _ callback: @escaping ccurl_data_callback) throws(TransportError) {
    try check(ccurl_set_data_callback(handle, option, callback))
  }

  func set(seeking callback: @escaping ccurl_seek_callback) throws(TransportError) {
    try check(ccurl_set_seek_callback(handle, callback))
  }

  /// Sets the callback for libcurl's log.
  func set(tracing callback: @escaping ccurl_debug_callback) throws(TransportError) {
    try check(ccurl_set_debug_callback(handle, callback))
  }

  /// Sets the callback for each socket that libcurl opens.
  func set(opened callback: @escaping ccurl_opened_callback) throws(TransportError) {
    try check(ccurl_set_opened_callback(handle, callback))
  }

  /// Sets the callback that closes the sockets of this transfer's connections.
  func set(closing callback: @escaping ccurl_close_callback) throws(TransportError) {
    try check(ccurl_set_close_callback(handle, callback))
  }

  /// Sets the callback after connecting, before any byte of the request is sent.
  func set(beforeRequest callback: @escaping ccurl_prereq_callback) throws(TransportError) {
    try check(ccurl_set_prereq_callback(handle, callback))
  }

  /// Sets a list. libcurl does not copy it: the caller frees it after the handle.
  func set(
    _ option: CURLoption, _ texts: [String], keeping lists: inout [UnsafeMutablePointer<curl_slist>?]
  ) throws(TransportError) {
    var list: UnsafeMutablePointer<curl_slist>?
    // curl_slist_append searches the end of the list, so it gets the last element.
    var last: UnsafeMutablePointer<curl_slist>?
    for text in texts {
      let element = ccurl_slist_append(last, text)
      if last == nil { list = element }
      last = element?.pointee.next ?? element
    }
    lists.append(list)
    try check(ccurl_set_list(handle, option, list))
  }

  /// Sets the connection options for the server at `url`.
  func set(
    _ options: ConnectionOptions, url: String, extraFields: inout [String],
    keeping lists: inout [UnsafeMutablePointer<curl_slist>?]
  ) throws(TransportError) {
    let url = try InternationalName.ascii(url)
    let isTLS = url.hasPrefix("https:")
    try set(CURLOPT_HTTP_VERSION, version(options.httpVersion))
    // libcurl also remembers that a name is not known, for half of this time: a server that starts may get its name later.
    try set(CURLOPT_DNS_CACHE_TIMEOUT, 1)
    if options.sharesConnection { try set(CURLOPT_PIPEWAIT, 1) }
    if let path = options.unixSocket { try set(CURLOPT_UNIX_SOCKET_PATH, path) }
    if let name = options.abstractUnixSocket { try set(CURLOPT_ABSTRACT_UNIX_SOCKET, name) }
    switch options.ipVersion {
    case nil: break
    case .v4: try set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
    case .v6: try set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
    }
    if let proxy = options.proxy { try set(CURLOPT_PROXY, InternationalName.ascii(proxy)) }
    if let credentials = options.proxyCredentials { try set(CURLOPT_PROXYUSERPWD, credentials) }
    try setProxyAuthorities()
    if !options.resolve.isEmpty {
      try set(CURLOPT_RESOLVE, InternationalName.ascii(entries: options.resolve), keeping: &lists)
    }
    if let file = options.netrcFile {
      // libcurl would send the request without credentials.
      if let problem = NetrcFile(file).problem {
        throw TransportError(.request, "the netrc file \(NetrcFile.path(file)): \(problem.reason)")
      }
      try set(CURLOPT_NETRC, ccurl_netrc_optional)
      if !file.isEmpty { try set(CURLOPT_NETRC_FILE, file) }
    }
    try set(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeout.wholeMilliseconds)
    if let time = options.keepaliveTime {
      try set(keepaliveTime: time, timeout: options.keepaliveTimeout ?? time)
    }
    try set(CURLOPT_URL, url)
    let connectTo = try InternationalName.ascii(entries: options.connectTo)
    if isTLS {
      try setTLS(options)
      if let name = options.serverName {
        return try set(
          serverName: InternationalName.ascii(name), connectTo, url: url, &extraFields, &lists)
      }
    }
    if !connectTo.isEmpty { try set(CURLOPT_CONNECT_TO, connectTo, keeping: &lists) }
  }

  /// Sets TCP's keepalive. `KeepAlive` sends HTTP/2's PING.
  private func set(keepaliveTime time: Duration, timeout: Duration) throws(TransportError) {
    try set(CURLOPT_TCP_KEEPALIVE, 1)
    try set(CURLOPT_TCP_KEEPIDLE, time.wholeSeconds)
    try set(CURLOPT_TCP_KEEPINTVL, timeout.wholeSeconds)
  }

  private func setTLS(_ options: ConnectionOptions) throws(TransportError) {
    if options.isInsecure {
      try set(CURLOPT_SSL_VERIFYPEER, 0)
      try set(CURLOPT_SSL_VERIFYHOST, 0)
    }
    try setAuthorities(options)
    switch options.oldestTLS {
    case nil: break
    case .tls12: try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    case .tls13: try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_3)
    }
    if let certificate = options.certificate { try set(certificate) }
  }

  private func set(_ certificate: ConnectionOptions.Certificate) throws(TransportError) {
    if let problem = certificate.problem { throw TransportError(problem) }
    if let pem = certificate.pem {
      try set(CURLOPT_SSLCERT_BLOB, pem)
      // libcurl does not look for a key in the bytes of a certificate.
      try set(CURLOPT_SSLKEY_BLOB, certificate.keyPEM ?? pem)
    } else {
      try set(CURLOPT_SSLCERT, certificate.file)
      if let file = certificate.keyFile { try set(CURLOPT_SSLKEY, file) }
    }
    if let format = certificate.format { try set(CURLOPT_SSLCERTTYPE, format) }
    if let passphrase = certificate.passphrase { try set(CURLOPT_KEYPASSWD, passphrase) }
  }

  /// Sets the name for TLS. libcurl uses the URL's host for it, so the URL gets the name, and libcurl
  /// connects to the URL's former host, which also decides whether a proxy is used; the `host` header stays unchanged.
  private func set(
    serverName name: String, _ connectTo: [String], url: String, _ fields: inout [String],
    _ lists: inout [UnsafeMutablePointer<curl_slist>?]
  ) throws(TransportError) {
    let rest = url.dropFirst("https://".count)
    let authority = rest.prefix { $0 != "/" }
    let port = authority.last == "]" ? nil : authority.lastIndex(of: ":").map { authority[$0...] }
    let host = port.map { authority.dropLast($0.count) } ?? authority
    try set(CURLOPT_URL, "https://\(name)\(port ?? "")\(rest.dropFirst(authority.count))")
    // libcurl uses the first entry that matches. Those for the URL's former host now apply to the name.
    let entries = connectTo.compactMap { entry -> String? in
      if entry.hasPrefix(":") { return entry }
      return entry.lowercased().hasPrefix("\(host.lowercased()):") ? String(entry.dropFirst(host.count)) : nil
    }
    try set(CURLOPT_CONNECT_TO, entries + ["::\(host)\(port ?? ":443")"], keeping: &lists)
    try set(CURLOPT_NOPROXY, ProxyExemption.exempts(host) ? "*" : "")
    if !fields.contains(where: { $0.hasPrefix("host:") }) { fields.append("host: \(authority)") }
  }

  private func version(_ version: ConnectionOptions.HTTPVersion) -> Int {
    switch version {
    case .http1: CURL_HTTP_VERSION_1_1
    // Only so libcurl offers TLS no other version, of which a server could prefer one. The transfer checks what was negotiated.
    case .http2, .http2PriorKnowledge: CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
    // Only so libcurl begins no connection over TCP after 200 ms, with another version, if the handshake has lost a datagram.
    case .http3: CURL_HTTP_VERSION_3ONLY
    case .negotiated: CURL_HTTP_VERSION_2TLS
    }
  }

  private func check(_ code: CURLcode) throws(TransportError) {
    guard code == CURLE_OK else { throw TransportError(code, detail: "") }
  }
}

extension Duration {
  /// The duration in milliseconds, from 1 to libcurl's maximum.
  var wholeMilliseconds: Int { Int(min(max(milliseconds, 1), 2_000_000_000)) }

  /// The duration in seconds, rounded up, at least 1.
  var wholeSeconds: Int { (wholeMilliseconds + 999) / 1000 }
}
