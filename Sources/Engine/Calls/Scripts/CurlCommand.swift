import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

/// A call as a command of curl, with a body that is prepared: JSON for Connect, and framed messages for streams and for
/// the other protocols.
struct CurlCommand {
  private let call: WrittenCall
  private let plan: CallPlan
  private let messages: [Message]
  private var script = CallScript("curl")

  /// The headers of the protocol that curl sets itself, or that would make the response unreadable.
  private static let omitted: Set<String> = [
    "user-agent", "accept-encoding", "grpc-accept-encoding", "connect-accept-encoding",
  ]

  /// - Throws: `Failure` if the schema is not known.
  init?(_ call: WrittenCall) {
    guard let plan = call.plan, let messages = call.messages else { return nil }
    self.call = call
    self.plan = plan
    self.messages = messages
  }

  /// The script.
  ///
  /// - Throws: `Failure` if a message cannot be encoded.
  mutating func write() throws(Failure) -> String {
    let (request, body) = try request()
    guard !call.hasSecret(request.url) else { throw call.showsSecret }
    for argument in call.arguments { if let words = call.words(argument) { script.add(words) } }
    addConnection()
    let url = addServerName(request.url)
    for argument in call.arguments where argument.id == .header || argument.id == .rpcHeader {
      script.add("-H", Self.emptyHeader(argument.text ?? "") ?? call.header(argument))
    }
    if let header = call.bearerHeader() { script.add("-H", header) }
    for field in request.headers.fields
    where !Self.omitted.contains(field.name) && !call.hasHeader(field.name) {
      let line = "\(field.name): \(field.value)"
      script.add("-H", Self.emptyHeader(line) ?? ShellText(line))
    }
    if request.method != "GET" { try add(body: body) }
    script.add(ShellText(url))
    if isFramed {
      script.add(comment: "Before each message of the response, 5 bytes have its flags and its length.")
      if call.settings.protocolName == .grpc {
        script.add(comment: "The status is in the trailers, which -v shows.")
      }
    }
    return call.finish(script)
  }

  /// A header without a value, which curl sends only if a semicolon follows the name; nil for another header.
  private static func emptyHeader(_ line: String) -> ShellText? {
    guard !line.hasPrefix("@"), case let (name, value?) = line.parted(at: ":"),
      HeaderSyntax.trimmed(value).isEmpty
    else { return nil }
    return ShellText("\(name);")
  }

  /// Whether messages have an envelope.
  private var isFramed: Bool { call.settings.protocolName != .connect || plan.method.kind != .unary }

  /// The codec of the call: of Connect, curl shows JSON.
  private var codec: CodecName { call.settings.protocolName == .connect ? .json : call.settings.wire.codec }

  /// The HTTP request without the headers of options, and its body.
  private func request() throws(Failure) -> (HTTPRequest, [UInt8]) {
    let settings = call.settings
    var parameters = settings.wire
    (parameters.kind, parameters.codec) = (plan.method.kind, codec)
    let wire = WireProtocols.make(settings.protocolName, parameters)
    var body: [UInt8] = []
    do {
      for message in messages {
        try wire.encode(codec == .json ? message.json() : message.serialized(), into: &body)
      }
      let start = RequestStart(method: call.name, target: settings.target.baseURL, codec: codec)
      return (try wire.makeRequest(start, timeout: settings.timeout), body)
    } catch {
      throw Failure(.input, "-d", "\(error)")
    }
  }

  private mutating func addConnection() {
    let target = call.settings.target
    if let path = target.unixSocket { script.add(ShellText(target.socketOption), ShellText(path)) }
    switch plan.connection.httpVersion {
    case .http1: script.add("--http1.1")
    case .http2: script.add(call.isTLS ? "--http2" : "--http2-prior-knowledge")
    case .http2PriorKnowledge: script.add("--http2-prior-knowledge")
    case .http3: script.add("--http3-only")
    case .negotiated: break
    }
    // A colon would begin the passphrase.
    if let cert = call.text(.cert) { script.add("--cert", ShellText(cert.replacing(":", with: "\\:"))) }
    if let pass = call.text(.pass).flatMap(WrittenCall.elsewhere) { script.add("--pass", pass) }
    if let time = plan.connection.keepaliveTime {
      script.add("--keepalive-time", ShellText("\(max(1, (time.milliseconds + 999) / 1000))"))
    }
    if call.settings.output.verbosity > 0 { script.add("--verbose") }
  }

  /// Adds `--servername` and `--authority`; returns the URL. curl has no option for the name in TLS: the URL has the
  /// name, and curl connects to the former host.
  private mutating func addServerName(_ url: String) -> String {
    let authority = call.text(.authority)
    guard let name = call.text(.servername), call.isTLS else {
      if let authority, !call.hasHeader("host") { script.add("-H", ShellText("host: \(authority)")) }
      return url
    }
    let rest = url.dropFirst("https://".count)
    let host = rest.prefix { $0 != "/" }
    let port = host.last == "]" ? nil : host.lastIndex(of: ":").map { host[$0...] }
    script.add("--connect-to", ShellText("::\(host.dropLast(port?.count ?? 0))\(port ?? ":443")"))
    if !call.hasHeader("host") { script.add("-H", ShellText("host: \(authority ?? String(host))")) }
    return "https://\(name)\(port ?? "")\(rest[host.endIndex...])"
  }

  private mutating func add(body: [UInt8]) throws(Failure) {
    guard !isFramed, call.settings.wire.compression == nil,
      let text = String(validating: body, as: UTF8.self),
      !text.hasPrefix("@")
    else {
      guard try call.json()?.isLiteral != false else { throw call.showsSecret }
      script.input = .bytes(body)
      return script.add("--data-binary", "@-")
    }
    script.add("--data-binary", try call.data(text))
  }
}
