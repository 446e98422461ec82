import RPCurlBase
import RPCurlProgram
import RPCurlProtobuf

/// Selects fields of each response (`--filter`).
package struct FieldFilter {
  /// What is printed for a response without the field (`--filter-missing`).
  package enum MissingAction: String, Sendable {
    case fail, null, skip
  }

  /// The options of `--filter`.
  package struct Settings: Sendable {
    package let path: FieldPath
    let missing: MissingAction
    /// Whether bytes are written as they are (`--raw`).
    package let isRaw: Bool
    /// The option, for the place of errors.
    let argument: Argument
  }

  private let settings: Settings
  /// Whether the path ends at a list, whose elements are printed one by one.
  private let isList: Bool
  /// The path of `--filter`.
  package var path: String { settings.argument.text ?? "" }

  /// The settings of `--filter`; nil if it is not given.
  ///
  /// - Throws: `Failure` if the path is invalid or the format cannot print a field.
  package static func settings(_ options: Invocation) throws(Failure) -> Settings? {
    let (missing, isRaw): (MissingAction?, Bool) = (options.choice(.filterMissing), options.has(.raw))
    guard let argument = try only(options) else {
      guard isRaw || missing != nil else { return nil }
      throw Failure(
        .usage, isRaw ? "--raw" : "--filter-missing", "requires --filter",
        hint: isRaw
          ? "--filter PATH --raw writes the bytes of a field; --format binary whole messages" : nil)
    }
    if let format = options.format, format != .json, format != .pretty {
      throw Failure(.usage, "--filter", "cannot be combined with --format \(format.rawValue)")
        .at(argument.origin)
    }
    if isRaw, missing == .null {
      throw Failure(
        .usage, "--raw", "cannot be combined with --filter-missing null", hint: "use --filter-missing skip")
    }
    return Settings(
      path: try path(argument), missing: missing ?? .fail, isRaw: isRaw, argument: argument)
  }

  /// The option `--filter`, which one place of options has once; nil if it is not given.
  ///
  /// - Throws: `Failure` if it is given twice.
  package static func only(_ options: Invocation) throws(Failure) -> Argument? {
    let all = options.all(.filter)
    if all.count(where: \.origin.isTyped) > 1 {
      throw Failure(
        .usage, "--filter", "one field is printed, but \(all.count) are given",
        hint: "--filter . prints messages on one line, of which jq prints fields: jq '[.a, .b]'")
    }
    return all.last
  }

  /// Parses the path of `--filter`.
  ///
  /// - Throws: `Failure` if it is invalid.
  package static func path(_ argument: Argument) throws(Failure) -> FieldPath {
    let text = argument.text ?? ""
    do throws(FieldPathError) {
      return try FieldPath(text)
    } catch {
      throw Failure(
        .usage, "--filter \(text)", error.message, hint: "use a path such as user.addresses[0].city"
      ).at(argument.origin)
    }
  }

  /// Creates a filter for messages of a type; returns nil without settings.
  ///
  /// - Throws: `Failure` if the type has no such field, or if `--raw` cannot write it.
  package init?(_ settings: Settings?, of type: MessageType) throws(Failure) {
    guard let settings else { return nil }
    self.settings = settings
    let kind: FieldPath.Kind
    do throws(FieldPathError) {
      kind = try settings.path.kind(in: type)
    } catch {
      throw Self.failure(error, settings.argument).lacking(error.missingName)
    }
    isList = kind == .list
    let path = settings.path
    if settings.isRaw, kind == .other {
      throw Failure(.usage, "--filter \(path) --raw", "not a field of bytes or a string")
        .at(settings.argument.origin)
    }
  }

  private static func failure(_ error: FieldPathError, _ argument: Argument) -> Failure {
    let status: ExitStatus =
      switch error {
      case .unknownField, .json: .schema
      default: .usage
      }
    return Failure(status, "--filter \(argument.text ?? "")", error.message, hint: error.hint)
      .at(argument.origin)
  }

  /// Appends the selected fields of a message, each with a line feed, or only their bytes with `--raw`. Strings have no
  /// quotes; each element of a list is on a line of its own.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - name: What the message is, with its index.
  ///   - options: How values other than strings are written.
  ///   - escapesControls: Whether control characters in strings are escaped, for a terminal. A script gets the string
  ///     itself.
  ///   - out: Receives the text.
  /// - Throws: `Failure` if the message lacks the field, or has a value in an Any or a Value that `--raw` cannot write.
  package func append(
    _ message: Message, named name: String, options: JSONEncodingOptions, escapesControls: Bool,
    to out: inout [UInt8]
  ) throws {
    let matches = try settings.path.matches(in: message)
    if settings.missing == .fail, matches.contains(where: { $0 == nil }) {
      throw Failure(
        .assertion, "--filter \(path)", "\(name) has no such field",
        hint: "--filter-missing skip, or null, accepts such messages")
    }
    let start = out.count
    do {
      for match in matches {
        guard let match else {
          if settings.missing == .null { out += "null\n".utf8 }
          continue
        }
        guard isList || settings.isRaw, let elements = match.elements else {
          try append(match, name, options, escapesControls, to: &out)
          continue
        }
        for element in elements { try append(element, name, options, escapesControls, to: &out) }
      }
    } catch {
      out.removeSubrange(start...)
      throw error
    }
  }

  private func append(
    _ match: FieldPath.Match, _ name: String, _ options: JSONEncodingOptions, _ escapesControls: Bool,
    to out: inout [UInt8]
  ) throws {
    if settings.isRaw {
      guard let content = match.content else {
        throw Failure(
          .assertion, "--filter \(path) --raw", "\(name) has neither bytes nor a string there")
      }
      out += content
      return
    }
    let value = try JSONValue(parsing: match.json(options))
    if case .string(let content) = value {
      out += Array((escapesControls ? TerminalText.escape(content) : content).utf8)
    } else {
      out += Array(value.text.utf8)
    }
    out.append(UInt8(ascii: "\n"))
  }
}
