import RPCurlCCurl
import RPCurlPlatform
import RPCurlProtocols

/// The certificate authorities that a connection trusts.
struct Authorities: Equatable {
  /// A PEM file.
  var file: String?
  /// A directory prepared with `openssl rehash`.
  var directory: String?

  /// Where distributions install the file of authorities.
  private static let usualFiles = [
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora, RHEL
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora 43 and later, RHEL
    "/etc/ssl/ca-bundle.pem",  // SUSE
    "/var/lib/ca-certificates/ca-bundle.pem",  // SUSE
    "/etc/ssl/cert.pem",  // Alpine without ca-certificates
  ]

  /// The system's authorities, resolved once: `SSL_CERT_FILE` and `SSL_CERT_DIR` if set, else libcurl's own default if
  /// it exists, else the first of the usual files. All `nil` if there are none.
  ///
  /// libcurl must have been loaded.
  static let system = find(
    ownFile: ccurl_version_info()?.pointee.cainfo.map { String(cString: $0) },
    environment: path,
    isReadable: { access($0, R_OK) == 0 })

  /// A variable of the environment, repaired if it is not UTF-8: such a path is an error, and not one that is not set.
  private static func path(_ variable: String) -> String? { getenv(variable).map { String(cString: $0) } }

  /// Finds the system's authorities.
  ///
  /// - Parameters:
  ///   - ownFile: libcurl's default file; `nil` if it was built without one.
  ///   - environment: Returns the value of an environment variable.
  ///   - isReadable: Returns whether a path can be read.
  static func find(
    ownFile: String?, environment: (String) -> String?, isReadable: (String) -> Bool
  ) -> Authorities {
    func variable(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
    let named = Authorities(file: variable("SSL_CERT_FILE"), directory: variable("SSL_CERT_DIR"))
    guard named == Authorities() else { return named }
    if let ownFile, isReadable(ownFile) { return Authorities(file: ownFile) }
    return Authorities(file: usualFiles.first(where: isReadable))
  }

  /// The path of the file, or of the directory, as errors name it: with the variable of the environment that gives it.
  func name(environment: (String) -> String? = Authorities.path) -> String? {
    guard let path = file ?? directory else { return nil }
    let variable = file == nil ? "SSL_CERT_DIR" : "SSL_CERT_FILE"
    return environment(variable) == path ? "\(variable)=\(path)" : path
  }

  /// The error of a file whose opening waits for a writer; nil if it can be used.
  var fileError: TransportError? {
    guard let file, FileFacts(file)?.kind == .pipe, let name = name() else { return nil }
    return TransportError(.unreadableAuthorities(file: name, reason: "is a pipe; write it to a file"))
  }

  /// The error of a directory without a file, of which OpenSSL reports none; nil if it can be used. It may be a list.
  var directoryError: TransportError? {
    guard file == nil, let directory, let name = name() else { return nil }
    var reason = ENOENT
    for path in directory.split(separator: ":") {
      // OpenSSL opens files of it by name, so it must be searchable, but need not be readable.
      if access("\(path)/.", X_OK) == 0 { return nil }
      reason = errno
    }
    return TransportError(.unreadableAuthorities(file: name, reason: String(cString: strerror(reason))))
  }

  /// The authorities that libcurl cannot use: those for a proxy, which are the system's, if its error ends with
  /// their file; else those for the server.
  static func named(in detail: String, _ server: Authorities, system: Authorities = .system) -> Authorities {
    system.file.map { detail.hasSuffix(" \($0)") } == true ? system : server
  }
}

extension Authorities {
  /// The authorities of `options`, else the system's.
  init(_ options: ConnectionOptions) {
    self.init(file: options.authoritiesFile, directory: options.authoritiesDirectory)
    if self == Authorities() { self = .system }
  }
}

extension TransferHandle {
  /// Sets the authorities to trust: those of `options`, else the system's.
  ///
  /// - Throws: An error of kind ``TransportError/Kind/tls`` if there are none, or the directory cannot be read, and the
  ///   server must be verified.
  func setAuthorities(_ options: ConnectionOptions) throws(TransportError) {
    if let pem = options.authoritiesPEM {
      guard PEM.hasBlock("CERTIFICATE", in: pem) else {
        throw TransportError(.invalidAuthorities(file: PEM.name(of: "authorities")))
      }
      return try set(CURLOPT_CAINFO_BLOB, pem)
    }
    let authorities = Authorities(options)
    if let error = authorities.fileError { throw error }
    if !options.isInsecure {
      if authorities == Authorities() { throw TransportError(.noAuthorities) }
      if let error = authorities.directoryError { throw error }
    }
    if let file = authorities.file { try set(CURLOPT_CAINFO, file) }
    if let directory = authorities.directory { try set(CURLOPT_CAPATH, directory) }
  }

  /// Sets the authorities to trust for a proxy that is reached over TLS: the system's.
  func setProxyAuthorities() throws(TransportError) {
    if let error = Authorities.system.fileError { throw error }
    if let file = Authorities.system.file { try set(CURLOPT_PROXY_CAINFO, file) }
    if let directory = Authorities.system.directory { try set(CURLOPT_PROXY_CAPATH, directory) }
  }
}
