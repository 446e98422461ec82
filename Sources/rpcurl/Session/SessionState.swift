import Protobuf
import CommandLine
import Glibc

/// What a session's calls are made by: its options, of which commands change some.
///
/// Arguments are kept rather than what they mean, so that a session can be written down as a script.
struct SessionState {
  /// Options of which there is one value, and the command that sets it.
  static let choices = [
    (option: OptionID.protocolName, verb: "protocol"), (option: .codec, verb: "codec"),
    (option: .maxTime, verb: "deadline"), (option: .format, verb: "format"),
  ]
  /// Flags, and the command that switches each.
  static let flags = [(option: OptionID.timing, verb: "timing")]

  /// The server, and where it was named.
  private(set) var target: Positional?
  /// The values of `-H`.
  var headers: [Argument] = []
  /// The values of `choices`.
  var chosen: [OptionID: Argument] = [:]
  /// Those of `flags` that are on.
  var switched: Set<OptionID> = []
  /// How often `-v` is given.
  var verbosity = 0
  /// All other options.
  private(set) var fixed: [Argument] = []
  /// The interceptors that the options name; a session's chain starts with them.
  private(set) var chain: [ChainArguments.Entry] = []

  /// Takes the arguments that a session starts with.
  init(_ invocation: Invocation, target: Positional?) throws(Failure) {
    self.target = target
    try add(invocation)
  }

  /// Calls this server from now on.
  mutating func set(target: String) {
    self.target = Positional(target, .session)
  }

  /// Takes further options.
  mutating func add(_ invocation: Invocation) throws(Failure) {
    let common = CommonRequestOptions(invocation)
    // What was set by a command is as it is to be sent.
    let turnsExpansionOn = common.expandHeaders && !options.request.common.expandHeaders
    guard !turnsExpansionOn || !headers.contains(where: { $0.text?.contains("${") ?? false }) else {
      throw Failure(.usage, "--expand-headers", "a header is set that holds ${", hint: "unheader NAME")
    }
    let arguments = common.headerArguments { getenv($0).map { String(cString: $0) } }
    chain += ChainArguments(invocation).entries
    headers += try Self.lines(invocation.all(.header), arguments)
    for choice in Self.choices {
      if let value = invocation.last(choice.option) { chosen[choice.option] = value }
    }
    for flag in Self.flags where invocation.has(flag.option) { switched.insert(flag.option) }
    let given = invocation.count(.verbose)
    if given > 0 { verbosity = given }
    // What the configuration file has is among the arguments.
    let own: Set<OptionID> = [.use, .plugin, .header, .verbose, .config, .profile]
    let taken = own.union(Self.choices.map(\.option)).union(Self.flags.map(\.option))
    fixed += invocation.arguments.filter { !taken.contains($0.id) }
  }

  /// The options, interceptors aside.
  private var arguments: [Argument] {
    var arguments = fixed + headers
    arguments += Self.choices.compactMap { chosen[$0.option] }
    arguments += Self.flags.compactMap { switched.contains($0.option) ? try? Argument($0.option) : nil }
    return arguments
  }

  /// The same as arguments of a command line.
  var words: [String] {
    let words = arguments.flatMap(\.words)
    return verbosity > 0 ? words + ["-\(String(repeating: "v", count: verbosity))"] : words
  }

  /// The arguments of `fixed` as a command line has them.
  var fixedWords: [String] { fixed.flatMap(\.words) }

  /// What the options are, as if they were given now.
  var invocation: Invocation {
    let verbose = (0..<verbosity).compactMap { _ in try? Argument(.verbose) }
    return Invocation(.session, arguments + verbose)
  }

  /// What the options mean.
  var options: SessionOptions { SessionOptions(invocation) }

  /// Files of headers are read once: they may be pipes. Variables in them stay, as they do in what was typed.
  private static func lines(
    _ headers: [Argument], _ arguments: HeaderArguments
  ) throws(Failure) -> [Argument] {
    var lines: [Argument] = []
    for header in headers {
      guard header.text?.begins(with: "@") ?? false else {
        lines.append(header)
        continue
      }
      for line in try HeaderArguments.lines(of: header, option: "-H") {
        _ = try arguments.parse(line)
        lines.append(try SessionState.header(line.text))
      }
    }
    return lines
  }

  /// A header as an option.
  static func header(_ line: String) throws(Failure) -> Argument { try argument(.header, line, name: "-H") }

  /// An option that a command sets.
  static func argument(_ id: OptionID, _ text: String, name: String? = nil) throws(Failure) -> Argument {
    do throws(ParseError) { return try Argument(id, text, name: name) } catch { throw Failure(error) }
  }
}
