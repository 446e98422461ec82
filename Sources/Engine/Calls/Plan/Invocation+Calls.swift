import RPCurlBase
import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols
import RPCurlTransport

// An option is read where it is used. Here are values that several options have together.

// MARK: Schema

extension Invocation {
  /// The values of `--descriptor-set`.
  package var descriptorSets: [Argument] { distinct(.descriptorSet) }
  /// The values of `--proto`.
  package var protos: [Argument] { distinct(.proto) }
  /// Whether a source of the schema other than the server is given.
  package var hasSchema: Bool { last(of: [.descriptorSet, .proto]) != nil }
  /// Whether the server is a source of the schema.
  package var asksServer: Bool { flag(.reflect) ?? !hasSchema }

  /// The typed options of the schema as words of a command. Those of the configuration apply to each command.
  package var schemaWords: String {
    Self.words((descriptorSets + protos + all(.importPath)).filter { $0.origin.place == nil })
  }

  /// The arguments with which `rpcurl list` prints the names of the schema: those of the server, or else of the other sources.
  func listing(_ target: Target) -> String {
    asksServer ? SuggestedCommand(self, target, (try? secretNames()) ?? .standard).arguments : schemaWords
  }

  /// All sources, and the directories of their imports, as words of a command.
  var sourceWords: String { Self.words(protos + all(.importPath)) }

  private static func words(_ arguments: [Argument]) -> String {
    arguments.map { "\($0.name) \(ShellText($0.text ?? "").quoted)" }.joined(separator: " ")
  }

  /// The first argument of each text. A session names a source again to read it again; its content is needed once.
  private func distinct(_ id: OptionID) -> [Argument] {
    let arguments = all(id)
    // A set of a type that is used for the first time costs more than the rest of this.
    guard arguments.count > 1 else { return arguments }
    var texts: Set<String?> = []
    return arguments.filter { texts.insert($0.text).inserted }
  }
}

// MARK: Server and request

extension Argument {
  /// Whether it holds a secret, or may hold one in a file.
  fileprivate func mayBeSecret(_ names: SecretNames) -> Bool {
    switch OptionTable[id].secrecy {
    case .none, .attribute, .variable: false
    case .whole, .login: true
    case .header: text.map { $0.begins(with: "@") || names.contains($0.parted(at: ":").before) } ?? false
    case .settings: id != .use || !BuiltIns.areHarmless(interceptorName ?? "")
    }
  }
}

extension Invocation {
  /// Whether a target that is not a URL uses TLS.
  package var tls: Target.TLSChoice {
    if has(.plaintext) { return .never }
    // Options of the configuration file may be for other targets.
    let isForTLS = arguments.contains {
      OptionTable[$0.id].impliesTLS && $0.origin.place == nil && $0.value != .flag(false)
    }
    return isForTLS ? .always : .byTarget
  }

  /// Whether a target that is not a URL uses TLS, where servers of this machine may be asked. They are not if something secret is
  /// given, or if the connection is not made to the host of the target.
  ///
  /// - Parameters:
  ///   - console: What remembers the responses, and where a note is printed.
  ///   - headers: The options `-H`; nil for those of the options.
  package func tls(_ console: Console, headers: [Argument]? = nil) throws(Failure) -> Target.TLSChoice {
    let choice = tls
    let elsewhere: [OptionID] = [
      .unixSocket, .abstractUnixSocket, .connectTo, .resolve, .http3, .netrc, .netrcFile,
    ]
    guard case .byTarget = choice, flag(.plaintext) == nil, last(of: elsewhere) == nil else { return choice }
    let names = try secretNames()
    let isSecret = (arguments + (headers ?? [])).contains {
      $0.mayBeSecret(names) || OptionTable[$0.id].impliesTLS
    }
    let usesProxy = ["http://localhost", "https://localhost"].contains {
      ProxyAddress.setting(for: $0, ConnectionOptions()) != nil
    }
    guard !isSecret, !usesProxy else { return choice }
    return .byResponse(console.localServers)
  }

  /// The last one of `--http1.1` to `--http3`.
  package var httpVersion: OptionID? { last(of: [.http1, .http2, .http2PriorKnowledge, .http3])?.id }

  /// Which headers and attributes are secret, with the names of `--redact`.
  ///
  /// - Throws: `Failure` if one is no name.
  package func secretNames() throws(Failure) -> SecretNames {
    let redacted = all(.redact)
    for argument in redacted where !SecretNames.isPattern(argument.text ?? "") {
      throw Failure(
        .usage, "\(argument.name) \(argument.text ?? "")", "not the name of a header or an attribute",
        hint: "\(argument.name) x-tenant; * at its ends matches any text"
      ).at(argument.origin)
    }
    return SecretNames(adding: redacted.compactMap(\.text))
  }

  /// What `--expand` replaces; nil without it.
  package var expansion: Expansion? { Expansion(self) }

  /// The random seed of `--expand`.
  package var seed: UInt64? {
    // --expand=false replaces that of a configuration, which may have a seed too.
    flag(.expand) == false ? nil : number(.seed).map { UInt64(bitPattern: Int64($0)) }
  }

  /// The templates of the command line; nil without `--expand`.
  ///
  /// - Parameter sources: What values are read from.
  package func textExpansion(_ sources: ArgumentSources) throws(Failure) -> TextExpansion? {
    guard let expansion else { return nil }
    var variables: VariableArguments?
    if OptionTable[.variable].commands.contains(CommandSet(command)) {
      variables = try VariableArguments(all(.variable), sources)
    }
    return TextExpansion(
      expansion, TemplateFunctions(SystemValues(waitLimit: sources.waitLimit), seed: seed),
      variables: variables)
  }

  /// The parser of header options.
  ///
  /// - Parameters:
  ///   - sources: What values are read from.
  ///   - protocolName: The protocol of the requests; nil if it is not determined yet.
  package func headerArguments(
    _ sources: ArgumentSources, _ protocolName: ProtocolName? = nil
  ) throws(Failure) -> HeaderArguments {
    HeaderArguments(
      expansion: try textExpansion(sources), waitLimit: sources.waitLimit,
      form: protocolName.map { ($0, .proto) })
  }

  /// The accepted compressions of responses, in the order of preference; nil for all.
  package var acceptedCompressions: [Compression]? {
    list(.acceptCompression).map { names in
      names.reduce(into: []) { list, name in
        // `identity` means no compression.
        if let compression = Compression(rawValue: name), !list.contains(compression) {
          list.append(compression)
        }
      }
    }
  }
}

// MARK: Data

extension Invocation {
  /// The values of `-d`.
  package var data: [String] { texts(.data) }
  /// The format of the data.
  package var dataFormat: MessageFormat { choice(.dataFormat) ?? .json }
  /// `--set` and `--set-file`, in the order given.
  package var edits: [Argument] { all(of: [.set, .setFile]) }
  /// The data before the file of `--chunk`, and after it.
  var dataAroundFile: (before: [String], after: [String]) {
    let index = arguments.firstIndex { $0.id == .setFile } ?? arguments.endIndex
    func data(_ part: ArraySlice<Argument>) -> [String] {
      part.compactMap { $0.id == .data ? $0.string : nil }
    }
    return (data(arguments[..<index]), data(arguments[index...]))
  }

  /// Whether templates in data or in fields are replaced.
  package var expandsData: Bool { hasTemplates(in: [.data, .set, .setFile]) }

  /// Whether templates in options are replaced.
  func hasTemplates(in ids: [OptionID]) -> Bool {
    guard let expansion else { return false }
    guard expansion == .typed else { return true }
    return all(of: ids).contains { $0.string.map { !$0.hasPrefix("@") && $0.contains("${") } ?? false }
  }
}

// MARK: Batch

extension Invocation {
  /// Whether rows imply `--each`.
  var hasRows: Bool { command == .call && last(.rows) != nil }
  /// Whether each message is a call.
  var isBatch: Bool { has(.each) || hasRows }
}

// MARK: Output

extension Invocation {
  /// The program whose command `--explain` prints; nil for the description of the call.
  package var program: CallProgram? { choice(.format) }
  /// The format of responses; the one given before, if the last one is a program.
  package var format: OutputFormat? {
    all(.format).compactMap { OutputFormat(rawValue: $0.string ?? "") }.last
  }
  /// The number of `-v`.
  package var verbosity: Int { count(.verbose) }

  /// The format of responses, given or not.
  ///
  /// - Throws: `Failure` if the command of a program is asked for, but the call is not explained.
  func format(isTerminal: Bool) throws(Failure) -> OutputFormat {
    guard let program, !has(.explain) else { return format ?? (isTerminal ? .pretty : .json) }
    throw Failure(.usage, "--format \(program.rawValue)", "requires --explain")
  }

  /// The value of `--limit`; nil for all responses.
  func limit() throws(Failure) -> Int? {
    guard let argument = last(.limit), case .number(let number) = argument.value else { return nil }
    guard number > 0 else { throw Failure(.usage, "--limit", "must be at least 1").at(argument.origin) }
    return number
  }

  /// Throws if an option of JSON was typed for an output that is not JSON. Lines of the configuration file are ignored
  /// then.
  package func checkJSON(output: String) throws(Failure) {
    for id in [OptionID.emitDefaults, .enumNumbers, .int64Numbers, .bytesForm, .protoNames]
    where has(id) || text(id) != nil {
      guard !isTyped(id) else {
        throw Failure(.usage, OptionTable[id].name, "only for JSON; the output is \(output)")
      }
    }
  }

  /// The options of JSON for the codec.
  package var jsonEncoding: JSONEncodingOptions {
    var encoding = JSONEncodingOptions(
      emitDefaults: has(.emitDefaults), enumNumbers: has(.enumNumbers), protoNames: has(.protoNames),
      int64s: has(.int64Numbers) ? .numbers : .strings)
    encoding.unknownFields = choice(.unknownFields) ?? .drop
    encoding.bytes = choice(.bytesForm) ?? .base64
    return encoding
  }
}
