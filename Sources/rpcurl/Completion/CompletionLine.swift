import Glibc
import Protobuf

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
  /// The words of the line, with those of the configuration file where the command reads it.
  private let words: [String]
  /// The target that the configuration file names.
  let configuredTarget: String?
  private let deadline = ContinuousClock.now + patience

  init?(_ words: [String]) {
    guard words.count >= 4 else { return nil }
    (kind, typed, first, second) = (words[0], words[1], words[2], words[3])
    let rest = Array(words[4...])
    guard Self.configuredKinds.contains(kind),
      Self.values(of: ["--config"], in: rest).allSatisfy(Self.isFile),
      let configured = try? ConfiguredWords(rest, options: CallCommand.self, environment: Self.environment)
    else {
      self.words = rest
      configuredTarget = nil
      return
    }
    self.words = configured.words
    configuredTarget = configured.target
  }

  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// Whether it has taken too long.
  var isOver: Bool { ContinuousClock.now > deadline }

  func has(_ flag: String) -> Bool { words.contains(flag) }

  /// The descriptor sets that the line names and that can be read.
  var descriptorSets: [SchemaBytes] {
    values(of: ["--descriptor-set", "--protoset"]).map(Self.expanded).filter(Self.isFile)
      .compactMap { try? FileContents.map($0) }
  }

  /// Whether the line names a source of the schema.
  var hasSources: Bool { !values(of: ["--descriptor-set", "--protoset", "--proto"]).isEmpty }

  /// The server that `text` names, as the options of the line have it.
  func target(_ text: String) -> Target? {
    var target = try? Target.parse(server: text, isPlaintext: has("--plaintext"))
    if let socket = values(of: ["--unix-socket"]).last { target?.unixSocket = Self.expanded(socket) }
    return target
  }

  /// The profiles of the configuration file.
  var profiles: [Candidate] {
    guard
      let path = values(of: ["--config"]).last.map(Self.expanded)
        ?? ConfiguredWords.defaultPath(Self.environment),
      Self.isFile(path), let file = try? ConfigurationFile(path, isDemanded: false)
    else { return [] }
    return file.profileNames.filter { $0.hasPrefix(typed) }.map { name in
      let target = (try? file.lines(profile: name))?.own.last { $0.words.first == "target" }?.words.last
      return Candidate(name, target ?? "")
    }
  }

  /// Whether it can be read at once. Anything else, such as standard input, may have to be waited for, or have no end.
  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private func values(of options: [String]) -> [String] { Self.values(of: options, in: words) }

  private static func values(of options: [String], in words: [String]) -> [String] {
    var found: [String] = []
    for (index, word) in words.enumerated() {
      if options.contains(word), words.indices.contains(index + 1) {
        found.append(words[index + 1])
      } else if let option = options.first(where: { word.hasPrefix("\($0)=") }) {
        found.append(String(word.dropFirst(option.count + 1)))
      }
    }
    return found
  }

  /// A path as the shell will make it: shells complete before they expand.
  static func expanded(_ path: String) -> String {
    guard let first = path.first, first == "~" || first == "$" else { return path }
    let word = path.prefix { $0 != "/" }
    let name = word == "~" ? "HOME" : word.dropFirst().filter { $0 != "{" && $0 != "}" }
    return environment(name).map { $0 + path.dropFirst(word.count) } ?? path
  }
}
