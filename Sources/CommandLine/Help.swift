/// The text of `-h` and `--help`.
package struct Help {
  /// The width of a line, where text is wrapped. Examples are not.
  private static let columns = 80
  private var text = ""

  /// Help of the program: of a call the common options, or with `isWhole` what the commands are.
  package static func program(isWhole: Bool) -> String {
    var help = Help()
    if isWhole {
      help.text += CommandTable.summary + "\n\n"
      help.wrap(CommandTable.discussion)
      help.text += "\n"
    }
    help.usage(CommandTable.usage)
    if isWhole {
      help.text += "\nCommands:\n"
      for name in CommandTable.names { help.item(name, summary(of: name)) }
    } else {
      help.commonOptions(.call)
      let names = CommandTable.names
      help.text +=
        "\nCommands: \(names.prefix(9).joined(separator: ", ")),\n"
        + "          \(names.dropFirst(9).joined(separator: ", "))\n"
    }
    help.text += "\nMore: rpcurl call --help (all options), rpcurl COMMAND -h, man rpcurl\n"
    return help.text
  }

  private static func summary(of name: String) -> String {
    if let command = CommandTable.find(name) { return CommandTable[command].summary }
    return name == "plugins" ? CommandTable.plugins.summary : "Show the help of a command."
  }

  /// Help of a command.
  package static func command(_ id: CommandID, isWhole: Bool) -> String {
    let command = CommandTable[id]
    var help = Help()
    if isWhole {
      help.text += command.summary + "\n\n"
      help.wrap(command.discussion)
      help.text += "\n"
    }
    help.usage(command.usage)
    if isWhole {
      help.examples(command.examples)
      help.places(command)
      help.allOptions(id)
    } else {
      help.commonOptions(id)
      help.text += "\nMore: rpcurl \(command.name) --help, man rpcurl-\(command.name.prefix { $0 != " " })\n"
    }
    return help.text
  }

  /// Help of `rpcurl plugins`.
  package static func plugins(isWhole: Bool) -> String {
    var help = Help()
    if isWhole { help.text += CommandTable.plugins.summary + "\n\n" }
    help.usage(CommandTable.plugins.usage)
    help.text += "\nCommands:\n"
    for id in [CommandID.pluginsList, .pluginsCheck, .pluginsNew] {
      let command = CommandTable[id]
      help.item(String(command.name.dropFirst("plugins ".count)), command.summary)
    }
    help.text += "\nMore: rpcurl plugins COMMAND --help, man rpcurl-plugins\n"
    return help.text
  }

  // MARK: Parts

  private mutating func usage(_ usage: String) {
    for (index, line) in usage.split(separator: "\n").enumerated() {
      text += (index == 0 ? "Usage: " : "       ") + line + "\n"
    }
  }

  private mutating func examples(_ examples: String) {
    guard !examples.isEmpty else { return }
    text += "\nExamples:\n"
    for line in examples.split(separator: "\n") { text += "  \(line)\n" }
  }

  private mutating func places(_ command: Command) {
    guard !command.places.isEmpty else { return }
    text += "\nArguments:\n"
    for place in command.places { item(place.name, place.summary) }
  }

  /// The options that people use, one on each line; all of a command that has few.
  private mutating func commonOptions(_ id: CommandID) {
    let all = OptionTable.options(of: id)
    let isShort = all.count <= 24
    text += isShort ? "\nOptions:\n" : "\nCommon options:\n"
    for option in all where isShort || option.isCommon || option.group == .own {
      let summary = Self.brief(option.summary)
      item(Self.synopsis(option, isBrief: true), summary, isOneLine: true)
    }
  }

  /// The first part of a summary.
  private static func brief(_ summary: String) -> String {
    let text = summary.utf8
    let end = text.indices.first { index in
      let rest = text[index...]
      return rest.starts(with: "; may repeat".utf8) || rest.starts(with: " (default".utf8)
    }
    return end.map { summary[..<$0] + "." } ?? summary
  }

  private mutating func allOptions(_ id: CommandID) {
    let options = OptionTable.options(of: id)
    for group in Option.Group.allCases {
      let members = options.filter { $0.group == group }
      guard !members.isEmpty else { continue }
      text += "\n\(group.title):\n"
      for option in members {
        text += "  \(Self.synopsis(option))\n"
        let summary = option.summary
        let standard = option.standard
        wrap(standard.isEmpty ? summary : "\(summary.dropLast()) (default: \(standard)).", indent: 6)
        if !option.discussion.isEmpty { wrap(option.discussion, indent: 6) }
        if !option.aliases.isEmpty { wrap("Also \(option.aliases.joined(separator: ", ")).", indent: 6) }
        text += "      Example: \(option.example)\n"
      }
    }
  }

  /// `-d, --data JSON|@FILE`
  static func synopsis(_ option: Option, isBrief: Bool = false) -> String {
    var names = option.names
    if isBrief { names = names.filter { !$0.hasPrefix("--") || $0 == option.name } }
    let indent = isBrief && names.count == 1 ? "    " : ""
    return indent + names.joined(separator: ", ") + (option.hasValue ? " \(option.placeholder)" : "")
  }

  /// A name and what it is, side by side, or one below the other if the name is long.
  private mutating func item(_ name: String, _ summary: String, isOneLine: Bool = false) {
    let width = 32
    text += "  \(name)"
    let length = 2 + name.unicodeScalars.count
    if length + 2 > width, !isOneLine {
      text += "\n" + String(repeating: " ", count: width)
    } else {
      text += String(repeating: " ", count: max(2, width - length))
    }
    var column = max(width, isOneLine ? length + 2 : width)
    for (index, word) in summary.unicodeScalars.split(separator: " ").enumerated() {
      if index > 0 {
        if column + 1 + word.count > Self.columns, !isOneLine {
          text += "\n" + String(repeating: " ", count: width)
          column = width
        } else {
          text += " "
          column += 1
        }
      }
      text += Substring(word)
      column += word.count
    }
    text += "\n"
  }

  /// Paragraphs, wrapped.
  private mutating func wrap(_ paragraphs: String, indent: Int = 0) {
    let margin = String(repeating: " ", count: indent)
    for paragraph in paragraphs.split(separator: "\n", omittingEmptySubsequences: false) {
      var column = 0
      for word in paragraph.unicodeScalars.split(separator: " ") {
        if column > 0, column + 1 + word.count > Self.columns {
          text += "\n"
          column = 0
        }
        text += column == 0 ? margin : " "
        column += (column == 0 ? indent : 1) + word.count
        text += Substring(word)
      }
      text += "\n"
    }
  }
}
