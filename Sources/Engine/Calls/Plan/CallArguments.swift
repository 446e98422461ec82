import RPCurlProgram

/// The arguments of `rpcurl call`.
package struct CallArguments: CallOptions {
  package let schema: SchemaOptions
  package let reflection: ReflectionOptions
  package let server: ServerOptions
  package let request: RequestOptions
  package let data: DataOptions
  package let batch: BatchOptions
  package let chain: ChainArguments
  package let output: OutputOptions
  package let response: ResponseOptions
  package let target: Positional
  package let method: Positional?
  package let configuredTarget: Positional?
  /// Whether the data has the messages of many calls, one for each unless the client streams.
  package let repeatsData: Bool
  /// All options, of the command line and of the configuration file.
  package let given: [Argument]
  /// The configuration files, and what of them does not apply.
  package let configuration: ConfigurationReport

  package init(_ invocation: Invocation) {
    schema = SchemaOptions(invocation)
    reflection = ReflectionOptions(invocation)
    server = ServerOptions(invocation)
    request = RequestOptions(invocation)
    data = DataOptions(invocation)
    batch = BatchOptions(invocation)
    chain = ChainArguments(invocation)
    output = OutputOptions(invocation)
    response = ResponseOptions(invocation)
    // The parser has checked that there is one.
    target = invocation.positionals.first ?? Positional("", .session)
    method = invocation.positionals.dropFirst().first
    configuredTarget = invocation.configuredTarget
    repeatsData = invocation.command == .load
    given = invocation.arguments
    configuration = invocation.configuration
  }
}
