import ArgumentParser

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
  @OptionGroup var common: CommonRequestOptions

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
}
