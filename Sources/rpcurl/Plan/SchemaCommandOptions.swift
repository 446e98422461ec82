import CommandLine

/// What the commands have in common that look into a schema and call no method.
struct SchemaCommandOptions {
  let schema: SchemaOptions
  let reflection: ReflectionOptions
  let server: ServerOptions
  let common: CommonRequestOptions
  let maxTime: Duration?
  let verbose: Int
  /// The arguments that are not options: `[TARGET] [SYMBOL]`.
  let words: [Positional]
  let configuredTarget: Positional?

  init(_ invocation: Invocation) {
    schema = SchemaOptions(invocation)
    reflection = ReflectionOptions(invocation)
    server = ServerOptions(invocation)
    common = CommonRequestOptions(invocation)
    maxTime = invocation.duration(.maxTime)
    verbose = invocation.count(.verbose)
    words = invocation.positionals
    configuredTarget = invocation.configuredTarget
  }

  /// The client of the command.
  func clients() -> ClientSource {
    ClientSource(verbosity: verbose, showsSecrets: false)
  }
}
