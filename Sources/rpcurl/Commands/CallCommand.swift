import ArgumentParser
import Glibc
import RPCClient
import RPCProtocols
import Transport

/// `rpcurl [call]`: calls one method.
struct CallCommand: ParsableCommand, CallOptions {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Call a method and print its answer (the default command).",
    usage: """
      rpcurl [call] [OPTIONS] URL                     http[s]://HOST[:PORT]/[PREFIX/]pkg.Service/Method
      rpcurl [call] [OPTIONS] URL|HOST:PORT METHOD    pkg.Service/Method or pkg.Service.Method
      """,
    discussion: """
      The server is asked for the schema (gRPC reflection), unless a descriptor set gives it.

      Examples:
        rpcurl --plaintext -d '{"name":"Ada"}' localhost:50051 demo.v1.Demo/Hello
        rpcurl --descriptor-set demo.binpb https://demo.example demo.v1.Demo/Hello
      """)

  @OptionGroup(title: "Schema") var schema: SchemaOptions
  @OptionGroup(title: "Reflection") var reflection: ReflectionOptions
  @OptionGroup(title: "Server") var server: ServerOptions
  @OptionGroup(title: "Request") var request: RequestOptions
  @OptionGroup(title: "Data") var data: DataOptions
  @OptionGroup(title: "Batch") var batch: BatchOptions
  @OptionGroup(title: "Interceptors") var chain: ChainOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Answer") var answer: AnswerOptions
  @OptionGroup(title: "Errors") var diagnostics: DiagnosticOptions
  @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions

  @Argument(
    help: ArgumentHelp(
      "The server as a URL, HOST:PORT (https, or http with --plaintext) or unix:PATH.", valueName: "target"))
  var target: String

  @Argument(help: ArgumentHelp("The method to call, unless the URL ends with it.", valueName: "method"))
  var method: String?

  func run() throws {
    let clients = ClientSource(verbosity: output.verbose, showsSecrets: output.showSecrets)
    let environment = { (name: String) in getenv(name).map { String(cString: $0) } }
    let words = ConfiguredWords.current.words
    if let format = output.format, format == .text || format == .binary {
      try output.json.check(typed: ConfiguredWords.current.typed, output: format.rawValue)
    }
    if answer.explain { return try Explanation(self, words: words, clients, environment).show() }
    let plan = try CallPlan(self, words: words, clients: clients, environment: environment)
    StandardOutput.holdsText = plan.format != .binary
    guard let path = answer.output, path != "-" else { return try run(plan, clients) }
    let isWhole = !plan.method.serverStreaming && plan.batch == nil && plan.format != .events
    let file = try AnswerFile(path, isWhole: isWhole)
    do {
      try run(plan, clients)
    } catch {
      file.discard()
      throw error
    }
    try file.keep()
  }

  private func run(_ plan: CallPlan, _ clients: ClientSource) throws {
    if let batch = plan.batch {
      try BatchRunner(plan, batch, clients: clients).run()
    } else {
      try CallRunner(plan, clients: clients).run()
    }
  }
}
