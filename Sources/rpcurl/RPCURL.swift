import ArgumentParser
import Glibc

/// The command line, from its first word to the exit code.
@main
struct RPCURL: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rpcurl",
    abstract: "Call gRPC and Connect services from the command line.",
    usage: """
      rpcurl [call] [OPTIONS] URL                     http[s]://HOST[:PORT]/[PREFIX/]pkg.Service/Method
      rpcurl [call] [OPTIONS] URL|HOST:PORT METHOD    pkg.Service/Method or pkg.Service.Method
      rpcurl COMMAND [OPTIONS] …
      """,
    discussion: """
      A call is encoded with the schema of the server or of a descriptor set, passes a chain of interceptors, and travels over \
      libcurl. Its options: rpcurl call --help.

      Exit codes: 0 ok, 1 internal error, 2 usage, 3 schema, 4 input data, 5 connection, 6 TLS, 7 interceptor or \
      plugin, 8 an answer that is not as expected, 64 + status code for a call that the server ended with another status than ok, \
      130 interrupted by Ctrl-C, 143 by SIGTERM.
      """,
    version: "rpcurl \(Version.current)",
    subcommands: [
      CallCommand.self, SessionCommand.self, RunCommand.self, ListCommand.self, DescribeCommand.self,
      TemplateCommand.self, ExportCommand.self, ConvertCommand.self, PluginsCommand.self, VersionCommand.self,
      CompleteCommand.self,
    ],
    defaultSubcommand: CallCommand.self)

  static func main() {
    StandardStreams.ensureOpen()
    // A write to a closed connection is an error to handle, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let typed = Array(CommandLine.arguments.dropFirst())
    if typed.first == CompleteCommand.name { return CompleteCommand.answer(Array(typed.dropFirst())) }
    var (type, words) = command(for: typed)
    ConfiguredWords.current = ConfiguredWords(words: words)
    Diagnostics.current = Diagnostics(words)
    do {
      try ParserMessage.checkHelp(typed, of: type)
      if let options = configurable(type) {
        ConfiguredWords.current = try ConfiguredWords(words, options: options) { name in
          getenv(name).map { String(cString: $0) }
        }
        words = ConfiguredWords.current.words
        Diagnostics.current = Diagnostics(words)
      }
      var command = try parse(words, as: type)
      try command.run()
    } catch let failure as Failure {
      let located = ConfiguredWords.current.locating(failure, typed: typed)
      Glibc.exit(report(located, of: type, words).rawValue)
    } catch {
      Glibc.exit(report(error, of: type, words).rawValue)
    }
  }

  /// The options of a command that the configuration file can have; `nil` when it does not read the file.
  private static func configurable(_ type: any ParsableCommand.Type) -> (any ParsableArguments.Type)? {
    switch type {
    case is CallCommand.Type: CallCommand.self
    case is SessionCommand.Type, is RunCommand.Type: SessionOptions.self
    case is ListCommand.Type, is DescribeCommand.Type, is TemplateCommand.Type, is ExportCommand.Type:
      SchemaCommandOptions.self
    default: nil
    }
  }

  private static func parse(_ words: [String], as type: any ParsableCommand.Type) throws
    -> any ParsableCommand
  {
    do {
      return try type.parseAsRoot(words)
    } catch {
      throw ConfiguredWords.current.failure() ?? error
    }
  }

  /// The command that the words are for, and what it is to parse.
  ///
  /// The parser would find out by itself, but it lays out the arguments of the default command for that, once more
  /// than is needed: a third of the time until a command runs.
  private static func command(for words: [String]) -> (any ParsableCommand.Type, [String]) {
    guard let first = words.first else { return (CallCommand.self, words) }
    if let named = configuration.subcommands.first(where: { $0.configuration.commandName == first }) {
      return (named, Array(words.dropFirst()))
    }
    let isForAll =
      ["help", "-h", "--help", "--version", "--experimental-dump-help"].contains(first)
      || first.hasPrefix("--generate-completion-script")
    return isForAll ? (Self.self, words) : (CallCommand.self, words)
  }

  /// Tells about an error where it belongs, and gives the exit code.
  private static func report(
    _ error: any Error, of type: any ParsableCommand.Type, _ words: [String]
  ) -> ExitStatus {
    switch error {
    case let failure as Failure:
      if let words = failure.words { StandardError.tell(ErrorReport(words, failure.status)) }
      return failure.status
    case let error where type.exitCode(for: error) == .failure:
      // Nothing but the parser's errors and `Failure` is expected here.
      let words = Failure.Words(what: "internal error", why: "\(error)")
      StandardError.tell(ErrorReport(words, .internalError))
      return .internalError
    default:
      let own = type.configuration.commandName ?? ""
      let name = type == Self.self ? own : "rpcurl \(own)"
      guard type.exitCode(for: error) != .success else {
        // Help and version were asked for, so they are the result.
        StandardOutput.write(Array("\(type.fullMessage(for: error))\n".utf8))
        StandardOutput.flush()
        return .success
      }
      StandardError.tell(ErrorReport(ParserMessage(error, of: type, words, command: name).words, .usage))
      return .usage
    }
  }
}
