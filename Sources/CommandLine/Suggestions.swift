/// What was meant by a name that does not exist.
enum Suggestions {
  // MARK: Options

  /// The error for an option with two dashes that a command does not have.
  static func unknown(_ name: String, _ command: CommandID, _ origin: Origin?) -> ParseError {
    if let error = ofOthers(name[...], name, command, origin) { return error }
    let hint = ForeignOptions.hint(name) ?? nearest(to: name, command).map { "did you mean \($0)?" }
    return ParseError(.unknownOption(name, hint: hint), origin)
  }

  /// The error for a letter, of an argument with one dash, that is not an option of a command.
  static func unknown(_ word: String, _ letter: Unicode.Scalar, _ command: CommandID, _ origin: Origin?)
    -> ParseError
  {
    let name = word.parted(at: "=").before
    let isFirst = word.unicodeScalars.dropFirst().first == letter
    guard name.utf8.count > 2 else {
      return ofOthers(name, String(name), command, origin)
        ?? ParseError(.unknownOption(String(name), hint: ForeignOptions.hint(String(name))), origin)
    }
    // A long option with one dash too few, or a flag that does not exist.
    let long = "-\(name)"
    if OptionTable.find(long[...], command) != nil {
      return ParseError(.unknownOption(String(name), hint: "did you mean \(long)?"), origin)
    }
    if let hint = ForeignOptions.hint(long) ?? nearest(to: long, command).map({ "did you mean \($0)?" }) {
      return ParseError(.unknownOption(String(name), hint: hint), origin)
    }
    let hint = ForeignOptions.hint("-\(letter)")
    let what = isFirst ? String(name) : "-\(letter) in \(name)"
    return ParseError(.unknownOption(what, hint: hint), origin)
  }

  /// The error for an option of grpcurl's that no option stands for; nil if grpcurl has no such option either.
  static func grpcurl(_ name: Substring, _ command: CommandID, _ origin: Origin) -> ParseError? {
    if let option = OptionTable.all.first(where: { Option.has($0.grpcurlList, name) }) {
      return notOf(option, "-\(name)", command, origin)
    }
    guard let hint = ForeignOptions.grpcurl(String(name)) else { return nil }
    return ParseError(.unknownOption("-\(name)", hint: hint), origin)
  }

  private static func ofOthers(_ name: Substring, _ text: String, _ command: CommandID, _ origin: Origin?)
    -> ParseError?
  {
    OptionTable.all.first { $0.isNamed(name) }.map { notOf($0, text, command, origin) }
  }

  private static func notOf(_ option: Option, _ text: String, _ command: CommandID, _ origin: Origin?)
    -> ParseError
  {
    let others = CommandID.allCases.filter { option.commands.contains(CommandSet($0)) }
    let names = others.prefix(2).map { CommandTable[$0].name }.joined(separator: " or ")
    return ParseError(
      .notOfCommand(option: text, command: CommandTable[command].name, others: names), origin)
  }

  /// The name of an option of a command that is near to `name`: one that begins with it, or differs in few letters.
  static func nearest(to name: String, _ command: CommandID) -> String? {
    let names = OptionTable.options(of: command).flatMap(\.names).filter { $0.hasPrefix("--") }
    if name.utf8.count > 4 {
      let longer = names.filter { $0.hasPrefix(name) }
      if longer.count == 1 { return longer[0] }
    }
    return nearest(to: name, among: names, ignoring: 2)
  }

  // MARK: Commands

  /// The hint for a command that does not exist.
  static func command(_ name: String, among names: [String]) -> String {
    nearest(to: name, among: names, ignoring: 0).map { "did you mean \($0)?" }
      ?? "there are \(names.joined(separator: ", "))"
  }

  // MARK: Distance

  /// The one of `names` that differs least from `name`, if it differs little for its length.
  ///
  /// - Parameter ignoring: How many characters at the start do not count for the length.
  static func nearest(to name: String, among names: [String], ignoring prefix: Int) -> String? {
    // What is longer than any name is near to none.
    let length = name.utf8.count - prefix
    let limit = length < 3 ? 0 : length < 8 ? 1 : length < 12 ? 2 : 3
    var best: (name: String, distance: Int)?
    for candidate in names where abs(candidate.utf8.count - name.utf8.count) <= limit {
      let distance = distance(Array(name.utf8), Array(candidate.utf8))
      if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// How many letters must be inserted, removed, replaced or exchanged with their neighbour.
  static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...second.count)
    for row in first.indices {
      var current = [row + 1]
      for column in second.indices {
        let isSame = first[row] == second[column]
        var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
          cost = min(cost, before[column - 1] + 1)
        }
        current.append(cost)
      }
      before = last
      last = current
    }
    return last[second.count]
  }
}

/// The nearest command to a word that was given as the target.
extension CommandTable {
  /// The command that is near to `name`; nil if none is, or `name` is clearly something else.
  public static func nearest(to name: String) -> String? {
    name.contains { ".:/".contains($0) } ? nil : Suggestions.nearest(to: name, among: names, ignoring: 0)
  }
}
