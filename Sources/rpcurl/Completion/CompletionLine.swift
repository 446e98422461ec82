import RPCurlBase
import RPCurlEngine
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The command line that is being completed.
struct CompletionLine {
  /// The time limit, because the user waits.
  private static let patience = Duration.milliseconds(500)
  /// The kinds of completion for commands that read the configuration file.
  private static let configuredKinds: Set<String> = [
    "target", "method", "filter", "set", "data", "use", "list", "describe", "template", "export",
  ]

  /// The kind of completion.
  let kind: String
  /// The argument before the cursor.
  let typed: String
  /// The positional arguments before the cursor; empty if missing.
  let first: String
  let second: String
  /// The parsed arguments, with those of the configuration file if the command reads it.
  let invocation: Invocation
  /// The target from the configuration file.
  var configuredTarget: String? { invocation.configuredTarget?.text }
  private let deadline = MonotonicClock.now + patience

  init?(_ arguments: [String]) {
    guard arguments.count >= 4 else { return nil }
    (kind, typed, first, second) = (arguments[0], arguments[1], arguments[2], arguments[3])
    let typed = Parser.parse(Array(arguments[4...]))
    var configured = typed
    guard Self.configuredKinds.contains(kind), typed.texts(.config).allSatisfy(Self.isFile),
      (try? Configuration.read(into: &configured, environment: Self.environment)) != nil
    else {
      invocation = typed
      return
    }
    invocation = configured
  }

  static func environment(_ name: String) -> String? { EnvironmentVariables.value(name) }

  /// Whether the time limit is exceeded.
  var isOver: Bool { MonotonicClock.now > deadline }

  /// The value of a flag; nil if not given.
  func flag(_ id: OptionID) -> Bool? { invocation.flag(id) }

  /// Whether `${…}` in arguments is a value.
  var expands: Bool { invocation.text(.expand) != nil }

  /// Whether a file is sent in pieces.
  var isChunked: Bool { invocation.bytes(.chunk) != nil }

  /// The names of the variables of `--var`.
  var variables: [String] {
    invocation.texts(.variable).compactMap { text in text.firstIndex(of: "=").map { String(text[..<$0]) } }
  }

  /// The candidates as whole arguments. What follows a single candidate that continues is in its place, because a shell
  /// closes the quotes after a single one.
  func candidates(_ complete: (String) -> LanguageCompletion) -> [Candidate] {
    var found = Self.arguments(typed, complete(typed))
    while found.count == 1, let only = found.first?.text, only.hasSuffix(" ") {
      let next = Self.arguments(only, complete(only))
      guard !next.isEmpty else { break }
      found = next
    }
    return found
  }

  private static func arguments(_ typed: String, _ completion: LanguageCompletion) -> [Candidate] {
    let stem = typed.dropLast(completion.replaced.count)
    return completion.candidates.map { Candidate(stem + $0.text, $0.note) }
  }

  /// The readable descriptor sets of the line.
  var descriptorSets: [SchemaBytes] {
    invocation.texts(.descriptorSet).map(Self.expanded).filter(Self.isFile)
      .compactMap { try? FileContents.descriptorSet($0) }
  }

  /// The target `text`, with the options of the line.
  func target(_ text: String) -> Target? {
    var target = try? Target.parse(server: text, invocation.tls)
    if let socket = invocation.text(.unixSocket) { target?.unixSocket = Self.expanded(socket) }
    return target
  }

  /// The profiles of the configuration files; the target is that of the file with the highest precedence.
  var profiles: [Candidate] {
    var targets: [String: String] = [:]
    for file in configurationFiles {
      for name in file.profileNames.filter({ $0.hasPrefix(typed) }) {
        let target = file.lines(profile: name).own?.last { $0.name == "target" }?.value
        targets[name] = target ?? targets[name] ?? ""
      }
    }
    return targets.map { Candidate($0.key, $0.value) }.sorted { $0.text < $1.text }
  }

  private var configurationFiles: [ConfigurationFile] {
    var files: [ConfigurationFile] = []
    let named = invocation.text(.config).map(Self.expanded)
    if let path = named ?? Configuration.userPath(Self.environment), Self.isFile(path),
      let file = (try? ConfigurationFile(path, isDemanded: false)) ?? nil
    {
      files.append(file)
    }
    if named == nil, let project = (try? Configuration.projectFile(Self.environment)) ?? nil,
      let file = try? ConfigurationFile(project.path, contents: project.contents)
    {
      files.append(file)
    }
    return files
  }

  /// Whether the path is a regular file: reading anything else may block.
  private static func isFile(_ path: String) -> Bool { path != "-" && FileContents.isRegularFile(path) }

  /// Expands a path as the shell does later: shells complete before they expand.
  static func expanded(_ path: String) -> String {
    guard let first = path.first, first == "~" || first == "$" else { return path }
    let word = path.prefix { $0 != "/" }
    let name = word == "~" ? "HOME" : word.dropFirst().filter { $0 != "{" && $0 != "}" }
    return environment(name).map { $0 + path.dropFirst(word.count) } ?? path
  }
}
