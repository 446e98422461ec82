/// The definition of an option: its names, its value, its documentation, and its counterparts in other tools.
///
/// Lists are strings with spaces between the elements, so that the table is static data.
package struct Option: Sendable {
  /// What the value of an option is.
  package enum Kind: Sendable {
    /// No value. `--no-NAME` turns it off if the names include that.
    case flag
    /// A flag that may have one of these values, as `NAME=VALUE`; the first one holds without a value.
    case level(String)
    /// No value; may be given several times, and the number of times counts.
    case count
    case text
    /// Text without blanks.
    case word
    /// A duration, such as `1.5`, `500ms` or `2m`.
    case duration
    /// A number of bytes, such as `512k` or `64m`.
    case bytes
    case number
    /// One of these values, and further spellings as `SPELLING=VALUE`.
    case choice(String, spellings: String = "")
    /// Several of these values, with commas between.
    case choices(String)
    /// Data: JSON, `@FILE`, or `@-`, which may be written `@`.
    case data
  }

  /// The section of help and manual that shows the option.
  package enum Group: UInt8, CaseIterable, Sendable {
    case schema, reflection, server, request, data, batch, interceptors, output, listening, own
    case errors, configuration, general

    /// The heading.
    package var title: String {
      switch self {
      case .schema: "Schema"
      case .reflection: "Reflection"
      case .server: "Server"
      case .request: "Request"
      case .data: "Data"
      case .batch: "Batch"
      case .interceptors: "Interceptors"
      case .output: "Output"
      case .listening: "Listening"
      case .own: "Options"
      case .errors: "Errors"
      case .configuration: "Configuration"
      case .general: "General"
      }
    }
  }

  /// Whether a line with the option needs trust in a project file, and whether one in the user's configuration applies
  /// to the target of a project file that is not trusted.
  package enum Trust: String, Sendable {
    /// It needs no trust: it runs, reads and writes nothing, and weakens nothing.
    case harmless
    /// It needs no trust if its path is in the folder of the project file.
    case projectPath
    /// It needs no trust if it is literal and not a credential. Headers of the user's configuration are not sent to a
    /// target that is not trusted.
    case header
    /// It needs trust. It holds no credentials, so that of the user's configuration applies to every target.
    case effects
    /// It needs trust. An interceptor of the user's configuration that may hold credentials does not apply to a target
    /// that is not trusted.
    case interceptor
    /// It needs trust, and that of the user's configuration does not apply to a target that is not trusted.
    case credentials
  }

  /// Which part of the value is secret.
  package enum Secrecy: Sendable {
    /// None.
    case none
    /// All of it, if it is not elsewhere: `@FILE`, `env:NAME` or `cmd:COMMAND`.
    case whole
    /// It is a URL: the name and the password in it.
    case login
    /// It is `NAME: VALUE`: the value, if the name is that of a secret.
    case header
    /// It is an attribute, `KEY=VALUE`: the value, if the key is that of a secret.
    case attribute
    /// It is a variable, `NAME=VALUE`: the value, if the name is that of a secret and the value is not elsewhere.
    case variable
    /// It is an interceptor: settings, by its keys.
    case settings
  }

  /// Other programs, as commands and scripts of which calls can be written.
  package struct Programs: OptionSet, Sendable {
    /// A bit for each program.
    package let rawValue: UInt8

    /// A set of the programs whose bits are set.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static var curl: Programs { Programs(rawValue: 1) }
    package static var grpcurl: Programs { Programs(rawValue: 2) }
    package static var buf: Programs { Programs(rawValue: 4) }
    package static var k6: Programs { Programs(rawValue: 8) }
    static var all: Programs { Programs(rawValue: 15) }
  }

  /// The identifier.
  package let id: OptionID
  let nameList: String
  /// What the value is.
  package let kind: Kind
  /// What stands for the value in help.
  package let placeholder: String
  /// The section of help.
  package let group: Group
  /// The commands that have the option.
  package let commands: CommandSet
  /// One line of help.
  package let summary: String
  /// The paragraphs of help that follow the summary.
  package let discussion: String
  /// A command line that uses the option.
  package let example: String
  /// The value that holds when the option is not given, if it is a fixed one.
  package let standard: String
  /// Further names, of other tools, which are accepted and not completed.
  let aliasList: String
  /// The names that grpcurl has for the option, without dashes.
  let grpcurlList: String
  /// The command of a session that sets it; empty if `options` does.
  package let sessionVerb: String
  /// The programs that have the option with the same value: grpcurl under its first name, the others under `name`. A
  /// duration is a number of seconds there.
  package let same: Programs
  /// The programs in which what writes the command expresses the option, or in which it changes nothing. The others lack
  /// it, which the command states.
  package let expressed: Programs
  /// Whether all values hold, and not only the last.
  package let repeats: Bool
  /// Whether the configuration file may hold it.
  package let isConfigurable: Bool
  /// What it may do in a project file that is not trusted.
  package let trust: Trust
  /// Which part of the value is secret.
  package let secrecy: Secrecy
  /// Whether a target that is not a URL uses TLS if it is given.
  package let impliesTLS: Bool
  /// Whether `-h` shows it.
  package let isCommon: Bool
  /// What the value completes to, if its kind does not determine it: `file`, `dir`, `ask:WHAT`, or `at:WHAT` for one that may be `@FILE`.
  private let completionKind: String

  init(
    _ id: OptionID, _ names: String, _ kind: Kind = .flag, _ placeholder: String = "", _ group: Group,
    _ commands: CommandSet, _ summary: String, _ discussion: String = "", example: String,
    standard: String = "", aliases: String = "", grpcurl: String = "", sessionVerb: String = "",
    same: Programs = [],
    expressed: Programs = [], repeats: Bool = false, isConfigurable: Bool = true,
    trust: Trust = .credentials, secrecy: Secrecy = .none,
    impliesTLS: Bool = false, isCommon: Bool = false, completion: String = ""
  ) {
    self.id = id
    nameList = names
    self.kind = kind
    self.placeholder = placeholder
    self.group = group
    self.commands = commands
    self.summary = summary
    self.discussion = discussion
    self.example = example
    self.standard = standard
    aliasList = aliases
    grpcurlList = grpcurl
    self.sessionVerb = sessionVerb
    self.same = same
    self.expressed = expressed
    self.repeats = repeats
    self.isConfigurable = isConfigurable
    self.trust = trust
    self.secrecy = secrecy
    self.impliesTLS = impliesTLS
    self.isCommon = isCommon
    completionKind = completion
  }

  /// The names with their dashes, short ones first. Those that begin with `--no-` turn a flag off.
  package var names: [String] { nameList.split(separator: " ").map(String.init) }
  /// Whether this of its names turns a flag off.
  func isTurnedOff(by name: String) -> Bool { name.begins(with: "--no-") && name != self.name }
  /// Further names that are accepted.
  package var aliases: [String] { aliasList.split(separator: " ").map(String.init) }
  /// The name for messages: the first long one.
  package var name: String { names.first { $0.hasPrefix("--") } ?? nameList }
  /// The name in a command of grpcurl.
  package var grpcurlName: String { "-\(grpcurlList.prefix { $0 != " " })" }
  /// Whether its value is a header.
  package var isHeader: Bool { secrecy == .header }
  /// Whether it makes the header `authorization`.
  package var isCredential: Bool { group == .request && secrecy == .whole }
  /// Whether it takes a value.
  package var hasValue: Bool {
    switch kind {
    case .flag, .level, .count: false
    default: true
    }
  }
  /// Whether an argument states the value that holds without it.
  package func isStandard(_ argument: Argument) -> Bool { !standard.isEmpty && argument.string == standard }
  /// Whether it may be given more than once.
  package var mayRepeat: Bool {
    if case .count = kind { true } else { repeats }
  }
  /// What follows the names in help.
  var valueSynopsis: String {
    if case .level = kind { return placeholder }
    return hasValue ? " \(placeholder)" : ""
  }
  /// The values that it takes, if they are known.
  package var values: [String] {
    switch kind {
    case .choice(let list, _), .choices(let list), .level(let list):
      list.split(separator: " ").map(String.init)
    default: []
    }
  }
  /// What the value completes to.
  package var completion: String {
    switch kind {
    case .choice: "list"
    case .choices: "comma"
    case .flag, .level, .count: "none"
    case _ where !completionKind.isEmpty: completionKind
    default:
      switch secrecy {
      case .whole: "at:value"
      default: "none"
      }
    }
  }

  /// How the value names a file.
  package enum PathForm: Equatable, Sendable {
    /// It names none.
    case none
    /// The value is a path.
    case whole
    /// A value that begins with `@` is a path after it.
    case afterAt
    /// The value is an interceptor, whose settings may be paths.
    case interceptor
    /// The value is a command, whose program may be a path.
    case command
  }

  /// How the value names a file.
  package var pathForm: PathForm {
    switch completionKind {
    case "file", "dir": .whole
    case _ where completionKind.hasPrefix("at:"): .afterAt
    case "ask:use", "ask:plugin": .interceptor
    case "ask:script": .command
    default: secrecy == .whole ? .afterAt : .none
    }
  }

  /// Whether a list with spaces between its elements has `word`. No memory is allocated.
  static func has(_ list: String, _ word: Substring) -> Bool {
    let list = list.utf8.span
    let word = word.utf8.span
    guard list.count >= word.count, !word.isEmpty else { return false }
    var start = 0
    while start + word.count <= list.count {
      var length = 0
      while length < word.count, list[start + length] == word[length] { length += 1 }
      let end = start + length
      if length == word.count, end == list.count || list[end] == 0x20 { return true }
      start = end
      while start < list.count, list[start] != 0x20 { start += 1 }
      start += 1
    }
    return false
  }

  /// The value in the same argument as the letter, which is all that follows it. grpcurl's `-d={}` is `-d {}`: no
  /// message begins with `=`.
  func glued(_ rest: Substring) -> Substring {
    if case .data = kind, rest.utf8.first == UInt8(ascii: "=") {
      Substring(rest.unicodeScalars.dropFirst())
    } else {
      rest
    }
  }

  func isNamed(_ name: Substring) -> Bool {
    Self.has(nameList, name) || Self.has(aliasList, name)
  }
}
