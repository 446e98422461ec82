import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// A call as a command of buf curl 1.72.
struct BufCommand {
  private let call: WrittenCall
  private var script = CallScript("buf", "curl")

  init(_ call: WrittenCall) {
    self.call = call
  }

  /// The script.
  mutating func write() throws(Failure) -> String {
    let name = call.settings.protocolName
    if name != .connect { script.add("--protocol", name == .grpc ? "grpc" : "grpcweb") }
    addSchema()
    for argument in call.arguments { if let words = call.words(argument) { script.add(words) } }
    addConnection()
    addHeaders()
    try addData()
    if let format = call.text(.format), format != "json", format != "pretty" {
      call.missing.append("--format \(format)")
    }
    let method = call.name.service.isEmpty ? call.name.method : "\(call.name)"
    script.add(ShellText("\(call.settings.target.baseURL)/\(method)"))
    return call.finish(script)
  }

  private mutating func addSchema() {
    for argument in call.arguments where argument.id == .descriptorSet {
      let path = argument.text ?? ""
      // buf reads the format from the end of the name.
      let hasFormat = [".binpb", ".bin", ".binpb.gz", ".binpb.zst"].contains(where: path.hasSuffix)
      script.add("--schema", ShellText(hasFormat ? path : "\(path)#format=binpb").listElement)
    }
    if let sources = call.sources {
      // With a directory, buf compiles all of its files, and names them after it.
      let isDirectory = sources.directories != ["."] && sources.preparation == nil || sources.files.count > 1
      let schema = isDirectory ? sources.directories : sources.files
      for path in schema { script.add("--schema", ShellText(path).listElement) }
    }
    if call.has(.reflect), hasSchema { script.add("--reflect") }
    if usesReflection, let version = call.text(.reflectVersion) {
      script.add("--reflect-protocol", ShellText("grpc-\(version)"))
    }
  }

  private var hasSchema: Bool { call.isGiven(.descriptorSet) || call.isGiven(.proto) }
  private var usesReflection: Bool { call.has(.reflect) || !hasSchema }

  private mutating func addConnection() {
    if call.isTLS {
      // buf refuses authorities that would not be used.
      if call.has(.insecure) {
        script.add("--insecure")
      } else if let file = call.text(.cacert) {
        script.add("--cacert", ShellText(file))
      }
      if let key = call.text(.key) ?? call.text(.cert) { script.add("--key", ShellText(key)) }
    }
    let target = call.settings.target
    if target.isAbstract {
      call.missing.append(target.name)
    } else if let path = target.unixSocket {
      script.add("--unix-socket", ShellText(path))
    }
    switch call.plan?.connection.httpVersion ?? call.settings.baseConnection.httpVersion {
    case .http2 where !call.isTLS, .http2PriorKnowledge: script.add("--http2-prior-knowledge")
    case .http1 where !call.isTLS && usesReflection:
      // buf makes no reflection without TLS over HTTP/1.1.
      script.add("--http2-prior-knowledge")
    case .http1 where call.isTLS: call.missing.append("--http1.1")
    default: break
    }
    // rpcurl waits without limit, and buf for two minutes.
    script.add("--timeout", ShellText(call.settings.timeout.map { "\(WrittenCall.seconds($0))s" } ?? "0s"))
    if call.settings.output.verbosity > 0 { script.add("--verbose") }
  }

  private mutating func addHeaders() {
    let headers = call.arguments.filter { $0.id == .header }
    let own = call.arguments.filter { $0.id == .rpcHeader }
    for argument in headers + own { add(header: call.header(argument), as: "-H") }
    let bearer = call.bearerHeader()
    if let bearer { add(header: bearer, as: "-H") }
    if let host = call.text(.authority), !call.hasHeader("host") {
      add(header: "host: " + ShellText(host), as: "-H")
    }
    guard usesReflection else { return }
    // rpcurl sends -H with reflection too, and --rpc-header does not.
    if own.isEmpty, !headers.isEmpty || bearer != nil {
      script.add("--reflect-header", "*")
    } else {
      for argument in headers { add(header: call.header(argument), as: "--reflect-header") }
      if let bearer { add(header: bearer, as: "--reflect-header") }
    }
    for argument in call.arguments where argument.id == .reflectHeader {
      add(header: call.header(argument), as: "--reflect-header")
    }
  }

  /// buf splits the values of these options at commas.
  private mutating func add(header: ShellText, as option: ShellText) {
    script.add(option, header.listElement)
  }

  private mutating func addData() throws(Failure) {
    if let json = try call.json() {
      script.add("-d", json)
    } else if call.data.isEmpty {
      if call.plan?.method.clientStreaming == true { script.add("-d", "@-") }
    } else {
      script.add("-d", try call.data(call.data.joined(separator: "\n")))
    }
  }
}
