import RPCurlBase
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtocols

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
  static let limitBytes = 1 << 20

  /// Reads the file at `path`. Returns nil if it does not exist and is not required.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - isDemanded: Whether it is required.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  /// - Throws: `Failure` if it is invalid, or if other users than root can have written it.
  package init?(_ path: String, isDemanded: Bool, waitLimit: Duration? = nil) throws(Failure) {
    let opened: Int32?
    // Its options can write files, read tokens and run code.
    do throws(SystemError) {
      opened = try FileTrust.open(path)
    } catch {
      throw Failure(
        .usage, path, "\(error.reason), so the configuration is not used",
        hint: error.hint ?? "use a file that belongs to you: --config FILE")
    }
    guard let descriptor = opened else {
      if errno == ENOENT || errno == ENOTDIR, !isDemanded { return nil }
      throw Failure(.usage, path, FileContents.lastError())
    }
    defer { close(descriptor) }
    let contents: [UInt8]
    do {
      contents = try Self.contents(of: descriptor, waits: isDemanded, waitLimit)
    } catch {
      throw Interrupt.failure ?? Failure(.usage, path, error)
    }
    try self.init(path, contents: contents)
  }

  /// Parses the contents of a file.
  ///
  /// - Parameters:
  ///   - path: The path, for messages.
  ///   - contents: All of the file, or its first bytes if it is longer than the limit.
  /// - Throws: `Failure` if they are invalid.
  package init(_ path: String, contents: [UInt8]) throws(Failure) {
    self.path = path
    guard contents.count < Self.limitBytes else {
      throw Failure(.usage, path, "more than \(Self.limitBytes) bytes")
    }
    guard let text = String(validating: contents.withoutByteOrderMark, as: UTF8.self) else {
      throw Failure(.usage, path, "not UTF-8")
    }
    try parse(text)
  }

  /// Reads the file up to the limit. Waits for a pipe such as `<(…)` that was named by an option, also for its writer.
  private static func contents(
    of descriptor: Int32, waits: Bool, _ waitLimit: Duration?
  ) throws(SystemError) -> [UInt8] {
    let file = InputFile(reading: descriptor, until: waitLimit.map { .now + $0 })
    var contents: [UInt8] = []
    while contents.count < limitBytes {
      guard let piece = try waits ? file.next() : FileContents.readPiece(descriptor, limitBytes: 1 << 16),
        !piece.isEmpty
      else { break }
      contents += piece
    }
    return contents
  }

  /// The lines for all calls, and those of the profile; nil if there is no such profile.
  package func lines(profile: String?) -> (common: [ConfigurationLine], own: [ConfigurationLine]?) {
    (common, profile.flatMap { profiles[$0] })
  }

  /// The lines for all calls and those of all profiles, in the order of the file.
  package var allLines: [ConfigurationLine] {
    (common + profiles.values.joined()).sorted { $0.number < $1.number }
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
