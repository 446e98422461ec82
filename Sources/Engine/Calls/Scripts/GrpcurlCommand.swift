import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// A call as a command of grpcurl 1.9.
struct GrpcurlCommand {
  private let call: WrittenCall
  private var script = CallScript("grpcurl")

  init(_ call: WrittenCall) {
    self.call = call
  }

  /// The script.
  ///
  /// - Throws: `Failure` if grpcurl cannot make the call.
  mutating func write() throws(Failure) -> String {
    guard call.settings.protocolName == .grpc else {
      throw Failure(
        .usage, "--explain --format grpcurl", "grpcurl has only gRPC",
        hint: "use --format buf for \(call.settings.protocolName.rawValue)")
    }
    let address = try address()
    addSources()
    for argument in call.arguments { add(argument) }
    addFlags()
    if let header = call.bearerHeader() { script.add("-H", header) }
    addUser()
    try addData()
    script.add(address)
    script.add(ShellText(call.name.service.isEmpty ? call.name.method : "\(call.name)"))
    return call.finish(script)
  }

  /// `HOST:PORT`, or the path of a socket.
  private mutating func address() throws(Failure) -> ShellText {
    let target = call.settings.target
    let rest = target.baseURL.dropFirst(call.isTLS ? "https://".count : "http://".count)
    let authority = rest.prefix { $0 != "/" }
    guard authority.endIndex == rest.endIndex else {
      throw Failure(
        .usage, "--explain --format grpcurl", "grpcurl has no URLs with a path",
        hint: "use --format buf")
    }
    guard !target.isAbstract else {
      throw Failure(
        .usage, "--explain --format grpcurl", "grpcurl has no sockets of the abstract namespace",
        hint: "use --format curl")
    }
    if let path = call.text(.unixSocket) ?? target.unixSocket {
      script.add("-unix")
      if call.text(.unixSocket) != nil, !call.isGiven(.authority) {
        script.add("-authority", ShellText(String(authority)))
      }
      return ShellText(path)
    }
    let hasPort = authority.last != "]" && authority.contains(":")
    return ShellText(hasPort ? String(authority) : "\(authority):\(call.isTLS ? 443 : 80)")
  }

  private mutating func addSources() {
    guard let sources = call.sources else { return }
    // grpcurl searches the working directory only if no directory is given.
    for directory in sources.directories where sources.directories != ["."] {
      script.add("-import-path", ShellText(directory))
    }
    for file in sources.files {
      script.add(sources.preparation == nil ? "-proto" : "-protoset", ShellText(file))
    }
  }

  private mutating func add(_ argument: Argument) {
    let isHeader = OptionTable[argument.id].isHeader
    if argument.id == .proto || argument.id == .importPath {
      if call.isGiven(.descriptorSet) {
        call.missing.append("\(call.shown(argument)) beside --descriptor-set")
      }
    } else if isHeader, argument.text?.hasPrefix("@") == true {
      call.missing.append(call.shown(argument))
    } else if argument.id == .errorFormat, argument.string == "json" {
      script.add("-format-error")
    } else if argument.id != .reflectHeader || usesReflection, let words = call.words(argument) {
      script.add(words)
    }
  }

  private var usesReflection: Bool {
    call.has(.reflect) || !call.isGiven(.descriptorSet) && !call.isGiven(.proto)
  }

  private mutating func addFlags() {
    if !call.isTLS { script.add("-plaintext") }
    if call.has(.insecure), call.isTLS { script.add("-insecure") }
    // grpcurl needs both.
    if let key = call.text(.key) ?? call.text(.cert) { script.add("-key", ShellText(key)) }
    if call.has(.reflect), call.isGiven(.descriptorSet) || call.isGiven(.proto) {
      script.add("-use-reflection")
    }
    if call.isGiven(.maxMessageSize) {
      script.add("-max-msg-sz", ShellText("\(call.settings.wire.maxMessageBytes)"))
    }
    if call.settings.output.verbosity > 0 { script.add(call.settings.output.verbosity > 1 ? "-vv" : "-v") }
    if let output = call.text(.output), output != "-" { script.output = output }
    if let format = call.text(.format), format != "json", format != "pretty" {
      call.missing.append("--format \(format)")
    }
  }

  private mutating func addUser() {
    guard let argument = call.arguments.last(where: { $0.id == .user }), !call.hasHeader("authorization")
    else { return }
    let user = call.value(argument).quoted
    script.add("-H", "authorization: Basic " + .output(of: "printf %s \(user) | base64 -w 0"))
  }

  private mutating func addData() throws(Failure) {
    if let json = try call.json() {
      script.add("-d", json)
    } else if call.data.isEmpty {
      if call.plan?.method.clientStreaming == true { script.add("-d", "@") }
    } else if call.data.count == 1, call.data[0].hasPrefix("@") {
      let path = String(call.data[0].dropFirst())
      script.add("-d", "@")
      if path != "-" { script.input = .file(path) }
    } else {
      script.add("-d", try call.data(call.data.joined(separator: "\n")))
    }
  }
}
