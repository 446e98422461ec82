import CommandLine
import Glibc
import Output
import RPCClient
import RPCProtocols
import System
import Transport

/// `rpcurl [call]`: calls one method.
struct CallCommand: CallOptions {
  let schema: SchemaOptions
  let reflection: ReflectionOptions
  let server: ServerOptions
  let request: RequestOptions
  let data: DataOptions
  let batch: BatchOptions
  let chain: ChainArguments
  let output: OutputOptions
  let answer: AnswerOptions
  let target: Positional
  let method: Positional?
  let configuredTarget: Positional?

  init(_ invocation: Invocation) {
    schema = SchemaOptions(invocation)
    reflection = ReflectionOptions(invocation)
    server = ServerOptions(invocation)
    request = RequestOptions(invocation)
    data = DataOptions(invocation)
    batch = BatchOptions(invocation)
    chain = ChainArguments(invocation)
    output = OutputOptions(invocation)
    answer = AnswerOptions(invocation)
    // The parser has checked that it is there.
    target = invocation.positionals.first ?? Positional("", .session)
    method = invocation.positionals.dropFirst().first
    configuredTarget = invocation.configuredTarget
  }

  func run() throws {
    let clients = ClientSource(verbosity: output.verbose, showsSecrets: output.showSecrets)
    let environment = EnvironmentVariables.value
    if let format = output.format, format == .text || format == .binary {
      try output.json.check(output: format.rawValue)
    }
    let resolved = try CallPlan.resolve(
      self, clients: clients, environment: environment, isDry: answer.explain)
    guard let plan = resolved.plan, !answer.explain else {
      return try Explanation(self, resolved).show()
    }
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
