import RPCurlPlatform
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

extension CheckReport {
  /// Adds the steps up to the connection.
  ///
  /// - Parameters:
  ///   - facts: What a probe found out.
  ///   - target: The server.
  ///   - hint: Returns what to do about a cause.
  package mutating func add(
    connection facts: ConnectionFacts, _ target: Target, _ hint: (ConnectionCause) -> String
  ) {
    let cause = facts.error?.cause
    if case .unknownHost? = cause, let error = facts.error {
      return add("name", .failed, error.message, hint: cause.map(hint))
    }
    if target.unixSocket == nil, !facts.addresses.isEmpty, facts.proxy == nil {
      add("name", .passed, facts.addresses.joined(separator: ", "))
    }
    if let proxy = facts.proxy {
      let isFailed = cause?.layer == .proxy
      add(
        "proxy", isFailed ? .failed : .passed, isFailed ? "\(proxy): \(facts.error?.message ?? "")" : proxy,
        hint: isFailed ? cause.map(hint) : nil)
      if isFailed { return }
    }
    // TLS follows a connection that was made.
    if let error = facts.error, cause?.layer != .tls {
      add("connection", .failed, error.message, hint: cause.map(hint))
    } else {
      add("connection", .passed, (target.isAbstract ? nil : target.unixSocket) ?? facts.peer ?? "made")
    }
  }

  /// Adds what TLS negotiated, and the certificate.
  ///
  /// - Parameters:
  ///   - facts: What a probe found out.
  ///   - isInsecure: Whether certificates are not verified.
  ///   - now: The time, in seconds since 1970.
  package mutating func add(tls facts: ConnectionFacts, isInsecure: Bool, at now: Int = time(nil)) {
    guard let version = facts.tlsVersion else { return }
    let cipher = facts.cipher.map { ", \($0)" } ?? ""
    add("TLS", .passed, "\(version)\(cipher), ALPN \(facts.negotiated ?? "none")")
    guard let certificate = facts.certificates.first else { return }
    let names = certificate.names.isEmpty ? certificate.subject : certificate.names.joined(separator: ", ")
    let end = certificate.end.map { ", until \($0)" } ?? ""
    let verified = facts.error == nil && !isInsecure ? "" : ", not verified"
    let isOver = certificate.end.flatMap(HTTPDate.seconds(ofCertificate:)).map { $0 < now } == true
    let isEarly = certificate.start.flatMap(HTTPDate.seconds(ofCertificate:)).map { $0 > now } == true
    let validity = isOver ? ", which is over" : isEarly ? ", not valid before \(certificate.start ?? "")" : ""
    add(
      "certificate", isOver || isEarly ? .failed : .passed,
      "for \(names)\(end)\(validity), by \(certificate.issuer)\(verified)")
  }

  /// Adds the result of the health service.
  ///
  /// - Parameters:
  ///   - error: The error of the call; nil if it succeeded.
  ///   - status: The status of the server.
  package mutating func add(health error: RPCError?, _ status: HealthMethods.Status?) {
    if let error {
      let isMissing = error.code == .unimplemented
      return add(
        "health", .absent,
        isMissing ? "the server does not offer it" : "\(error.code.name): \(error.message)",
        hint: error.code == .unauthenticated ? "use --bearer TOKEN, --user NAME or -H" : nil)
    }
    add("health", status == .serving ? .passed : .absent, status?.name ?? "no status")
  }
}
