import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// Resolves the connection options.
package enum ConnectionPlan {
  /// The connection options for a unary call. For other kinds, `httpVersion` differs.
  package static func options(
    _ options: Invocation, _ target: Target, _ protocolName: ProtocolName, _ sources: ArgumentSources
  ) throws -> ConnectionOptions {
    var connection = ConnectionOptions()
    connection.httpVersion = try httpVersion(options, target, protocolName, .unary)
    connection.isInsecure = options.has(.insecure)
    connection.authoritiesFile = try readable(options.last(.cacert), sources)
    connection.authoritiesDirectory = try readable(options.last(.capath), sources)
    connection.certificate = try certificate(options, sources)
    connection.oldestTLS = options.has(.tls13) ? .tls13 : options.has(.tls12) ? .tls12 : nil
    connection.serverName = options.text(.servername)
    connection.unixSocket = options.text(.unixSocket) ?? (target.isAbstract ? nil : target.unixSocket)
    connection.abstractUnixSocket =
      options.text(.abstractUnixSocket) ?? (target.isAbstract ? target.unixSocket : nil)
    try checkLength(connection.unixSocket ?? connection.abstractUnixSocket)
    connection.ipVersion = options.last(of: [.ipv4, .ipv6]).map { $0.id == .ipv4 ? .v4 : .v6 }
    connection.connectTo = try options.all(.connectTo).map(AddressArguments.connectTo)
    connection.proxy = try options.last(.proxy).map(AddressArguments.proxy)
    connection.proxyCredentials = try options.last(.proxyUser).map { (user) throws(Failure) in
      try CredentialArguments.credentials(user, sources)
    }
    connection.netrcFile = try netrcFile(options, sources)
    if connection.netrcFile != nil, connection.serverName != nil, target.isTLS {
      throw Failure(
        .usage, "--servername", "libcurl would look up this name in the netrc file, not the host of the URL",
        hint: "give the credentials with --user NAME:PASSWORD, without --netrc and --netrc-file")
    }
    connection.resolve = try options.all(.resolve).map(AddressArguments.resolve)
    if let timeout = options.duration(.connectTimeout) { connection.connectTimeout = timeout }
    connection.keepaliveTime = options.duration(.keepaliveTime)
    connection.keepaliveTimeout = options.duration(.keepaliveTimeout)
    if let timeout = options.last(.keepaliveTimeout), connection.keepaliveTime == nil {
      throw Failure(
        .usage, timeout.name, "no probe is sent without --keepalive-time",
        hint: "add --keepalive-time DURATION"
      ).at(timeout.origin)
    }
    connection.diagnosisTime = ConnectionDiagnosis.usualTime
    return connection
  }

  /// The netrc file; empty for the one in the home directory. libcurl sends requests without credentials if it cannot read it.
  private static func netrcFile(
    _ options: Invocation, _ sources: ArgumentSources
  ) throws(Failure) -> String? {
    let argument = options.last(.netrcFile)
    let file = try readable(argument, sources) ?? (options.has(.netrc) ? "" : nil)
    guard let file, let problem = NetrcFile(file).problem else { return file }
    let option =
      argument.map { "--netrc-file \($0.text ?? "")" } ?? "--netrc \(NetrcFile.path(file))"
    throw Failure(
      .usage, option, problem.reason,
      hint: "correct the file, or give the credentials with --user NAME:PASSWORD or --bearer @FILE"
    ).at(argument?.origin)
  }

  /// Throws if the path of a Unix socket is longer than the system allows.
  private static func checkLength(_ unixSocket: String?) throws(Failure) {
    // One byte less than sockaddr_un.sun_path.
    let limit = 107
    guard let unixSocket, unixSocket.utf8.count > limit else { return }
    throw Failure(
      .usage, "unix:\(unixSocket)", "the path of a Unix socket has at most \(limit) bytes",
      hint: "use a path relative to the working directory, or a symbolic link")
  }

  /// The HTTP version for a call of this kind.
  package static func httpVersion(
    _ options: Invocation, _ target: Target, _ protocolName: ProtocolName, _ kind: CallKind
  ) throws -> ConnectionOptions.HTTPVersion {
    // The other protocols work over HTTP/1.1 too, if that is what the server has.
    let http2 = protocolName != .grpc && target.isTLS ? ConnectionOptions.HTTPVersion.negotiated : .http2
    switch options.httpVersion {
    case .http1:
      guard protocolName != .grpc else {
        throw Failure(
          .usage, "--http1.1", "gRPC needs HTTP/2",
          hint: "use --protocol grpc-web or --protocol connect")
      }
      return .http1
    case .http2: return http2
    case .http2PriorKnowledge: return .http2PriorKnowledge
    case .http3:
      let library: TransportLibrary
      do { library = try TransportLibrary() } catch { throw Failure(library: error) }
      guard library.httpVersions.contains("3") else {
        throw Failure(
          .usage, "--http3", "libcurl \(library.number) does not support HTTP/3",
          hint: "see \"rpcurl version\"; set RPCURL_LIBCURL to the path of another libcurl")
      }
      guard target.isTLS else {
        throw Failure(.usage, "--http3", "HTTP/3 needs TLS", hint: "use https://, without --plaintext")
      }
      return .http3
    default: break
    }
    // gRPC and concurrent messages in both directions need HTTP/2.
    if protocolName == .grpc || kind == .bidiStreaming { return http2 }
    return target.isTLS ? .negotiated : .http1
  }

  /// The path of a file for libcurl, which reads it on the event loop and without a limit. If it is not a regular
  /// file, reads it here and returns the path of a copy.
  private static func readable(
    _ argument: Argument?, _ sources: ArgumentSources
  ) throws(Failure) -> String? {
    guard let argument, let path = argument.text else { return nil }
    let option = OptionTable[argument.id].name
    func failure(_ why: String) -> Failure {
      var (shown, hint) = (path, String?.none)
      if WholeValue.isElsewhere(path) {
        hint = "\(option) names a file: write its path, without @, env: or cmd:"
      } else if argument.id == .cert, let colon = path.firstRange(of: ":") {
        // curl accepts CERTIFICATE:PASSWORD.
        shown = "\(path[..<colon.upperBound])…"
        hint = "the passphrase is given with --pass @FILE, env:NAME or cmd:COMMAND"
      }
      return Failure(argument.id == .netrcFile ? .usage : .tls, "\(option) \(shown)", why, hint: hint)
        .at(argument.origin)
    }
    guard access(path, R_OK) == 0, let file = FileFacts(path) else { throw failure(FileContents.lastError()) }
    switch file.kind {
    case .directory: return path
    case .regular:
      guard file.sizeBytes <= FileContents.optionLimitBytes else {
        throw failure(
          "the file is larger than \(FileContents.optionLimitBytes >> 20) MiB, the limit for such a file")
      }
      return path
    default:
      do throws(SystemError) {
        let contents = try sources.contents(ofFile: path)
        // The copy exists until the process ends: libcurl opens it for each connection.
        let copy = try TemporaryFile()
        _ = fcntl(copy.descriptor, F_SETFD, FD_CLOEXEC)
        try copy.write(contents)
        return "/proc/self/fd/\(copy.descriptor)"
      } catch {
        throw failure(error.reason)
      }
    }
  }

  private static func certificate(
    _ options: Invocation, _ sources: ArgumentSources
  ) throws -> ConnectionOptions.Certificate? {
    let key = options.last(.key)
    guard let file = try readable(options.last(.cert), sources) else {
      guard key == nil else {
        throw Failure(.usage, "--key", "no certificate", hint: "add --cert FILE").at(key?.origin)
      }
      return nil
    }
    var certificate = ConnectionOptions.Certificate(file: file, keyFile: try readable(key, sources))
    certificate.format = options.text(.certType).flatMap { $0 == "PEM" ? nil : $0 }
    certificate.passphrase = try passphrase(options, keyFile: certificate.keyFile ?? file, sources)
    return certificate
  }

  private static func passphrase(
    _ options: Invocation, keyFile: String, _ sources: ArgumentSources
  ) throws -> String? {
    if let pass = options.last(.pass) { return try secret(pass, sources) }
    if options.text(.certType) == "P12" {
      // Such a file shows whether it is encrypted only when a passphrase is tried; without one, libcurl reports it.
      return try sources.secrets.ask("passphrase of \(keyFile) (empty for none): ")
    }
    guard let key = try? sources.contents(ofFile: keyFile),
      isEncrypted(key)
    else { return nil }
    guard let phrase = try sources.secrets.ask("passphrase of \(keyFile): ") else {
      throw Failure(
        .tls, keyFile, "the key is encrypted, and there is no terminal for a prompt",
        hint: "use --pass @FILE or --pass env:NAME")
    }
    return phrase
  }

  /// Reads a secret that is elsewhere: other users can see the command line.
  private static func secret(_ option: Argument, _ sources: ArgumentSources) throws(Failure) -> String {
    guard WholeValue.isElsewhere(option.text ?? "") else {
      throw Failure(
        .usage, option.name, "not @FILE, env:NAME or cmd:COMMAND",
        hint: "put it into a file (--pass @FILE) or a variable (--pass env:NAME), or omit --pass to be asked"
      ).at(option.origin)
    }
    return String(try sources.value(of: option).prefix { !$0.isNewline })
  }

  /// Whether a PEM file contains an encrypted key, in PKCS #8 or an older form.
  private static func isEncrypted(_ pem: [UInt8]) -> Bool {
    String(decoding: pem, as: UTF8.self).contains("ENCRYPTED")
  }
}
