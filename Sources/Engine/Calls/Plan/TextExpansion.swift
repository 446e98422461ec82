import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf

/// Which texts are templates (`--expand`).
package enum Expansion: String {
  /// What is typed on the command line.
  case typed
  /// Also the content of files and of standard input, which must not read the environment and files.
  case files
  /// Also the content of files and of standard input.
  case all

  /// The option; rows are of use in templates only.
  init?(_ invocation: Invocation) {
    guard let level: Self = invocation.choice(.expand) ?? (invocation.last(.rows) != nil ? .typed : nil)
    else {
      return nil
    }
    self = level
  }
}

/// Replaces the templates of a command line by values.
package struct TextExpansion: Equatable {
  private let level: Expansion
  private let functions: TemplateFunctions
  /// The values of `--var`; nil for a command without this option.
  private let variables: VariableArguments?
  /// The schema of `message(TYPE, JSON)`; nil if it is not known yet.
  package var pool: DescriptorPool?
  /// The row of data of a call; nil if it has none.
  var row: DataRow?

  /// - Parameters:
  ///   - level: Which texts are templates.
  ///   - functions: The functions.
  ///   - variables: The values of `--var`; nil for a command without this option.
  package init(
    _ level: Expansion, _ functions: TemplateFunctions, variables: VariableArguments? = nil
  ) {
    self.level = level
    self.functions = functions
    self.variables = variables
  }

  /// The values of variables that are read from elsewhere, which output does not show.
  var secrets: [String: String] { variables?.secrets ?? [:] }

  /// The values of a text; nil if it is no template.
  ///
  /// - Parameters:
  ///   - isTyped: Whether the text is on the command line, and not in a file or in standard input.
  ///   - piece: The piece of `--chunk` that the text belongs to.
  func values(isTyped: Bool, piece: FilePiece? = nil) -> FunctionValues? {
    guard isTyped || level != .typed else { return nil }
    return FunctionValues(
      functions, variables: variables?.values, pool: pool, piece: piece, row: row?.value,
      readsElsewhere: isTyped || level == .all)
  }

  /// Equal if they have the same random values.
  package static func == (a: TextExpansion, b: TextExpansion) -> Bool {
    a.level == b.level && a.functions == b.functions && a.variables == b.variables && a.pool === b.pool
      && a.row === b.row
  }
}

extension Failure {
  /// The failure of a template.
  ///
  /// - Parameters:
  ///   - status: The exit code.
  ///   - source: The option or the file with the text.
  package init(_ status: ExitStatus, _ source: String, _ error: LanguageError) {
    self.init(status, source, error.reason, hint: error.hint)
    self = lacking(error.missingName)
  }
}
