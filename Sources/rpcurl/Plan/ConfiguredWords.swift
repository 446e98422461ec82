import ArgumentParser
import Glibc

/// The words of a command that reaches a server: those of the configuration file, where there is one, and those that were typed, which win.
struct ConfiguredWords {
  /// What the parser takes.
  private(set) var words: [String]
  /// Those of the command line.
  let typed: [String]
  /// The target of the file, for a method that is typed alone.
  private(set) var target: String?
  private var targetLine: Int?
  private var path = ""
  private var lines: [ConfigurationFile.Line] = []

  /// The words that the command is made of; set before they are parsed.
  nonisolated(unsafe) static var current = ConfiguredWords(words: [])

  private static let help: Set<String> = ["-h", "--help", "--version", "--experimental-dump-help"]
  /// Of these the first that knows a name wins.
  private static let schema: Set<String> = [
    "--descriptor-set", "--protoset", "--proto", "-I", "--import-path",
  ]
  /// Of each of these groups the file's are left out when one was typed.
  private static let groups: [Set<String>] = [["-u", "--user", "--bearer"], ["-d", "--data"]]
  private static let headers: Set<String> = ["-H", "--header", "--rpc-header", "--reflect-header"]

  /// The words as they were typed.
  init(words: [String]) {
    self.words = words
    typed = words
  }

  /// Reads the file, if there is one. Without, this costs a system call.
  ///
  /// - Parameter options: The options of the command. Those that call no method, or several, have fewer, and leave out
  ///   the lines of the others.
  init(_ typed: [String], options: any ParsableArguments.Type, environment: (String) -> String?)
    throws(Failure)
  {
    words = typed
    self.typed = typed
    guard !typed.contains(where: Self.help.contains) else { return }
    let named = try Self.value(of: "--config", in: typed)
    let profile = try Self.value(of: "--profile", in: typed)
    guard let path = named ?? Self.defaultPath(environment) else {
      guard let profile else { return }
      throw Failure(
        .usage, "--profile \(profile)", "there is no configuration file", hint: "add --config FILE")
    }
    guard let file = try ConfigurationFile(path, isDemanded: named != nil || profile != nil) else { return }
    self.path = path
    let (common, own) = try file.lines(profile: profile)
    let targets = (common + own).last { $0.words.first == "target" }
    target = targets?.words.last
    targetLine = targets?.number
    let ownWords = own.flatMap(\.words)
    lines = (common.filter { !Self.isReplaced($0, by: ownWords) } + own)
      .filter { $0.words.first != "target" && !Self.isReplaced($0, by: typed) }
      .filter { !Self.isOthers($0, options) }
    let behind = lines.filter { Self.schema.contains(Self.name($0.words[0])) }.flatMap(\.words)
    let before = lines.filter { !Self.schema.contains(Self.name($0.words[0])) }
    // If the value of this one is missing, it would take the first word that was typed.
    if let last = before.last, last.words.count == 1, typed.first?.hasPrefix("-") == false,
      let failure = failure(of: last)
    {
      throw failure
    }
    let end = typed.firstIndex(of: "--") ?? typed.endIndex
    words = before.flatMap(\.words) + typed[..<end] + behind + typed[end...]
  }

  /// The line of the file that is wrong by itself, and why, when the parser has refused the words.
  func failure() -> Failure? {
    for line in lines {
      if let failure = failure(of: line) { return failure }
    }
    return nil
  }

  private func failure(of line: ConfigurationFile.Line) -> Failure? {
    let target = ["http://host", "pkg.Service/Method"]
    do {
      _ = try CallCommand.parse(target + line.words)
      return nil
    } catch {
      let message = ParserMessage(error, of: CallCommand.self, target + line.words, command: "rpcurl call")
        .words
      let isFlag = line.words.count > 1 && (try? CallCommand.parse(target + line.words.prefix(1))) != nil
      let why = isFlag ? "\(line.words[0]) takes no value" : "\(message.what): \(message.why)"
      return Failure(
        .usage, "\(path), line \(line.number)", why, hint: "rpcurl call --help shows the options")
    }
  }

  /// Whether a command with these options does without the line: it is right for a call, and not for the command.
  private static func isOthers(
    _ line: ConfigurationFile.Line, _ options: any ParsableArguments.Type
  ) -> Bool {
    guard options != CallCommand.self, (try? options.parse(line.words)) == nil else { return false }
    return (try? CallCommand.parse(["http://host", "pkg.Service/Method"] + line.words)) != nil
  }

  /// The same failure, with the line of the file in front if it is about what stands there and was not typed.
  func locating(_ failure: Failure, typed: [String]) -> Failure {
    guard var words = failure.words, let line = line(of: words.what, typed: typed) else { return failure }
    words.what = "\(path), line \(line): \(words.what)"
    return Failure(failure.status, words)
  }

  /// The line of the file that has this value, or an option with it, which was not typed.
  private func line(of text: String, typed: [String] = []) -> Int? {
    func isMeant(_ value: String?) -> Bool {
      guard let value, !typed.contains(value) else { return false }
      return value == text || text.hasPrefix("-") && text.hasSuffix(" \(value)")
    }
    if isMeant(target) || target.map(Target.shown) == text && !typed.contains(where: { $0 == target }) {
      return targetLine
    }
    return lines.first { $0.words.count > 1 && isMeant($0.words.last) }?.number
  }

  /// Where a value stands in the file; `nil` when it was typed.
  func origin(of value: String) -> String? {
    line(of: value).map { "\(path), line \($0)" }
  }

  /// Whether something was typed, or is in the profile, that stands for a line of the file.
  private static func isReplaced(_ line: ConfigurationFile.Line, by typed: [String]) -> Bool {
    let name = name(line.words[0])
    let typed = typed.prefix { $0 != "--" }
    if let group = groups.first(where: { $0.contains(name) }) {
      return typed.contains { group.contains(Self.name($0)) }
    }
    guard headers.contains(name), let own = headerName(line.words.last) else { return false }
    return typed.indices.contains { index in
      guard headers.contains(Self.name(typed[index])) else { return false }
      return headerName(value(typed[index]) ?? typed[(index + 1)...].first) == own
    }
  }

  /// The value of a word like `--option=VALUE`.
  private static func value(_ word: String) -> String? {
    word.firstIndex(of: "=").map { String(word[word.index(after: $0)...]) }
  }

  private static func name(_ word: String) -> String {
    String(word.prefix { $0 != "=" })
  }

  private static func headerName(_ text: String?) -> String? {
    guard let text, !text.hasPrefix("@"), let colon = text.firstIndex(of: ":") else { return nil }
    return text[..<colon].lowercased()
  }

  private static func value(of option: String, in words: [String]) throws(Failure) -> String? {
    var words = words.prefix { $0 != "--" }
    while let word = words.popFirst() {
      if word.hasPrefix("\(option)=") { return String(word.dropFirst(option.count + 1)) }
      guard word == option else { continue }
      guard let value = words.first else { throw Failure(.usage, option, "its value is missing") }
      return value
    }
    return nil
  }

  /// Where the file is, unless another one is named.
  static func defaultPath(_ environment: (String) -> String?) -> String? {
    if let directory = environment("XDG_CONFIG_HOME"), directory.hasPrefix("/") {
      return "\(directory)/rpcurl/config"
    }
    return environment("HOME").flatMap { $0.isEmpty ? nil : "\($0)/.config/rpcurl/config" }
  }
}
