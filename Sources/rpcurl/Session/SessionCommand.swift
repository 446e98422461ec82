import ArgumentParser
import Glibc

/// The options that a session starts with.
struct SessionOptions: ParsableArguments, CallOptions {
  @OptionGroup(title: "Schema") var schema: SchemaOptions
  @OptionGroup(title: "Reflection") var reflection: ReflectionOptions
  @OptionGroup(title: "Server") var server: ServerOptions
  @OptionGroup(title: "Request") var request: RequestOptions
  @OptionGroup(title: "Interceptors") var chain: ChainOptions
  @OptionGroup(title: "Output") var output: OutputOptions
  @OptionGroup(title: "Errors") var diagnostics: DiagnosticOptions
  @OptionGroup(title: "Configuration") var configuration: ConfigurationOptions
}

/// `rpcurl session`: a prompt on a server.
struct SessionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "session",
    abstract:
      "Call methods of a server at a prompt, over one connection, with streams open in both directions.",
    usage: "rpcurl session [OPTIONS] [TARGET]",
    discussion: """
      At the prompt, call METHOD {JSON} makes a call, and open METHOD starts a stream: then each JSON value that is \
      typed is sent at once, and answers are shown as they come. Ctrl-D half-closes the stream, Ctrl-C cancels it. \
      Lines that begin with {, [, a quote, a digit or $ are messages; all others are commands, which help lists. JSON \
      may go on over several lines.

      $last is the last response and $request the last request; $last.items[0].name is a field of it, to be used in \
      JSON and in the words of commands, and within strings as ${last.id}. Variables are made with set NAME = VALUE.

      The chain of interceptors can be changed between calls (chain, use, plugin, remove, move); streams that are open \
      keep theirs. save FILE writes what was done as a script for rpcurl run, or with a name in .sh for the shell.

      On a terminal, TAB completes commands, methods, fields and values by the schema, Up and Ctrl-R find earlier lines, and \
      keys are those of libedit, which ~/.editrc changes. Lines are kept in $XDG_STATE_HOME/rpcurl/history, but for those \
      that set credentials.

      When standard input is no terminal, the same commands are read from it, without a prompt: at its end open \
      streams are half-closed and awaited, and the exit code is 0, whatever calls ended with; rpcurl run is for \
      scripts that must fail. Ctrl-C twice at an empty prompt ends with the exit code 130.

      Examples:
        rpcurl session --plaintext localhost:50051
        echo 'call Hello {"name":"Ada"}' | rpcurl session --plaintext localhost:50051
      """)

  @OptionGroup var options: SessionOptions

  @Argument(
    help: ArgumentHelp(
      "The server as a URL, HOST:PORT (https, or http with --plaintext) or unix:PATH.", valueName: "target"))
  var target: String?

  func run() throws {
    let state = try SessionState(words: ConfiguredWords.current.words, apartFrom: target.map { [$0] } ?? [])
    let session = try Session(state, target: target, isInteractive: isatty(0) == 1)
    let input = SessionInputs.make(session)
    let status = try session.run(input)
    guard status == .success else { throw Failure(reported: status) }
  }
}

/// `rpcurl run`: the commands of a file.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a file of session commands; the first that fails ends it.",
    usage: "rpcurl run [OPTIONS] [TARGET] FILE",
    discussion: """
      The commands are those of rpcurl session, which save writes to such a file; # begins a comment line. At the end \
      of the file open streams are half-closed and awaited. The exit code is that of the first command that fails, \
      which is told with file and line, or 0.

      Examples:
        rpcurl run --plaintext localhost:50051 smoke.rpcurl
        printf '%s\\n' '#!/usr/bin/env -S rpcurl run' 'target http://localhost:50051' 'call Hello {"name":"Ada"}' > hello
      """)

  @OptionGroup var options: SessionOptions

  @Argument(
    help: ArgumentHelp(
      "The server, unless the file names it, and the file; - is standard input.", valueName: "file"))
  var words: [String] = []

  func run() throws {
    guard let path = words.last, words.count <= 2 else {
      throw Failure(
        .usage, "run", words.isEmpty ? "no file given" : "\(words[2].debugDescription) is one word too many",
        hint: "rpcurl run [OPTIONS] [TARGET] FILE")
    }
    let state = try SessionState(words: ConfiguredWords.current.words, apartFrom: words)
    let session = try Session(state, target: words.count == 2 ? words[0] : nil, isInteractive: false)
    try session.run(script: path)
  }
}
