import ArgumentParser
import Glibc

/// What a session's calls are made by: the words of its options, of which commands change some.
///
/// Words are kept rather than what they mean, so that the parser alone knows options, and a session can be written
/// down as a script.
struct SessionState {
  /// Options of which there is one value, and the command that sets it.
  static let choices = [
    (option: "--protocol", verb: "protocol"), (option: "--codec", verb: "codec"),
    (option: "--max-time", verb: "deadline"), (option: "--format", verb: "format"),
  ]
  /// Flags, and the command that switches each.
  static let flags = [(option: "--timing", verb: "timing")]

  /// The server.
  var target: String?
  /// The values of `-H`.
  var headers: [String] = []
  /// The values of `choices`, by option.
  var chosen: [String: String] = [:]
  /// Those of `flags` that are on.
  var switched: Set<String> = []
  /// How often `-v` is given.
  var verbosity = 0
  /// All other options.
  private(set) var fixed: [String] = []
  /// The interceptors that the options name; a session's chain starts with them.
  private(set) var chain: [ChainArguments.Entry] = []

  /// Takes the words that a session starts with.
  ///
  /// - Parameter arguments: Those of the words that are no options.
  init(words: [String], apartFrom arguments: [String]) throws {
    var words = words.filter { $0 != "--" }
    for argument in arguments {
      // The same text may also be the value of an option.
      let places = words.indices.filter { words[$0] == argument }
      let place = places.first { place in
        var rest = words
        rest.remove(at: place)
        return (try? SessionOptions.parse(rest.filter { !arguments.contains($0) || $0 == argument })) != nil
      }
      if let place = place ?? places.last { words.remove(at: place) }
    }
    try add(words: words)
  }

  /// Takes further options.
  mutating func add(words: [String]) throws {
    let parsed = try Self.parse(words)
    // What was set by a command is as it is to be sent.
    let turnsExpansionOn = try parsed.request.common.expandHeaders && !options().request.common.expandHeaders
    guard !turnsExpansionOn || !headers.contains(where: { $0.contains("${") }) else {
      throw Failure(.usage, "--expand-headers", "a header is set that holds ${", hint: "unheader NAME")
    }
    let arguments = parsed.request.common.headerArguments { getenv($0).map { String(cString: $0) } }
    var words = OptionWords(words)
    // What the file of these says is among the words.
    _ = words.take(["--config", "--profile"])
    // Which comes first is told by the words as they were.
    let typed = words.words
    let uses = words.take(["--use"])
    let plugins = words.take(["--plugin"])
    chain += ChainArguments(uses: uses, plugins: plugins, words: typed).entries
    headers += try Self.lines(words.take(["-H", "--header"]), arguments)
    for choice in Self.choices {
      if let value = words.take([choice.option]).last { chosen[choice.option] = value }
    }
    for flag in Self.flags where words.takeFlag(flag.option) > 0 { switched.insert(flag.option) }
    let given = words.takeFlag("--verbose", short: "v")
    if given > 0 { verbosity = given }
    fixed += words.words
    _ = try options()
  }

  /// The options, interceptors aside, as the command line has them.
  var words: [String] {
    var words = fixed
    for header in headers { words += ["-H", header] }
    for choice in Self.choices {
      if let value = chosen[choice.option] { words += [choice.option, value] }
    }
    for flag in Self.flags where switched.contains(flag.option) { words.append(flag.option) }
    if verbosity > 0 { words.append("-\(String(repeating: "v", count: verbosity))") }
    return words
  }

  /// What the words mean.
  func options() throws(Failure) -> SessionOptions {
    try Self.parse(words)
  }

  private static func parse(_ words: [String]) throws(Failure) -> SessionOptions {
    do {
      return try SessionOptions.parse(words)
    } catch {
      throw Failure(.usage, ParserMessage(error, of: SessionOptions.self).words)
    }
  }

  /// Files of headers are read once: they may be pipes. Variables in them stay, as they do in what was typed.
  private static func lines(_ headers: [String], _ arguments: HeaderArguments) throws(Failure) -> [String] {
    var lines: [String] = []
    for header in headers {
      guard header.hasPrefix("@") else {
        lines.append(header)
        continue
      }
      for line in try HeaderArguments.lines(of: String(header.dropFirst()), option: "-H") {
        _ = try arguments.parse(line)
        lines.append(line.text)
      }
    }
    return lines
  }
}
