import ArgumentParser

/// What is told on standard error beside what was asked for, and in which form: `--silent`, `--show-error` and
/// `--error-format`.
///
/// The words are looked through before any of them is parsed, so that errors of the parser and of the configuration
/// file follow them too.
struct Diagnostics: Equatable {
  /// How errors are told.
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  /// Whether remarks that nobody asked for are made: warnings, progress.
  private(set) var showsRemarks = true
  /// Whether errors are told.
  private(set) var showsErrors = true
  private(set) var format = Format.text

  /// Those of the process; set before anything else is done.
  nonisolated(unsafe) static var current = Diagnostics()

  private init() {}

  /// Looks through the words of any command.
  init(_ words: [String]) {
    var isSilent = false
    var demandsErrors = false
    let words = words.prefix { $0 != "--" }
    for (index, word) in words.enumerated() {
      switch word {
      case "--silent": isSilent = true
      case "--show-error": demandsErrors = true
      case "--error-format":
        format = words.dropFirst(index + 1).first.flatMap(Format.init) ?? format
      case _ where word.hasPrefix("--error-format="):
        format = Format(rawValue: String(word.dropFirst("--error-format=".count))) ?? format
      case _ where OptionWords.isFlags(word):
        isSilent = isSilent || word.contains("s")
        demandsErrors = demandsErrors || word.contains("S")
      default: break
      }
    }
    showsRemarks = !isSilent
    showsErrors = !isSilent || demandsErrors
  }
}

/// Options that every command has. They are read before all others, by `Diagnostics`.
struct DiagnosticOptions: ParsableArguments {
  @Flag(
    name: [.customShort("s"), .long],
    help: ArgumentHelp(
      "Say nothing on standard error that was not asked for: no errors, warnings or progress; the exit code tells.",
      discussion: """
        What has an option of its own is still said, such as -v and --timing. \
        Example: rpcurl -s --format none https://demo.example demo.v1.Demo/Hello || echo "failed with $?"
        """))
  var silent = false

  @Flag(
    name: [.customShort("S"), .long],
    help: ArgumentHelp(
      "Tell errors all the same with -s.",
      discussion: "Example: rpcurl -sS https://demo.example demo.v1.Demo/Hello > reply.json"))
  var showError = false

  @Option(
    help: ArgumentHelp(
      "How errors are told on standard error: text, or json, each as one object on one line.",
      discussion: """
        The object is {"error":{…}} with what, why and, where there is one, hint; exit, the exit code; of a call that \
        failed code, code_number, message and details as in the events of --format events, and interceptor if that \
        failed it; of input line, column, byte, path and excerpt; of a batch call. Other lines do not begin with {. \
        Example: rpcurl --error-format json https://demo.example demo.v1.Demo/Hello 2>&1 >reply.json | jq -r .error.code
        """,
      valueName: "format"))
  var errorFormat = Diagnostics.Format.text
}
