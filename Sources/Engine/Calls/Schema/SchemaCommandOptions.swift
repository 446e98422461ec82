import RPCurlProgram

/// The options of the commands that read a schema and call no method.
package struct SchemaCommandOptions {
  package let schema: SchemaOptions
  package let reflection: ReflectionOptions
  package let server: ServerOptions
  package let common: CommonRequestOptions
  package let maxTime: Duration?
  package let verbose: Int
  /// The positional arguments: `[TARGET] [SYMBOL]`.
  package var arguments: [Positional]
  package var configuredTarget: Positional?

  package init(_ invocation: Invocation) {
    schema = SchemaOptions(invocation)
    reflection = ReflectionOptions(invocation)
    server = ServerOptions(invocation)
    common = CommonRequestOptions(invocation)
    maxTime = invocation.duration(.maxTime)
    verbose = invocation.count(.verbose)
    arguments = invocation.positionals
    configuredTarget = invocation.configuredTarget
  }

  /// Creates the source of the client.
  package func clients(_ console: Console) -> ClientSource {
    ClientSource(console, verbosity: verbose, showsSecrets: false)
  }
}
