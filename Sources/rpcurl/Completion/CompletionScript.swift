import RPCurlBase
import RPCurlProgram

/// The script that a shell reads to complete command lines: a template, and the commands and options as the shell states them.
enum CompletionScript {
  /// A shell that has a script.
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  /// A command with arguments; of `plugins` its commands.
  struct Leaf {
    /// The words of the name.
    let path: [String]
    let definition: Command
    let options: [Option]

    init(_ id: CommandID) {
      definition = CommandTable[id]
      options = OptionTable.options(of: id)
      path = definition.name.split(separator: " ").map(String.init)
    }

    func name(_ separator: String) -> String { path.joined(separator: separator) }
  }

  /// A name that can be the first argument, with what it is.
  typealias Name = (name: String, summary: String)

  /// The script.
  static func text(_ shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  /// The names that can be the first argument.
  static let names: [Name] = CommandTable.names.map { ($0, sentence(Help.summary(of: $0))) }

  /// The group of commands, and their names.
  static let group = CommandTable.plugins
  static let nested: [Name] = leaves.filter { $0.path.count > 1 }.map {
    ($0.path[1], sentence($0.definition.summary))
  }

  /// The commands, in the order of help.
  static let leaves: [Leaf] = {
    let all = CommandID.allCases.map { Leaf($0) }
    return CommandTable.names.flatMap { name in all.filter { $0.path[0] == name } }
  }()

  /// What an option is, without a full stop.
  static func summary(_ option: Option) -> String { sentence(Help.essence(option.summary)) }

  /// The kind of a completion, and what follows its colon.
  static func parted(_ completion: String) -> (kind: Substring, detail: String) {
    let (kind, detail) = completion.parted(at: ":")
    return (kind, detail.map { String($0) } ?? "")
  }

  /// A template with its words replaced.
  static func filled(_ template: [UInt8], _ words: [(String, String)]) -> String {
    words.reduce(String(decoding: template, as: UTF8.self)) { $0.replacing($1.0, with: $1.1) }
  }

  private static func sentence(_ text: String) -> String {
    text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}

/// `rpcurl completion SHELL`: prints the script.
struct CompletionCommand {
  private let shell: CompletionScript.Shell

  /// - Throws: `Failure` for another shell.
  init(_ invocation: Invocation) throws(Failure) {
    let name = invocation.positionals.first?.text ?? ""
    guard let shell = CompletionScript.Shell(rawValue: name) else {
      throw Failure(.usage, "completion", "no script for '\(name)'", hint: "use bash, zsh or fish")
    }
    self.shell = shell
  }

  func run(on output: StandardOutput) { output.print(CompletionScript.text(shell)) }
}
