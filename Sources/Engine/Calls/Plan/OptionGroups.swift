import RPCurlChain
import RPCurlInterceptors
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The options of server reflection.
package struct ReflectionOptions {
  package let reflect: Bool?
  package let reflectVersion: String?
  package let headers: [Argument]
  package let refusesCache: Bool

  package init(_ invocation: Invocation) {
    reflect = invocation.flag(.reflect)
    reflectVersion = invocation.text(.reflectVersion)
    headers = invocation.all(.reflectHeader)
    refusesCache = invocation.has(.noCache)
  }
}

/// The options of the connection.
package struct ServerOptions {
  /// Whether a target that is not a URL uses TLS.
  package let tls: Target.TLSChoice
  package let insecure: Bool
  package let cacert: Argument?
  package let capath: Argument?
  package let cert: Argument?
  package let key: Argument?
  package let pass: Argument?
  package let servername: String?
  package let authority: Argument?
  package let tls12: Bool
  package let tls13: Bool
  /// One of `--http1.1` to `--http3`.
  package let httpVersion: OptionID?
  /// `-4` or `-6`.
  package let ipVersion: OptionID?
  package let unixSocket: String?
  package let abstractUnixSocket: String?
  package let certType: String?
  package let proxy: Argument?
  package let proxyUser: Argument?
  package let resolve: [Argument]
  package let connectTo: [Argument]
  package let connectTimeout: Duration?
  package let keepaliveTime: Duration?

  private static let tlsOptions: [OptionID] = [
    .insecure, .cacert, .capath, .cert, .servername, .tls12, .tls13,
  ]

  package init(_ invocation: Invocation) {
    // Options of the configuration file may be for other targets.
    let isForTLS = invocation.all(of: Self.tlsOptions).contains {
      $0.origin.place == nil && $0.value != .flag(false)
    }
    tls = invocation.has(.plaintext) ? .never : isForTLS ? .always : .byTarget
    insecure = invocation.has(.insecure)
    cacert = invocation.last(.cacert)
    capath = invocation.last(.capath)
    cert = invocation.last(.cert)
    key = invocation.last(.key)
    pass = invocation.last(.pass)
    servername = invocation.text(.servername)
    authority = invocation.last(.authority)
    tls12 = invocation.has(.tls12)
    tls13 = invocation.has(.tls13)
    httpVersion = invocation.last(of: [.http1, .http2, .http2PriorKnowledge, .http3])?.id
    ipVersion = invocation.last(of: [.ipv4, .ipv6])?.id
    unixSocket = invocation.text(.unixSocket)
    abstractUnixSocket = invocation.text(.abstractUnixSocket)
    certType = invocation.text(.certType)
    proxy = invocation.last(.proxy)
    proxyUser = invocation.last(.proxyUser)
    resolve = invocation.all(.resolve)
    connectTo = invocation.all(.connectTo)
    connectTimeout = invocation.duration(.connectTimeout)
    keepaliveTime = invocation.duration(.keepaliveTime)
  }
}

/// The options of every request: of calls and of reflection.
package struct CommonRequestOptions {
  package let protocolName: ProtocolName?
  package var headers: [Argument]
  package let expansion: Expansion?
  /// Those of `--var`; nil for a command without this option.
  let variables: [Argument]?
  /// Those of `--redact`.
  private let redacted: [Argument]
  package let user: Argument?
  package let bearer: Argument?
  package let netrc: Bool
  package let netrcFile: Argument?
  package let userAgent: Argument?

  package init(_ invocation: Invocation) {
    protocolName = invocation.choice(.protocolName)
    headers = invocation.all(.header)
    expansion = Expansion(invocation)
    let hasVariables = OptionTable[.variable].commands.contains(CommandSet(invocation.command))
    variables = hasVariables ? invocation.all(.variable) : nil
    redacted = invocation.all(.redact)
    user = invocation.last(.user)
    bearer = invocation.last(.bearer)
    netrc = invocation.has(.netrc)
    netrcFile = invocation.last(.netrcFile)
    userAgent = invocation.last(.userAgent)
  }

  /// Which headers and attributes are secret, with the names of `--redact`.
  ///
  /// - Throws: `Failure` if one is no name.
  package func secretNames() throws(Failure) -> SecretNames {
    for argument in redacted where !SecretNames.isPattern(argument.text ?? "") {
      throw Failure(
        .usage, "\(argument.name) \(argument.text ?? "")", "not the name of a header or an attribute",
        hint: "\(argument.name) x-tenant; * at its ends matches any text"
      ).at(argument.origin)
    }
    return SecretNames(adding: redacted.compactMap(\.text))
  }

  /// The templates of the command line; nil without `--expand`.
  ///
  /// - Parameters:
  ///   - sources: What values are read from.
  ///   - seed: The seed of random values; nil for a random one.
  package func textExpansion(
    _ sources: ArgumentSources, seed: UInt64? = nil
  ) throws(Failure) -> TextExpansion? {
    guard let expansion else { return nil }
    return TextExpansion(
      expansion, TemplateFunctions(SystemValues(waitLimit: sources.waitLimit), seed: seed),
      variables: try variables.map { (arguments) throws(Failure) in
        try VariableArguments(arguments, sources)
      })
  }

  /// The parser of header options whose protocol and codec are not determined yet.
  ///
  /// - Parameter sources: What values are read from.
  package func headerArguments(_ sources: ArgumentSources) throws(Failure) -> HeaderArguments {
    HeaderArguments(expansion: try textExpansion(sources), waitLimit: sources.waitLimit)
  }

  /// The parser of header options.
  ///
  /// - Parameters:
  ///   - sources: What values are read from.
  ///   - protocolName: The protocol of the requests.
  ///   - codec: The codec of the requests.
  package func headerArguments(
    _ sources: ArgumentSources, _ protocolName: ProtocolName, _ codec: CodecName = .proto
  ) throws(Failure) -> HeaderArguments {
    HeaderArguments(
      expansion: try textExpansion(sources), waitLimit: sources.waitLimit,
      form: (protocolName, codec))
  }
}

/// The options of the request of a call.
package struct RequestOptions {
  package var common: CommonRequestOptions
  package let codec: CodecName
  package let connectGet: Bool
  package let compression: Compression?
  package let acceptCompression: [Compression]?
  package let rpcHeaders: [Argument]
  package let attributes: [Argument]
  package let maxTime: Duration?
  package let maxMessageBytes: Int
  /// The random seed of `--expand`.
  package let seed: UInt64?

  package init(_ invocation: Invocation) {
    common = CommonRequestOptions(invocation)
    // --expand=false replaces that of a configuration, which may have a seed too.
    let isTurnedOff = invocation.flag(.expand) == false
    seed = isTurnedOff ? nil : invocation.number(.seed).map { UInt64(bitPattern: Int64($0)) }
    codec = invocation.choice(.codec) ?? .proto
    connectGet = invocation.has(.connectGet)
    compression = invocation.choice(.compression)
    acceptCompression = invocation.list(.acceptCompression).map { names in
      names.reduce(into: []) { list, name in
        // `identity` means no compression.
        if let compression = Compression(rawValue: name), !list.contains(compression) {
          list.append(compression)
        }
      }
    }
    rpcHeaders = invocation.all(.rpcHeader)
    attributes = invocation.all(.attribute)
    maxTime = invocation.duration(.maxTime)
    maxMessageBytes = invocation.bytes(.maxMessageSize) ?? 64 << 20
  }
}

/// The options of the request data.
package struct DataOptions {
  /// `-d`, `--set` and `--set-file`, in the order given.
  private let parts: [Argument]
  package let dataFormat: MessageFormat
  package let chunkBytes: Int?
  private let expansion: Expansion?
  /// The file of `--rows`.
  let rows: Argument?

  package var data: [String] { Self.data(parts) }
  /// `--set` and `--set-file`, in the order given.
  package var edits: [Argument] { parts.filter { $0.id != .data } }
  /// The data before the file of `--chunk`, and after it.
  package var dataAroundFile: (before: [String], after: [String]) {
    let index = parts.firstIndex { $0.id == .setFile } ?? parts.endIndex
    return (Self.data(parts[..<index]), Self.data(parts[index...]))
  }

  /// Whether templates in data or in fields are replaced.
  package var isExpanded: Bool { hasTemplates(parts) }
  /// Whether templates in data are replaced.
  var hasTemplatesInData: Bool { hasTemplates(parts.filter { $0.id == .data }) }

  private func hasTemplates(_ parts: [Argument]) -> Bool {
    guard let expansion else { return false }
    guard expansion == .typed else { return true }
    return parts.contains { $0.string.map { !$0.hasPrefix("@") && $0.contains("${") } ?? false }
  }

  /// The first `-d` that names a file; nil if none does.
  func argument(ofFile path: String) -> Argument? {
    parts.first { $0.id == .data && $0.string == "@\(path)" }
  }

  private static func data(_ parts: some Sequence<Argument>) -> [String] {
    parts.compactMap { $0.id == .data ? $0.string : nil }
  }

  package init(_ invocation: Invocation) {
    parts = invocation.all(of: [.data, .set, .setFile])
    expansion = Expansion(invocation)
    rows = invocation.last(.rows)
    chunkBytes = invocation.bytes(.chunk)
    dataFormat = invocation.choice(.dataFormat) ?? .json
  }
}

/// The options of batches.
package struct BatchOptions {
  package let each: Bool
  package let jobs: Argument?
  package let failEarly: Bool
  /// Whether rows imply `--each`.
  let hasRows: Bool
  /// Whether the calls are repeated.
  let isRepeated: Bool

  package init(_ invocation: Invocation) {
    hasRows = invocation.command == .call && invocation.last(.rows) != nil
    each = invocation.has(.each) || hasRows
    // Those of a load are not the calls of a batch.
    jobs = invocation.command == .load ? nil : invocation.last(.jobs)
    failEarly = invocation.has(.failEarly)
    isRepeated = invocation.last(of: [.repeats, .every]) != nil
  }
}

/// The options of the output.
package struct OutputOptions {
  package let format: OutputFormat?
  /// The program whose command `--explain` prints; nil for the description of the call.
  package let program: CallProgram?
  package let json: JSONOptions
  package let allowUnknownFields: Bool
  package let unknownFields: UnknownFields?
  package let verbose: Int
  package let color: ColorChoice
  package let timing: Bool
  package let showSecrets: Bool

  package init(_ invocation: Invocation) {
    program = invocation.choice(.format)
    // The format of responses is then the one given before.
    format = invocation.all(.format).compactMap { OutputFormat(rawValue: $0.string ?? "") }.last
    json = JSONOptions(invocation)
    allowUnknownFields = invocation.has(.allowUnknownFields)
    unknownFields = invocation.choice(.unknownFields)
    verbose = invocation.count(.verbose)
    color = invocation.choice(.color) ?? .auto
    timing = invocation.has(.timing)
    showSecrets = invocation.has(.showSecrets)
  }

  /// The format of responses.
  ///
  /// - Throws: `Failure` if the command of a program is asked for, but the call is not explained.
  func format(isTerminal: Bool, isExplained: Bool) throws(Failure) -> OutputFormat {
    guard let program, !isExplained else { return format ?? (isTerminal ? .pretty : .json) }
    throw Failure(.usage, "--format \(program.rawValue)", "requires --explain")
  }
}

/// The options of one command's response.
package struct ResponseOptions {
  package let filter: Argument?
  package let filterMissing: FieldFilter.MissingAction?
  package let raw: Bool
  private let limit: Argument?
  package let output: Argument?
  package let explain: Bool

  package init(_ invocation: Invocation) {
    filter = invocation.last(.filter)
    filterMissing = invocation.choice(.filterMissing)
    raw = invocation.has(.raw)
    limit = invocation.last(.limit)
    output = invocation.last(.output)
    explain = invocation.has(.explain)
  }

  /// The value of `--limit`; nil for all responses.
  func checkedLimit() throws(Failure) -> Int? {
    guard let limit, case .number(let number) = limit.value else { return nil }
    guard number > 0 else { throw Failure(.usage, "--limit", "must be at least 1").at(limit.origin) }
    return number
  }
}

/// The options of JSON output.
package struct JSONOptions {
  private let invocation: Invocation

  package init(_ invocation: Invocation) {
    self.invocation = invocation
  }

  /// Throws if one of them was typed for an output that is not JSON. Lines of the configuration file are ignored
  /// then.
  package func check(output: String) throws(Failure) {
    for id in [OptionID.emitDefaults, .enumNumbers, .int64Numbers, .protoNames] where invocation.has(id) {
      guard !invocation.isTyped(id) else {
        throw Failure(.usage, OptionTable[id].name, "only for JSON; the output is \(output)")
      }
    }
  }

  /// The options for the codec.
  package var encoding: JSONEncodingOptions {
    var encoding = JSONEncodingOptions(
      emitDefaults: invocation.has(.emitDefaults), enumNumbers: invocation.has(.enumNumbers),
      protoNames: invocation.has(.protoNames), int64s: invocation.has(.int64Numbers) ? .numbers : .strings)
    encoding.unknownFields = invocation.choice(.unknownFields) ?? .drop
    return encoding
  }
}
