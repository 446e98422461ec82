import CommandLine
import Glibc
import Output
import System

/// A configuration file: one option per line, as on the command line, first for all calls, then for each profile.
///
///     --max-time 10
///     [profile staging]
///     target https://staging.example
///     --header x-tenant: blue
package struct ConfigurationFile {
  package let path: String
  private var common: [ConfigurationLine] = []
  private var profiles: [String: [ConfigurationLine]] = [:]

  /// The limit of the file in bytes.
  private static let limitBytes = 1 << 20

  /// Reads the file at `path`. Returns nil if it does not exist and is not required.
  ///
  /// - Throws: `Failure` if it is invalid, or if other users than root can have written it.
  package init?(_ path: String, isDemanded: Bool) throws(Failure) {
    self.path = path
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR, !isDemanded { return nil }
      throw Failure(.usage, path, FileContents.lastError())
    }
    defer { close(descriptor) }
    // Its options can write files, read tokens and run code.
    do throws(FileTrust.Problem) {
      try FileTrust.check(path, opened: descriptor)
    } catch {
      throw Failure(
        .usage, path, "\(error.why), so the configuration is not used", hint: error.hint)
    }
    let contents: [UInt8]
    do {
      contents = try Self.contents(of: descriptor, waits: isDemanded)
    } catch {
      throw Failure(.usage, path, error.why)
    }
    guard contents.count < Self.limitBytes else {
      throw Failure(.usage, path, "more than \(Self.limitBytes) bytes")
    }
    // Some editors write a byte order mark.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = contents.starts(with: mark) ? contents[mark.count...] : contents[...]
    try parse(String(decoding: text, as: UTF8.self))
  }

  /// Reads the file up to the limit. Waits for a pipe such as `<(…)` that was named by an option.
  private static func contents(of descriptor: Int32, waits: Bool) throws(FileContents.Problem) -> [UInt8] {
    if waits { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) }
    var contents: [UInt8] = []
    while contents.count < limitBytes {
      let piece = try FileContents.readPiece(descriptor, limitBytes: 1 << 16)
      guard !piece.isEmpty else { break }
      contents += piece
    }
    return contents
  }

  /// The options for all calls, and those of the profile.
  ///
  /// - Throws: `Failure` if there is no such profile.
  package func lines(profile: String?) throws(Failure) -> (
    common: [ConfigurationLine], own: [ConfigurationLine]
  ) {
    guard let profile else { return (common, []) }
    guard let own = profiles[profile] else {
      let names = profileNames
      throw Failure(
        .usage, "--profile \(profile)", "\(path) has no such profile",
        hint: names.isEmpty ? "the file has no profiles" : "profiles: \(names.joined(separator: ", "))")
    }
    return (common, own)
  }

  /// The names of the profiles, sorted.
  package var profileNames: [String] { profiles.keys.sorted() }

  // MARK: Reading

  private mutating func parse(_ text: String) throws(Failure) {
    var profile: String?
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let line = line.withoutOuterSpace
      guard let first = line.unicodeScalars.first, first != "#" else { continue }
      if first == "[" {
        let name = try Self.profileName(line, path, index + 1)
        guard profiles[name] == nil else { throw failure(index + 1, "duplicate profile \(name)") }
        profiles[name] = []
        profile = name
        continue
      }
      let entry = try entry(line, index + 1)
      if let profile { profiles[profile]?.append(entry) } else { common.append(entry) }
    }
  }

  private static func profileName(_ line: Substring, _ path: String, _ number: Int) throws(Failure) -> String
  {
    let inside = line.unicodeScalars.dropFirst().dropLast()
    let profile = "profile ".unicodeScalars
    guard line.unicodeScalars.last == "]", inside.starts(with: profile) else {
      throw Failure(.usage, "\(path), line \(number)", "not a section", hint: "write [profile NAME]")
    }
    let name = Substring(inside.dropFirst(profile.count)).withoutOuterSpace
    guard !name.isEmpty, !name.begins(with: "-") else {
      throw Failure(.usage, "\(path), line \(number)", "missing profile name")
    }
    return String(name)
  }

  /// Parses `--option`, `--option VALUE`, `--option=VALUE`, `-o VALUE` or `target VALUE`. The value extends to the
  /// end of the line.
  private func entry(_ line: Substring, _ number: Int) throws(Failure) -> ConfigurationLine {
    let isLong = line.begins(with: "--")
    let name = line.prefixOfScalars { !$0.properties.isWhitespace && !(isLong && $0 == "=") }
    let rest = line[name.endIndex...]
    let value = (isLong && rest.begins(with: "=") ? Substring(rest.unicodeScalars.dropFirst()) : rest)
      .withoutOuterSpace
    guard name.begins(with: "-") || name == "target" else {
      // The value may be a secret, so the error does not contain it.
      throw failure(
        number, "neither an option nor target", hint: "write --option VALUE, as on the command line")
    }
    guard name != "target" || !value.isEmpty else { throw failure(number, "target needs a URL or HOST:PORT") }
    return ConfigurationLine(
      number: number, name: String(name), value: value.isEmpty ? nil : String(value))
  }

  private func failure(_ line: Int, _ why: String, hint: String? = nil) -> Failure {
    Failure(.usage, "\(path), line \(line)", why, hint: hint)
  }
}

extension ConfigurationFile {
  /// Adds the options of the file that the arguments name, or of the standard file.
  package static func read(into invocation: inout Invocation, environment: (String) -> String?)
    throws(Failure)
  {
    guard OptionTable[.config].commands.contains(CommandSet(invocation.command)) else { return }
    let named = invocation.last(.config)
    let profile = invocation.text(.profile)
    guard let path = named?.text ?? defaultPath(environment) else {
      guard let profile else { return }
      throw Failure(
        .usage, "--profile \(profile)", "no configuration file found", hint: "add --config FILE")
    }
    guard let file = try ConfigurationFile(path, isDemanded: named != nil || profile != nil) else { return }
    let (common, own) = try file.lines(profile: profile)
    invocation.configure(common, profile: profile, own, path: path)
  }

  /// The path of the standard file.
  package static func defaultPath(_ environment: (String) -> String?) -> String? {
    if let directory = environment("XDG_CONFIG_HOME"), directory.hasPrefix("/") {
      return "\(directory)/rpcurl/config"
    }
    return environment("HOME").flatMap { $0.isEmpty ? nil : "\($0)/.config/rpcurl/config" }
  }
}
