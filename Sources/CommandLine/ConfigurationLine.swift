/// One option of a configuration file: `--option`, `--option VALUE`, `--option=VALUE`, `-o VALUE` or `target VALUE`.
package struct ConfigurationLine: Equatable, Sendable {
  /// The number of the line, from 1.
  package let number: Int
  /// The name with its dashes, or `target`.
  package let name: String
  /// The value; nil if the line has only a name.
  package let value: String?

  /// A line with a name and perhaps a value.
  package init(number: Int, name: String, value: String?) {
    self.number = number
    self.name = name
    self.value = value
  }
}

extension Invocation {
  /// Adds the options of a configuration file. What is typed takes precedence, and the profile over the common lines.
  ///
  /// Lines that the command has no use for are checked, and omitted.
  ///
  /// - Parameters:
  ///   - common: The lines for every call.
  ///   - own: The lines of the profile.
  package mutating func configure(
    _ common: [ConfigurationLine], profile: String?, _ own: [ConfigurationLine], path: String
  ) {
    var target: Positional?
    func read(_ lines: [ConfigurationLine], _ profile: String?) -> [Argument] {
      var arguments: [Argument] = []
      for line in lines {
        let origin = Origin.file(path: path, line: line.number, profile: profile)
        if line.name == "target" {
          target = Positional(line.value ?? "", origin)
          continue
        }
        do throws(ParseError) {
          if let argument = try argument(line, origin) { arguments.append(argument) }
        } catch {
          fail(error)
        }
      }
      return arguments
    }
    let commonLines = read(common, nil)
    let ownLines = read(own, profile)
    let lines = commonLines.filter { !Self.isReplaced($0, by: ownLines) } + ownLines
    insert(lines.filter { !Self.isReplaced($0, by: arguments) }, target: target)
  }

  /// The option of a line; nil if the command does not have it, but another one does.
  private func argument(_ line: ConfigurationLine, _ origin: Origin) throws(ParseError) -> Argument? {
    let own = OptionTable.find(line.name[...], command)
    // What a line means does not depend on the command: --format is that of calls.
    guard
      let option = OptionTable.find(line.name[...], .call) ?? own
        ?? OptionTable.all.first(where: { $0.isNamed(line.name[...]) })
    else { throw Suggestions.unknown(line.name, .call, origin) }
    guard option.isConfigurable else { throw ParseError(.onlyTyped(line.name), origin) }
    let argument: Argument
    if option.hasValue {
      guard let text = line.value else { throw ParseError(.missingValue(line.name), origin) }
      argument = Argument(
        option.id, name: line.name, text: text,
        value: try Value(text, of: option, name: line.name, origin), origin)
    } else {
      let isOff = line.name.begins(with: "--no-") && option.name != line.name
      guard line.value == nil || line.value == "true" || line.value == "false" else {
        throw ParseError(.takesNoValue(line.name), origin)
      }
      let isOn = line.value != "false"
      argument = Argument(
        option.id, name: line.name, text: nil, value: .flag(isOn != isOff), origin)
    }
    return option.commands.contains(CommandSet(command)) ? argument : nil
  }

  private static let groups: [Set<OptionID>] = [[.user, .bearer], [.data]]
  private static let headers: Set<OptionID> = [.header, .rpcHeader, .reflectHeader]

  /// Whether `others` have something that stands for the argument: credentials, data, or a header of the same name.
  private static func isReplaced(_ argument: Argument, by others: [Argument]) -> Bool {
    if let group = groups.first(where: { $0.contains(argument.id) }) {
      return others.contains { group.contains($0.id) }
    }
    guard headers.contains(argument.id), let name = headerName(argument.text) else { return false }
    return others.contains { headers.contains($0.id) && headerName($0.text) == name }
  }

  private static func headerName(_ text: String?) -> String? {
    guard let text, !text.begins(with: "@"), case let (name, value) = text.parted(at: ":"), value != nil
    else { return nil }
    return name.lowercased()
  }
}
