import ArgumentParser
import RPCProtocols

/// What the commands have in common that look into a schema and call no method.
struct SchemaCommandOptions: ParsableArguments {
  @OptionGroup(title: "Schema") var schema: SchemaOptions
  @OptionGroup(title: "Reflection") var reflection: ReflectionOptions
  @OptionGroup(title: "Server") var server: ServerOptions
  @OptionGroup(title: "Questions") var questions: QuestionOptions
  @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
  @OptionGroup(title: "Errors") var diagnostics: DiagnosticOptions

  /// The client of the command.
  func clients() -> ClientSource {
    ClientSource(verbosity: questions.verbose, showsSecrets: false)
  }
}

/// How the server is talked to when it is asked for its schema.
struct QuestionOptions: ParsableArguments {
  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp(
      "Speak grpc, grpc-web or connect (default: grpc, or what RPCURL_PROTOCOL says).", valueName: "name"))
  var protocolName: ProtocolName?

  @Option(
    name: [.customShort("H"), .customLong("header")],
    help: ArgumentHelp(
      "Send this header, or those in a file, one on each line; may repeat.", valueName: "name: value|@file"))
  var headers: [String] = []

  @Flag(
    help: ArgumentHelp(
      "Replace ${NAME} in the values of headers by the variable of the environment.",
      discussion: """
        This is for -H and --reflect-header, and for their files too. A variable that is not set is an error. \
        Example: rpcurl list --expand-headers -H 'x-api-key: ${API_KEY}' https://demo.example
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

  @Option(
    help: ArgumentHelp(
      "How long the server may take to answer, such as 1.5 or 500ms (default: 10s).", valueName: "duration"))
  var maxTime: DurationArgument?

  @Flag(
    name: [.customShort("v"), .long],
    help: ArgumentHelp(
      "Tell on standard error where the schema is from; twice for the connection too.",
      discussion: "Example: rpcurl list -vv https://demo.example"))
  var verbose: Int

  /// The same as the options of a call.
  func request() throws -> RequestOptions {
    var request = try RequestOptions.parse([])
    request.protocolName = protocolName
    request.headers = headers
    request.expandHeaders = expandHeaders
    request.user = user
    request.bearer = bearer
    request.netrc = netrc
    request.netrcFile = netrcFile
    request.userAgent = userAgent
    request.maxTime = maxTime
    return request
  }
}
