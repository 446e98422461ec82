import Calls
import CommandLine
import Glibc
import Protobuf
import RPCProtocols
import System

/// The line that a person is typing, as far as the candidates depend on it.
struct CompletionLine {
  /// How long an answer may take: a person waits for it.
  private static let patience = Duration.milliseconds(500)
  /// What is asked for commands that read the configuration file.
  private static let configuredKinds: Set<String> = [
    "target", "method", "filter", "list", "describe", "template", "export",
  ]

  /// What is asked for.
  let kind: String
  /// The word before the cursor.
  let typed: String
  /// The words before it that are no options; empty when they are not there.
  let first: String
  let second: String
  /// The line, with the configuration file where the command reads it.
  private let invocation: Invocation
  /// The target that the configuration file names.
  var configuredTarget: String? { invocation.configuredTarget?.text }
  private let deadline = MonotonicClock.now + patience

  init?(_ words: [String]) {
    guard words.count >= 4 else { return nil }
    (kind, typed, first, second) = (words[0], words[1], words[2], words[3])
    let typed = Parser.parse(Array(words[4...]))
    var configured = typed
    guard Self.configuredKinds.contains(kind), typed.texts(.config).allSatisfy(Self.isFile),
      (try? ConfigurationFile.read(into: &configured, environment: Self.environment)) != nil
    else {
      invocation = typed
      return
    }
    invocation = configured
  }

  static func environment(_ name: String) -> String? { EnvironmentVariables.value(name) }

  /// Whether it has taken too long.
  var isOver: Bool { MonotonicClock.now > deadline }

  /// Whether a flag is on or off; nil if it is not given.
  func flag(_ id: OptionID) -> Bool? { invocation.flag(id) }

  /// The descriptor sets that the line names and that can be read.
  var descriptorSets: [SchemaBytes] {
    invocation.texts(.descriptorSet).map(Self.expanded).filter(Self.isFile)
      .compactMap { try? FileContents.map($0) }
  }

  /// Whether the line names a source of the schema.
  var hasSources: Bool { SchemaOptions(invocation).hasSources }

  /// The server that `text` names, as the options of the line have it.
  func target(_ text: String) -> Target? {
    var target = try? Target.parse(server: text, isPlaintext: invocation.has(.plaintext))
    if let socket = invocation.text(.unixSocket) { target?.unixSocket = Self.expanded(socket) }
    return target
  }

  /// The profiles of the configuration file.
  var profiles: [Candidate] {
    guard
      let path = invocation.text(.config).map(Self.expanded)
        ?? ConfigurationFile.defaultPath(Self.environment),
      Self.isFile(path), let file = try? ConfigurationFile(path, isDemanded: false)
    else { return [] }
    return file.profileNames.filter { $0.hasPrefix(typed) }.map { name in
      let target = (try? file.lines(profile: name))?.own.last { $0.name == "target" }?.value
      return Candidate(name, target ?? "")
    }
  }

  /// Whether it can be read at once. Anything else, such as standard input, may have to be waited for, or have no end.
  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// A path as the shell will make it: shells complete before they expand.
  static func expanded(_ path: String) -> String {
    guard let first = path.first, first == "~" || first == "$" else { return path }
    let word = path.prefix { $0 != "/" }
    let name = word == "~" ? "HOME" : word.dropFirst().filter { $0 != "{" && $0 != "}" }
    return environment(name).map { $0 + path.dropFirst(word.count) } ?? path
  }
}
