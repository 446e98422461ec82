import RPCurlBase

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

/// The lines of one configuration file that apply: those for all calls, or those of a profile.
package struct ConfigurationLayer: Sendable {
  /// The path of the file, for messages.
  package let path: String
  /// The profile; nil for the lines for all calls.
  package let profile: String?
  /// Whose file it is.
  package let owner: Owner
  /// The lines, in order.
  package let lines: [ConfigurationLine]

  /// Whose file it is: the schema sources of a project file precede those of the user's configuration.
  package enum Owner: Equatable, Sendable {
    case user
    case project(isTrusted: Bool)
  }

  /// Lines of a file.
  package init(path: String, profile: String?, owner: Owner = .user, lines: [ConfigurationLine]) {
    self.path = path
    self.profile = profile
    self.owner = owner
    self.lines = lines
  }
}

extension ConfigurationLine {
  /// The option that the line has for a command; nil if there is no such option.
  package func option(_ command: CommandID) -> Option? {
    // What a line means does not depend on the command: --format is that of calls.
    OptionTable.find(name[...], .call) ?? OptionTable.find(name[...], command)
      ?? OptionTable.all.first { $0.isNamed(name[...]) }
  }

  /// The error for a name that no option has. It does not contain what follows the letters of a name, or the letter of an
  /// option with a value: that may be a credential.
  fileprivate func unknown(_ origin: Origin) -> ParseError {
    func find(_ name: String) -> Option? { OptionTable.all.first { $0.isNamed(name[...]) } }
    let word = String(name.unicodeScalars.prefix(while: Self.isOfName))
    var given = word
    // -plaintext is --plaintext with a dash too few, and -uada is -u with a value.
    if find(word) == nil, find("-\(word)") == nil {
      let letters = word.unicodeScalars.dropFirst().map { "-\($0)" }
      given = letters.first { find($0)?.hasValue != false } ?? word
    }
    if find(given) == nil, Suggestions.nearest(to: word, .call) == nil {
      // --bearerTOKEN is --bearer with a value, and no other option written wrongly.
      let names = OptionTable.all.filter(\.isCredential).flatMap(\.names).filter { $0.hasPrefix("--") }
      given = names.first(where: word.hasPrefix) ?? given
    }
    guard let option = find(given) else { return Suggestions.unknown(word, .call, origin) }
    guard option.hasValue else { return ParseError(.invalidFlag(given), origin) }
    return ParseError(
      .invalidValue(
        option: given, value: "…", why: "missing blank after the name",
        hint: "write \(given) \(option.placeholder)"),
      origin)
  }

  private static func isOfName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "-", ".": true
    default: false
    }
  }

  /// Throws if another option follows the value. The error does not contain it: its value may be a credential.
  fileprivate func checkThatItIsOne(_ command: CommandID, _ origin: Origin) throws(ParseError) {
    guard let words = value?.split(separator: Character(" ")), words.count > 1 else { return }
    if name != "target" {
      guard let option = option(command) else { return }
      switch option.kind {
      case .data: return
      case .text where option.pathForm != .whole: return
      default: break
      }
    }
    let others = words.dropFirst().filter { $0.utf8.first == UInt8(ascii: "-") }.map {
      $0.parted(at: "=").before
    }
    guard others.contains(where: { name in OptionTable.all.contains { $0.isNamed(name) } }) else { return }
    throw ParseError(
      .invalidValue(
        option: name, value: "\(words[0]) …", why: "another option follows",
        hint: "write each option on a line of its own"),
      origin)
  }
}

extension Invocation {
  /// Adds the options of configuration files. What is typed takes precedence, then profiles, then the environment.
  ///
  /// Lines that the command has no use for are checked, and omitted.
  ///
  /// - Parameters:
  ///   - layers: The lines of the files, in the order of precedence, the lowest first.
  ///   - environmentTarget: The target that the environment names; nil if it names none.
  package mutating func configure(_ layers: [ConfigurationLayer], environmentTarget: Positional? = nil) {
    var read: [(layer: ConfigurationLayer, arguments: [Argument])] = []
    var targets: [(isOwn: Bool, target: Positional)] = []
    for layer in layers {
      var arguments: [Argument] = []
      for line in layer.lines {
        let origin = Origin.file(
          path: layer.path, line: line.number, profile: layer.profile,
          isTrusted: layer.owner != .project(isTrusted: false))
        do throws(ParseError) {
          try line.checkThatItIsOne(command, origin)
          if line.name == "target" {
            targets.append((layer.profile != nil, Positional(line.value ?? "", origin)))
            continue
          }
          if let argument = try argument(line, origin) { arguments.append(argument) }
        } catch {
          fail(error)
        }
      }
      read = read.map { other in
        (other.layer, other.arguments.filter { !Self.isReplaced($0, by: arguments) })
      }
      read.append((layer, arguments))
    }
    let typed = arguments
    let lines = (read.filter { $0.layer.owner != .user } + read.filter { $0.layer.owner == .user })
      .flatMap(\.arguments)
    // The first source of a schema that has a name is used.
    let schema = lines.filter { OptionTable[$0.id].group == .schema }
    let others = read.flatMap(\.arguments).filter { OptionTable[$0.id].group != .schema }
    let applied = omitInterceptors(others.filter { !Self.isReplaced($0, by: typed) })
    insert(
      before: applied, after: schema,
      // A profile is selected on the command line.
      target: targets.last(where: \.isOwn)?.target ?? environmentTarget ?? targets.last?.target)
  }

  /// The arguments without the interceptors that `--no-use` names.
  private mutating func omitInterceptors(_ lines: [Argument]) -> [Argument] {
    let chain = lines.filter { $0.interceptorName != nil }
    var names: Set<String> = []
    for option in all(.noUse) {
      let text = option.string ?? ""
      let name = Argument.interceptorName(text)
      guard !chain.contains(where: { $0.interceptorName == name }) else {
        names.insert(name)
        continue
      }
      let known = chain.compactMap(\.interceptorName)
      let hint =
        known.isEmpty
        ? "no configuration file that was read has interceptors"
        : EditDistance.nearest(to: name, among: known, limit: 1).first.map { "did you mean \($0)?" }
          ?? "the configuration has \(known.joined(separator: ", "))"
      fail(
        ParseError(
          .invalidValue(
            option: option.name, value: text, why: "not an interceptor of the configuration", hint: hint),
          option.origin))
    }
    let isOmitted = { (argument: Argument) in argument.interceptorName.map { names.contains($0) } ?? false }
    omitted = lines.filter(isOmitted)
    return lines.filter { !isOmitted($0) }
  }

  /// Removes the arguments of a configuration file that may hold credentials, except the interceptors that are known
  /// to hold none. Returns them.
  ///
  /// - Parameters:
  ///   - path: The file, as in the origin of its arguments.
  ///   - isHarmless: Whether an interceptor holds no credentials.
  package mutating func withholdCredentials(
    of path: String, isHarmless: (_ interceptor: String) -> Bool
  ) -> [Argument] {
    func isWithheld(_ argument: Argument) -> Bool {
      guard argument.origin.file == path else { return false }
      switch OptionTable[argument.id].trust {
      case .credentials, .header: return true
      case .interceptor: return argument.id != .use || !isHarmless(argument.interceptorName ?? "")
      case .harmless, .projectPath, .effects: return false
      }
    }
    let withheld = arguments.filter(isWithheld)
    arguments.removeAll(where: isWithheld)
    return withheld
  }

  /// The option of a line; nil if the command does not have it, but another one does.
  private func argument(_ line: ConfigurationLine, _ origin: Origin) throws(ParseError) -> Argument? {
    guard let option = line.option(command) else { throw line.unknown(origin) }
    guard option.isConfigurable else { throw ParseError(.onlyTyped(line.name), origin) }
    let argument: Argument
    if option.hasValue {
      guard let text = line.value else { throw ParseError(.missingValue(line.name), origin) }
      argument = Argument(
        option.id, name: line.name, text: text,
        value: try Value(text, of: option, name: line.name, origin), origin)
    } else if case .level = option.kind {
      let value = try Value(line.value ?? "true", of: option, name: line.name, origin)
      argument = Argument(option.id, name: line.name, text: nil, value: value, origin)
    } else {
      let isOff = option.isTurnedOff(by: line.name)
      guard line.value == nil || line.value == "true" || line.value == "false" else {
        throw ParseError(.invalidFlag(line.name), origin)
      }
      let isOn = line.value != "false"
      argument = Argument(
        option.id, name: line.name, text: nil, value: .flag(isOn != isOff), origin)
    }
    return option.commands.contains(CommandSet(command)) ? argument : nil
  }

  /// Whether `others` have something that stands for the argument: credentials, data, or a header of the same name.
  private static func isReplaced(_ argument: Argument, by others: [Argument]) -> Bool {
    if argument.id == .data { return others.contains { $0.id == .data } }
    let name = OptionTable[argument.id].isHeader ? headerName(argument.text) : nil
    if let sole = soleHeader(argument), others.contains(where: { soleHeader($0) == sole }) { return true }
    guard let name else { return false }
    return others.contains { OptionTable[$0.id].isHeader && headerName($0.text) == name }
  }

  /// The header that an option or `-H` sets, of those that contradict each other; nil for another argument.
  private static func soleHeader(_ argument: Argument) -> String? {
    if OptionTable[argument.id].isCredential { return "authorization" }
    if argument.id == .authority { return "host" }
    guard argument.id == .header, let name = headerName(argument.text) else { return nil }
    return name == "authorization" || name == "host" ? name : nil
  }

  private static func headerName(_ text: String?) -> String? {
    guard let text, !text.begins(with: "@"), case let (name, value) = text.parted(at: ":"), value != nil
    else { return nil }
    return name.lowercased()
  }
}

extension Argument {
  /// The name of the interceptor or plugin that the option adds to the chain; nil for another option.
  package var interceptorName: String? {
    guard let string else { return nil }
    return switch id {
    case .use, .plugin: Self.interceptorName(string)
    case .script: Self.scriptName(string)
    default: nil
    }
  }

  /// The name of the file in the command of a script.
  package static func scriptName(_ command: String) -> String {
    let path = command.split(separator: " ").first ?? ""
    return String(path.filter { $0 != "'" && $0 != "\"" }.split(separator: "/").last ?? "")
  }

  /// The name in `NAME|PATH[,KEY=VALUE…]`: of a plugin, that of its file without `.so`.
  package static func interceptorName(_ text: String) -> String {
    let spec = text.parted(at: ",").before.drop { $0 == "?" }
    let file = spec.unicodeScalars.split(separator: "/").last.map { Substring($0) } ?? spec
    return String(file.utf8.count > 3 && file.hasSuffix(".so") ? file.dropLast(3) : file)
  }
}
