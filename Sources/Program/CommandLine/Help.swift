/// The text of `-h` and `--help`.
package struct Help {
  /// The width of a line, where text is wrapped. Examples are not.
  private static let columns = 80
  /// The column of what an option or a command is.
  private static let width = 31
  /// The text, in UTF-8.
  private var bytes: [UInt8] = []

  private var text: String { String(decoding: bytes, as: UTF8.self) }

  private mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func addSpaces(_ count: Int) {
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: count))
  }

  /// Help of the program: of a call the common options, or with `isWhole` what the commands are.
  package static func program(isWhole: Bool) -> String {
    var help = Help()
    guard isWhole else {
      help.usage(CommandTable.briefUsage)
      help.add("\n")
      for id in frequent { help.brief(OptionTable[id]) }
      let names = CommandTable.names.dropLast()
      help.add(
        "\nCommands: \(names.prefix(9).joined(separator: ", ")),\n"
          + "          \(names.dropFirst(9).joined(separator: ", "))\n"
          + "More: rpcurl --help, rpcurl COMMAND -h, rpcurl call --help (all options)\n")
      return help.text
    }
    help.add(CommandTable.summary + "\n")
    help.examples(CommandTable.examples)
    help.add("\n")
    help.usage(CommandTable.usage)
    help.add("\n")
    help.wrap(CommandTable.discussion)
    help.add("\nCommands:\n")
    for name in CommandTable.names { help.item(name, summary(of: name)) }
    help.add(
      "\nMore: rpcurl call --help (all options), rpcurl COMMAND -h, man rpcurl,\n"
        + "      rpcurl help NAME (an option or an interceptor, such as --filter or retry),\n"
        + "      rpcurl help language (paths, values and conditions)\n\n")
    help.wrap(CommandTable.exitCodes)
    return help.text
  }

  /// The options that a newcomer needs, so many that the help fits a terminal of 24 lines.
  private static let frequent: [OptionID] = [
    .data, .set, .proto, .descriptorSet, .plaintext, .header, .bearer, .cacert, .maxTime, .use, .filter,
    .format,
    .each, .limit, .verbose, .explain,
  ]

  /// What a name is that can be the first argument.
  package static func summary(of name: String) -> String {
    if let command = CommandTable.find(name) { return CommandTable[command].summary }
    return name == "plugins" ? CommandTable.plugins.summary : "Show the help of a command."
  }

  /// Help of a command.
  package static func command(_ id: CommandID, isWhole: Bool) -> String {
    let command = CommandTable[id]
    var help = Help()
    if isWhole {
      help.add(command.summary + "\n\n")
      help.wrap(command.discussion)
      help.add("\n")
    }
    help.usage(command.usage)
    if isWhole {
      help.examples(command.examples)
      help.places(command)
      help.allOptions(id)
    } else {
      help.commonOptions(id)
      help.add("\nMore: rpcurl \(command.name) --help, man rpcurl-\(command.name.prefix { $0 != " " })\n")
    }
    return help.text
  }

  /// Help of `rpcurl plugins`.
  package static func plugins(isWhole: Bool) -> String {
    var help = Help()
    if isWhole { help.add(CommandTable.plugins.summary + "\n\n") }
    help.usage(CommandTable.plugins.usage)
    help.add("\nCommands:\n")
    for id in [CommandID.pluginsList, .pluginsCheck, .pluginsNew] {
      let command = CommandTable[id]
      help.item(String(command.name.dropFirst("plugins ".count)), command.summary)
    }
    help.add("\nMore: rpcurl plugins COMMAND --help, man rpcurl-plugins\n")
    return help.text
  }

  // MARK: Parts

  private mutating func usage(_ usage: String) {
    for (index, line) in usage.split(separator: "\n").enumerated() {
      add((index == 0 ? "Usage: " : "       ") + line + "\n")
    }
  }

  private mutating func examples(_ examples: String) {
    guard !examples.isEmpty else { return }
    add("\nExamples:\n")
    for line in examples.split(separator: "\n") { add("  \(line)\n") }
  }

  private mutating func places(_ command: Command) {
    guard !command.places.isEmpty else { return }
    add("\nArguments:\n")
    for place in command.places { item(place.name, place.summary) }
  }

  /// The options that people use, one on each line; all of a command that has few.
  private mutating func commonOptions(_ id: CommandID) {
    let all = OptionTable.options(of: id)
    let isShort = all.count <= 24
    add(isShort ? "\nOptions:\n" : "\nCommon options:\n")
    for option in all where isShort || option.isCommon || option.group == .own {
      brief(option)
    }
  }

  /// An option on one line.
  private mutating func brief(_ option: Option) {
    item(Self.synopsis(option, isBrief: true), Self.firstPart(option.summary))
  }

  /// A summary without what it says of repetition and of the default.
  package static func essence(_ summary: String) -> String { before(["; may repeat", " (default"], summary) }

  /// The part of a summary that fits a line.
  private static func firstPart(_ summary: String) -> String {
    var part = essence(summary)
    for ends in [["; ", ": "], [", "]] where part.count > columns - width { part = before(ends, part) }
    return part
  }

  /// The text before the first of some ends, as a sentence; all of it without any.
  private static func before(_ ends: [String], _ sentence: String) -> String {
    let text = sentence.utf8
    let end = text.indices.first { index in ends.contains { text[index...].starts(with: $0.utf8) } }
    return end.map { sentence[..<$0] + "." } ?? sentence
  }

  private mutating func allOptions(_ id: CommandID) {
    let options = OptionTable.options(of: id)
    for group in Option.Group.allCases {
      let members = options.filter { $0.group == group }
      guard !members.isEmpty else { continue }
      add("\n\(group.title):\n")
      for option in members {
        add("  \(Self.synopsis(option))\n")
        let summary = option.summary
        let standard = option.standard
        wrap(standard.isEmpty ? summary : "\(summary.dropLast()) (default: \(standard)).", indent: 6)
        if !option.discussion.isEmpty { wrap(option.discussion, indent: 6) }
        if !option.aliases.isEmpty { wrap("Also \(option.aliases.joined(separator: ", ")).", indent: 6) }
        add("      Example: \(option.example)\n")
      }
    }
  }

  /// `-d, --data JSON|@FILE`
  static func synopsis(_ option: Option, isBrief: Bool = false) -> String {
    var names = option.names
    if isBrief {
      names =
        option.aliases.filter { !$0.hasPrefix("--") }
        + names.filter { !$0.hasPrefix("--") || $0 == option.name }
    }
    let indent = isBrief && names.count == 1 ? "    " : ""
    var value = option.valueSynopsis
    if isBrief, let end = value.firstIndex(where: { "|[".contains($0) }), end != value.startIndex {
      value = String(value[..<end])
    }
    return indent + names.joined(separator: ", ") + value
  }

  /// A name and what it is, side by side, or one below the other if the name is long.
  private mutating func item(_ name: String, _ summary: String) {
    add("  \(name)")
    let length = 2 + name.unicodeScalars.count
    if length + 2 > Self.width {
      add("\n")
      addSpaces(Self.width)
    } else {
      addSpaces(Self.width - length)
    }
    add(words: Array(summary.utf8)[...], indent: Self.width, from: Self.width, limit: Self.columns)
    add("\n")
  }

  /// Paragraphs, wrapped.
  private mutating func wrap(_ paragraphs: String, indent: Int = 0) {
    for paragraph in Array(paragraphs.utf8).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    {
      if paragraph.contains(where: { $0 != UInt8(ascii: " ") }) { addSpaces(indent) }
      add(words: paragraph, indent: indent, from: indent, limit: Self.columns)
      add("\n")
    }
  }

  /// Words in UTF-8, wrapped.
  ///
  /// - Parameters:
  ///   - indent: The number of spaces before each further line.
  ///   - column: The column of the first word.
  ///   - limit: The number of columns of a line.
  private mutating func add(words: ArraySlice<UInt8>, indent: Int, from column: Int, limit: Int) {
    var column = column
    var isFirst = true
    for word in words.split(separator: UInt8(ascii: " ")) {
      // A character of several bytes is one column.
      let width = word.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
      if !isFirst {
        if column + 1 + width > limit {
          bytes.append(UInt8(ascii: "\n"))
          addSpaces(indent)
          column = indent
        } else {
          bytes.append(UInt8(ascii: " "))
          column += 1
        }
      }
      isFirst = false
      bytes.append(contentsOf: word)
      column += width
    }
  }
}
