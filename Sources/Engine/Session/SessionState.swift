import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The settings of a session's calls: its options, some of which commands change.
///
/// Keeps arguments instead of parsed values, so that the session can be saved as a script.
package struct SessionState {
  /// The options that commands of their own set.
  package static let settable = OptionTable.all.filter { !$0.sessionVerb.isEmpty }

  /// The server, and where it was set.
  package private(set) var target: Positional?
  /// The values of `-H`.
  package var headers = SessionHeaders()
  /// The values of `--attribute`.
  package var attributes: [Argument] = []
  /// The values of `settable`; that of a flag only if it is on.
  package var chosen: [OptionID: Argument] = [:]
  /// Whether the timing of calls is printed.
  package var showsTiming: Bool {
    get { chosen[.timing] != nil }
    set { chosen[.timing] = newValue ? try? Argument(.timing) : nil }
  }
  /// The number of `-v`.
  package var verbosity = 0
  /// Whether the times of messages are printed.
  package var showsTimestamps = false
  /// All other options.
  package private(set) var fixed: [Argument] = []
  /// Whether the configuration has `--expand`, also if the command line or the session replaces it.
  private var isExpansionConfigured = false
  /// The interceptors that options specify: the initial chain.
  package private(set) var chain: [ChainArguments.Entry] = []
  /// The interceptors of the configuration that `--no-use` omits.
  package private(set) var omitted: [ChainArguments.Entry] = []

  /// Creates the settings from the arguments of the command line.
  package init(_ invocation: Invocation, target: Positional?) throws(Failure) {
    self.target = target
    try add(invocation)
  }

  /// Sets the server.
  package mutating func set(target: String) {
    self.target = Positional(target, .session)
  }

  /// Adds options.
  package mutating func add(_ invocation: Invocation) throws(Failure) {
    let interceptors = ChainArguments(invocation)
    chain += interceptors.entries
    omitted += interceptors.omitted
    for header in try Self.lines(of: invocation, waitLimit: maxTime) { headers.append(header) }
    // Also of those that remove one, which are not kept.
    _ = try AttributeArguments.parse(invocation.all(.attribute))
    for attribute in invocation.all(.attribute) { set(attribute: attribute) }
    for option in Self.settable {
      if let value = invocation.last(option.id) {
        chosen[option.id] = value.value == .flag(false) ? nil : value
      }
    }
    let given = invocation.count(.verbose)
    if given > 0 { verbosity = given }
    // The columns of a row are given together.
    if invocation.last(.filter) != nil { fixed.removeAll { $0.id == .filter } }
    for argument in invocation.arguments where Self.isKept(argument.id) {
      let option = OptionTable[argument.id]
      // Each call reads it again.
      guard option.group != .request || !argument.isReadableOnce else {
        throw Failure(
          .usage, "\(argument.name) \(argument.text ?? "")",
          "each call reads it, and a pipe can be read once",
          hint: option.isCredential ? "use env:NAME, cmd:COMMAND or a file" : "write it to a file"
        ).at(argument.origin)
      }
      if argument.id == .expand, argument.origin.place != nil { isExpansionConfigured = true }
      // Of an option that does not repeat, only the last value holds.
      if !option.repeats { fixed.removeAll { $0.id == argument.id } }
      fixed.append(argument)
    }
  }

  /// The options that `options` adds.
  package static let completedOptions = OptionTable.all.filter { isKept($0.id) || $0.id == .header }

  /// Whether an option is kept as it is: it has no command, and is not one of another program command, such as the reports
  /// of a run of suites. Arguments of the configuration file are included already.
  private static func isKept(_ id: OptionID) -> Bool {
    let option = OptionTable[id]
    return option.commands.contains(CommandSet(.session)) && option.sessionVerb.isEmpty
      && option.group != .interceptors && option.group != .configuration && id != .header && id != .verbose
  }

  /// The value of `--max-time`; nil without one.
  private var maxTime: Duration? {
    guard case .duration(let duration)? = chosen[.maxTime]?.value else { return nil }
    return duration
  }

  /// The options without interceptors.
  var arguments: [Argument] { fixed + headers.arguments + attributes + settings }
  /// The options that commands set, except headers and attributes.
  private var settings: [Argument] { Self.settable.compactMap { chosen[$0.id] } }

  /// The options as arguments of the command line.
  package var commandLine: [String] { words(of: arguments) }

  /// The options as arguments of the command line of a call with expanded data, which must not be expanded again: it may
  /// contain text of a server. Headers are kept as written.
  package var commandLineOfExpandedData: [String] {
    let arguments = arguments.filter { $0.id != .expand && $0.id != .seed }
    let hasTemplates = arguments.contains {
      Self.isHeader($0) && $0.origin != .session && $0.text?.contains("${") == true
    }
    guard invocation.expansion != nil, hasTemplates else {
      // The program reads the configuration again.
      return words(of: arguments.filter { $0.id != .variable })
        + (isExpansionConfigured ? ["--expand=false"] : [])
    }
    let words = words(of: arguments) { argument in
      // The values of a header that a command set are inserted already.
      guard Self.isHeader(argument), argument.origin == .session else { return argument.words }
      return argument.words.map { $0.replacing("${", with: "$${") }
    }
    return words + ["--expand"]
  }

  private static func isHeader(_ argument: Argument) -> Bool {
    OptionTable[argument.id].isHeader
  }

  private func words(of arguments: [Argument], _ words: (Argument) -> [String] = { $0.words }) -> [String] {
    let strings = arguments.flatMap(words)
    return verbosity > 0 ? strings + ["-\(String(repeating: "v", count: verbosity))"] : strings
  }

  /// The arguments of `fixed` as strings.
  package var fixedArguments: [String] { fixed.flatMap(\.words) }

  /// The options without those of `-H`, which may be many.
  package var invocation: Invocation {
    let verbose = (0..<verbosity).compactMap { _ in try? Argument(.verbose) }
    return Invocation(.session, fixed + attributes + settings + verbose)
  }

  /// The headers of `-H`. Reads each `-H @FILE` once, because it may be a pipe.
  ///
  /// - Parameters:
  ///   - invocation: The options.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  package static func lines(of invocation: Invocation, waitLimit: Duration?) throws(Failure) -> [Argument] {
    var sources = ArgumentSources(environment: EnvironmentVariables.value, secrets: SecretPrompt())
    sources.waitLimit = waitLimit
    let arguments = try invocation.headerArguments(sources)
    var lines: [Argument] = []
    for header in invocation.all(.header) {
      guard header.text?.begins(with: "@") ?? false else {
        lines.append(header)
        continue
      }
      for line in try arguments.lines(of: header, option: "-H") {
        _ = try arguments.parse(line)
        lines.append(try SessionState.header(arguments.expanded(line)))
      }
    }
    return lines
  }

  /// The option `-H` with this value.
  package static func header(_ line: String) throws(Failure) -> Argument {
    try argument(.header, line, name: "-H")
  }

  /// Sets an attribute in place of one with the same key; `KEY=` only removes that.
  package mutating func set(attribute: Argument) {
    let key = Self.key(of: attribute)
    attributes.removeAll { Self.key(of: $0) == key }
    if attribute.text != "\(key)=" { attributes.append(attribute) }
  }

  /// The key of an attribute `KEY=VALUE`.
  package static func key(of attribute: Argument) -> String {
    String((attribute.text ?? "").parted(at: "=").before)
  }

  /// The option `--attribute` with this value.
  package static func attribute(_ text: String) throws(Failure) -> Argument {
    try argument(.attribute, text, name: "--attribute")
  }

  /// An option that a command sets.
  ///
  /// - Throws: `Failure` if the value is invalid.
  package static func argument(_ id: OptionID, _ text: String, name: String? = nil) throws(Failure)
    -> Argument
  {
    do throws(ParseError) { return try Argument(id, text, name: name) } catch { throw Failure(error) }
  }
}
