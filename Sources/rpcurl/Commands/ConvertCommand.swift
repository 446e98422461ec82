import ArgumentParser
import Protobuf

/// `rpcurl convert`: turns messages into another form, without a server.
struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Turn messages from JSON, text format or binary into another of these.",
    usage: "rpcurl convert [OPTIONS] --type TYPE --from FORMAT --to FORMAT [FILE]",
    discussion: """
      JSON input may hold several messages, one after another. With --delimited, input and output are streams: \
      in binary each message stands behind its length (a varint), in text format on a line of its own. Streams \
      of any length are converted as they come, in constant memory.

      Example:
        rpcurl convert --descriptor-set demo.binpb --type demo.v1.HelloRequest --from binary --to json request.bin
      """)

  @OptionGroup(title: "Schema") var schema: SchemaOptions

  @Option(help: ArgumentHelp("The messages' type, by its full name.", valueName: "pkg.Message"))
  var type: String

  @Option(help: ArgumentHelp("The form of the input: json, text or binary.", valueName: "format"))
  var from: MessageFormat

  @Option(help: ArgumentHelp("The form of the output: json, text or binary.", valueName: "format"))
  var to: MessageFormat

  @Flag(help: "Read and write a stream of messages.")
  var delimited = false

  @Flag(help: "Print JSON over several lines (default on a terminal, except with --delimited).")
  var pretty = false

  @OptionGroup var json: JSONOptions

  @Flag(help: "Pass over fields of the input that the schema does not know.")
  var allowUnknownFields = false

  @Flag(help: "Do not print unknown fields in text format.")
  var noUnknownFields = false

  @Flag(help: "Take messages that lack required fields.")
  var allowPartial = false

  @OptionGroup(title: "Errors") var diagnostics: DiagnosticOptions

  @Argument(help: ArgumentHelp("The input; standard input without it or for -.", valueName: "file"))
  var file: String?

  func run() throws {
    try ConvertRunner(self).run()
  }
}

extension MessageFormat: ExpressibleByArgument {}
