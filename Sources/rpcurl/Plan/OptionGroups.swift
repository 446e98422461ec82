import ArgumentParser
import Protobuf
import RPCProtocols

/// Where the schema comes from.
struct SchemaOptions: ParsableArguments {
  @Option(
    name: [.customLong("descriptor-set"), .customLong("protoset")],
    help: ArgumentHelp(
      "Take the schema from this descriptor set; may repeat, the first that knows a name wins.",
      discussion: "Made by: protoc --include_imports --descriptor_set_out=FILE, or buf build -o FILE.",
      valueName: "file"))
  var descriptorSets: [String] = []

  @Option(
    name: .customLong("proto"),
    help: ArgumentHelp(
      "Take the schema from this .proto file, with the help of protoc; may repeat.",
      discussion: """
        What descriptor sets know wins. protoc is in the package protobuf-compiler. \
        Example: rpcurl list -I protos --proto demo.proto
        """,
      valueName: "file"))
  var protos: [String] = []

  @Option(
    name: [.customShort("I"), .customLong("import-path")],
    help: ArgumentHelp(
      "Look here for the files of --proto and for what they import; may repeat (default: the working directory).",
      valueName: "dir"))
  var importPaths: [String] = []

  /// Whether a source other than the server is named.
  var hasSources: Bool { !descriptorSets.isEmpty || !protos.isEmpty }
}

/// How the server is asked for the schema.
struct ReflectionOptions: ParsableArguments {
  @Flag(
    inversion: .prefixedNo, exclusivity: .chooseLast,
    help: ArgumentHelp(
      "Ask the server for what no other source knows (default: if no other source is named).",
      discussion: "What it answers is kept for five minutes below $XDG_CACHE_HOME/rpcurl."))
  var reflect: Bool?

  @Option(
    help: ArgumentHelp(
      "Speak this version of reflection: v1 or v1alpha (default: v1alpha where the server has no v1).",
      valueName: "version"))
  var reflectVersion: ReflectionVersionArgument?

  @Option(
    name: .customLong("reflect-header"),
    help: ArgumentHelp(
      "As -H, but sent only when the server is asked for its schema.", valueName: "name: value|@file"))
  var headers: [String] = []

  @Flag(name: .customLong("no-cache"), help: "Neither use nor keep what servers told of their schemas.")
  var refusesCache = false
}

/// How to reach the server.
struct ServerOptions: ParsableArguments {
  @Flag(help: "Speak HTTP without TLS with a HOST:PORT.")
  var plaintext = false

  @Flag(name: [.customShort("k"), .long], help: "Take the server's certificate unchecked.")
  var insecure = false

  @Option(help: ArgumentHelp("Trust the authorities in this PEM file.", valueName: "file"))
  var cacert: String?

  @Option(help: ArgumentHelp("Trust the authorities in this directory (openssl rehash).", valueName: "dir"))
  var capath: String?

  @Option(
    name: [.customShort("E"), .long],
    help: ArgumentHelp("Show the server this certificate, a PEM file.", valueName: "file"))
  var cert: String?

  @Option(help: ArgumentHelp("The certificate's key, if it is not in the same file.", valueName: "file"))
  var key: String?

  @Option(
    help: ArgumentHelp(
      "What the key is encrypted with: @FILE, or the value of env:NAME (default: ask on the terminal).",
      valueName: "@file|env:name"))
  var pass: String?

  @Option(
    help: ArgumentHelp("Ask for this name in TLS, and expect it in the certificate.", valueName: "name"))
  var servername: String?

  @Option(help: ArgumentHelp("Tell HTTP this host instead of the URL's.", valueName: "host"))
  var authority: String?

  @Flag(name: .customLong("tlsv1.2"), help: "Accept TLS 1.2 and newer.")
  var tls12 = false

  @Flag(name: .customLong("tlsv1.3"), help: "Accept TLS 1.3 and newer.")
  var tls13 = false

  @Flag(exclusivity: .chooseLast)
  var httpVersion: HTTPVersionFlag?

  @Option(help: ArgumentHelp("Connect to this socket instead of the URL's host.", valueName: "path"))
  var unixSocket: String?

  @Option(
    help: ArgumentHelp(
      "Go through this proxy (default: what http_proxy, https_proxy and no_proxy say).", valueName: "url"))
  var proxy: String?

  @Option(
    help: ArgumentHelp(
      "Use this address for a host and port; may repeat.", valueName: "host:port:address"))
  var resolve: [String] = []

  @Option(
    help: ArgumentHelp(
      "Time limit for connecting, such as 1.5 or 500ms (default: 10 seconds).", valueName: "duration"))
  var connectTimeout: DurationArgument?

  @Option(
    help: ArgumentHelp(
      "Ask a silent peer for a sign of life after this time.",
      discussion: """
        The peer is asked with HTTP/2's PING where libcurl 8.14 or newer is in use, and with TCP's keepalive, which has \
        whole seconds. A peer that does not respond, or does not acknowledge what was sent, for as long again counts \
        as gone. Many gRPC servers refuse more than one PING in five minutes without a call.
        """,
      valueName: "duration"))
  var keepaliveTime: DurationArgument?
}

/// What goes with every request, whether it is a call or asks for the schema.
struct CommonRequestOptions: ParsableArguments {
  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp(
      "Speak grpc, grpc-web or connect (default: grpc, or what RPCURL_PROTOCOL says).", valueName: "name"))
  var protocolName: ProtocolName?

  @Option(
    name: [.customShort("H"), .customLong("header")],
    help: ArgumentHelp(
      "Send this header, or those in a file, one on each line; may repeat. Values of names in -bin are base64.",
      valueName: "name: value|@file"))
  var headers: [String] = []

  @Flag(
    help: ArgumentHelp(
      "Replace ${NAME} in the values of headers by the variable of the environment.",
      discussion: """
        This is for all headers, and for their files too, so that secrets need not stand on the command line. A variable that is not set is an error; nothing else is expanded, and nothing escapes. \
        Example: rpcurl --expand-headers -H 'x-api-key: ${API_KEY}' https://demo.example demo.v1.Demo/Hello
        """))
  var expandHeaders = false

  @Option(
    name: [.customShort("u"), .long],
    help: ArgumentHelp("Send these credentials (HTTP Basic).", valueName: "name:password"))
  var user: String?

  @Option(help: ArgumentHelp("Send this token (HTTP Bearer).", valueName: "token|@file"))
  var bearer: String?

  @Flag(name: [.customShort("n"), .long], help: "Take credentials for the host from ~/.netrc.")
  var netrc = false

  @Option(help: ArgumentHelp("Take credentials for the host from this file.", valueName: "file"))
  var netrcFile: String?

  @Option(
    name: [.customShort("A"), .long],
    help: ArgumentHelp("Send this user-agent (default: rpcurl and its version).", valueName: "text"))
  var userAgent: String?

  /// Reads the options of headers.
  func headerArguments(_ environment: @escaping (String) -> String?) -> HeaderArguments {
    HeaderArguments(expansion: expandHeaders ? HeaderExpansion(environment) : nil)
  }
}

/// What to say to the server.
struct RequestOptions: ParsableArguments {
  @OptionGroup var common: CommonRequestOptions

  @Option(help: ArgumentHelp("How messages are encoded on the wire: proto or json.", valueName: "name"))
  var codec: CodecName = .proto

  @Flag(
    help: ArgumentHelp(
      "Use GET, for a Connect method that is marked NO_SIDE_EFFECTS.",
      discussion: "A message that would make the URL longer than 8192 bytes is sent by POST."))
  var connectGet = false

  @Option(
    help: ArgumentHelp(
      "Compress sent messages with gzip, deflate, br, zstd or snappy; identity sends them as they are.",
      valueName: "name"))
  var compression: CompressionArgument = .identity

  @Option(
    help: ArgumentHelp(
      "What the server may compress with, the most wanted first, such as zstd,gzip; identity for nothing "
        + "(default: all that the libraries found can do).", valueName: "list"))
  var acceptCompression: CompressionListArgument?

  @Option(
    name: .customLong("rpc-header"),
    help: ArgumentHelp(
      "As -H, but not sent when the server is asked for its schema.", valueName: "name: value|@file"))
  var rpcHeaders: [String] = []

  @Option(
    help: ArgumentHelp(
      "The call's deadline, such as 1.5, 1500ms or 2m; it travels to the server.", valueName: "duration"))
  var maxTime: DurationArgument?

  @Option(
    help: ArgumentHelp("The limit for one received message, such as 512k or 64m.", valueName: "bytes"))
  var maxMessageSize = ByteCountArgument(bytes: 64 << 20)
}

/// What is sent as the request's messages.
struct DataOptions: ParsableArguments {
  @Option(
    name: [.customShort("d"), .long],
    help: ArgumentHelp(
      "The request message: JSON, @FILE, or @- for standard input; may repeat for a stream.",
      discussion: "Without it, an empty message is sent, or for a method that takes a stream standard input.",
      valueName: "json|@file"))
  var data: [String] = []

  @Option(
    help: ArgumentHelp(
      "What the request data is written in: json, text or binary.",
      discussion: """
        A single message is all of the data. Where several are taken, text format has one on each line, and binary \
        has each behind its length, a varint. Example: rpcurl --plaintext --data-format text -d 'name: "Ada"' \
        localhost:50051 demo.v1.Demo/Hello
        """,
      valueName: "format"))
  var dataFormat = MessageFormat.json
}

/// How many calls are made of many messages.
struct BatchOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Make one unary call for each message of the data, over one connection where HTTP/2 is spoken.",
      discussion: """
        Without -d, the messages are read from standard input. Answers are printed in the order of the messages. \
        A call that fails is told with its place, counted from 0, and the others go on; the exit code is that of \
        the first in this order. Data that is wrong ends the batch at its place. \
        Example: rpcurl --each --jobs 32 --plaintext localhost:50051 demo.v1.Demo/Hello < requests.json
        """))
  var each = false

  @Option(help: ArgumentHelp("Make this many calls of --each at a time (default: 1).", valueName: "number"))
  var jobs: Int?

  @Flag(
    help: ArgumentHelp(
      "End the batch of --each when a call fails.",
      discussion: "Calls before it are still answered; those after it are canceled."))
  var failEarly = false
}

/// What the call passes on its way.
struct ChainOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Put a built-in interceptor on the chain, in the order written; may repeat.",
      discussion: "Keys of all: priority=N, methods=PATTERN. Two commas stand for one in a value.",
      valueName: "name[,key=value…]"))
  var use: [String] = []

  @Option(
    help: ArgumentHelp(
      "Put a plugin on the chain, in the order written; may repeat.",
      discussion: "With ? in front (?NAME) it is left out when there is no such plugin.",
      valueName: "name|path[,key=value…]"))
  var plugin: [String] = []
}

/// How the answer is shown.
struct OutputOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Print responses as pretty, json (one a line), text, binary, events (every event of the call as NDJSON) or "
        + "none (default: pretty on a terminal, otherwise json).",
      discussion: """
        Of several messages, text format has one on each line, and binary has each behind its length, a varint. \
        Example: rpcurl --plaintext --format binary localhost:50051 demo.v1.Demo/Hello > reply.bin
        """,
      valueName: "name"))
  var format: OutputFormat?

  @OptionGroup var json: JSONOptions

  @Flag(help: "Pass over fields of the request data that the schema does not know.")
  var allowUnknownFields = false

  @Flag(
    name: [.customShort("v"), .long],
    help: ArgumentHelp(
      "Show the metadata of request and response on standard error; twice for the connection and the messages too.",
      discussion: """
        With -vv there is what libcurl says about the connection (names, addresses, TLS, certificates, reuse), the size \
        and compression of each message, and what interceptors log for those who look for a mistake. Credentials are \
        redacted, unless --show-secrets is given. Example: rpcurl -vv https://demo.example demo.v1.Demo/Hello
        """))
  var verbose: Int

  @Option(
    help: ArgumentHelp(
      "Print JSON in colour: auto, always or never.",
      discussion: """
        auto is for terminals only, and neither where NO_COLOR is set nor where TERM is dumb. \
        Example: rpcurl --color always --format pretty https://demo.example demo.v1.Demo/Hello | less -R
        """,
      valueName: "when"))
  var color = ColorChoice.auto

  @Flag(
    help: ArgumentHelp(
      "Say on standard error what the call took: until the name was resolved, the connection stood, TLS was agreed "
        + "on, the first byte came, and in total.",
      discussion: """
        The metrics event of --format events has the same for scripts. All times count from the start of the call; \
        after a retry the connection is that of the first attempt that made one, and the first byte that of the last \
        attempt. \
        Example: rpcurl --timing https://demo.example demo.v1.Demo/Hello
        """))
  var timing = false

  @Flag(help: "Show credentials that -v would redact.")
  var showSecrets = false
}

/// What becomes of one command's answer.
struct AnswerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Print only this field of each response, raw: strings unquoted, a list's elements each on a line.",
      discussion: """
        Messages are printed as JSON on one line. An answer that lacks the field ends with the exit code 8. \
        Example: id=$(rpcurl --filter user.id https://demo.example demo.v1.Demo/Find)
        """,
      valueName: "path"))
  var filter: String?

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp(
      "Write the output to this file.",
      discussion: """
        A single answer replaces the file when the call has ended well; otherwise the file stays as it was. Streams, \
        batches and events are written as they come. \
        Example: rpcurl -o reply.json https://demo.example demo.v1.Demo/Hello
        """,
      valueName: "file"))
  var output: String?

  @Flag(
    help: ArgumentHelp(
      "Print what the call would be, with its chain of interceptors, and send nothing; --format json for tools.",
      discussion: """
        Placements that are likely to be mistakes are warned of: redact outside of log, sign inside of compression or \
        outside of what changes messages, cache outside of credentials. Plugins are loaded. A server that would be \
        asked for its schema is not. Example: rpcurl --explain --use header,set=x-tenant:blue https://demo.example \
        demo.v1.Demo/Hello
        """))
  var explain = false
}

/// Options that stand in a file. They are read before all others are parsed, by `ConfiguredWords`.
struct ConfigurationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Take options from this file (default: $XDG_CONFIG_HOME/rpcurl/config, if there is one).",
      discussion: """
        It has one option on each line, as on the command line but without quotes, and target URL; what is typed wins. \
        Other commands than call leave out the options that they do not have. Lines behind [profile NAME] are for --profile NAME only. Example: rpcurl --config ci.conf demo.v1.Demo/Hello
        """,
      valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp(
      "Take the options of this profile of the configuration file too.",
      discussion: "Example: rpcurl --profile staging demo.v1.Demo/Hello", valueName: "name"))
  var profile: String?
}

/// How messages are written as JSON.
struct JSONOptions: ParsableArguments {
  @Flag(help: "Print fields that hold their default value.")
  var emitDefaults = false

  @Flag(help: "Print enum values as numbers.")
  var enumNumbers = false

  @Flag(help: "Print field names as the schema writes them.")
  var protoNames = false

  /// Refuses those that were typed for an output that is no JSON. Lines of the configuration file are for whatever
  /// output they fit.
  func check(typed words: [String], output: String) throws(Failure) {
    let given = [
      ("--emit-defaults", emitDefaults), ("--enum-numbers", enumNumbers), ("--proto-names", protoNames),
    ]
    for (name, isGiven) in given where isGiven && words.contains(name) {
      throw Failure(.usage, name, "it is for JSON, and the output is \(output)")
    }
  }

  /// The same, as the codec takes it.
  var encoding: JSONEncodingOptions {
    JSONEncodingOptions(emitDefaults: emitDefaults, enumNumbers: enumNumbers, protoNames: protoNames)
  }
}

extension ProtocolName: ExpressibleByArgument {}

extension CodecName: ExpressibleByArgument {}

/// A version of reflection on the command line.
enum ReflectionVersionArgument: String, ExpressibleByArgument, CaseIterable {
  case v1
  case v1alpha
}

/// A version of HTTP on the command line.
enum HTTPVersionFlag: String, EnumerableFlag {
  case http1
  case http2
  case http2PriorKnowledge
  case http3

  static func name(for value: HTTPVersionFlag) -> NameSpecification {
    switch value {
    case .http1: .customLong("http1.1")
    case .http2: .customLong("http2")
    case .http2PriorKnowledge: .customLong("http2-prior-knowledge")
    case .http3: .customLong("http3")
    }
  }

  static func help(for value: HTTPVersionFlag) -> ArgumentHelp? {
    switch value {
    case .http1: "Speak HTTP/1.1 (without TLS the default of Connect and gRPC-Web)."
    case .http2: "Speak HTTP/2 (the default of gRPC and of bidi methods)."
    case .http2PriorKnowledge: "Speak HTTP/2 from the first byte on, without TLS."
    case .http3: "Speak HTTP/3, if the libcurl found here can."
    }
  }
}

/// How responses are printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case pretty
  case json
  case text
  case binary
  case events
  case none
}
