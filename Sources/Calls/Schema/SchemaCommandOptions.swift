import CommandLine

/// What the commands have in common that look into a schema and call no method.
package struct SchemaCommandOptions {
  package let schema: SchemaOptions
  package let reflection: ReflectionOptions
  package let server: ServerOptions
  package let common: CommonRequestOptions
  package let maxTime: Duration?
  package let verbose: Int
  /// The arguments that are not options: `[TARGET] [SYMBOL]`.
  package let words: [Positional]
  package let configuredTarget: Positional?

  package init(_ invocation: Invocation) {
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
  package func clients() -> ClientSource {
    ClientSource(verbosity: verbose, showsSecrets: false)
  }
}
