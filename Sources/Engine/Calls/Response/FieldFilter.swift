import RPCurlBase
import RPCurlProgram
import RPCurlProtobuf

/// Selects fields of each response (`--filter`): one, or the columns of a row.
package struct FieldFilter {
  /// What is printed for a response without the field (`--filter-missing`).
  package enum MissingAction: String, Sendable {
    case fail, null, skip
  }

  /// The options of `--filter`.
  package struct Settings: Sendable {
    /// The fields, each with its option for the place of errors.
    let columns: [(path: FieldPath, argument: Argument)]
    let missing: MissingAction
    /// Whether bytes are written as they are (`--raw`).
    package let isRaw: Bool
    /// How a row of fields is written; nil for a single field.
    let row: FieldRow?
  }

  private let settings: Settings
  /// Whether the path ends at a list, whose elements are printed one by one.
  private let isList: Bool
  /// The line with the names of the columns, for the formats that have one.
  package let head: String?

  /// The settings of `--filter`; nil if it is not given.
  ///
  /// - Throws: `Failure` if the path is invalid or the format cannot print a field.
  package static func settings(_ options: Invocation) throws(Failure) -> Settings? {
    let (missing, isRaw): (MissingAction?, Bool) = (options.choice(.filterMissing), options.has(.raw))
    let isConversion = options.command == .convert
    let format: OutputFormat? = isConversion ? options.choice(.to) : options.format
    let option = "\(isConversion ? "--to" : "--format") \(format?.rawValue ?? "")"
    let arguments = options.all(.filter)
    guard let argument = arguments.first else {
      if format?.isRow == true {
        throw Failure(
          .usage, option, "requires --filter",
          hint: "each --filter PATH is a column: --filter .id --filter .name")
      }
      guard isRaw || missing != nil else { return nil }
      throw Failure(
        .usage, isRaw ? "--raw" : "--filter-missing", "requires --filter",
        hint: isRaw
          ? "--filter PATH --raw writes the bytes of a field; \(isConversion ? "--to" : "--format") binary whole messages"
          : nil)
    }
    if let format, format != .json, format != .pretty, !format.isRow {
      throw Failure(.usage, "--filter", "cannot be combined with \(option)").at(argument.origin)
    }
    let row: FieldRow? =
      arguments.count > 1 || format?.isRow == true
      ? FieldRow(isCSV: format == .csv, hasHead: format?.isRow == true) : nil
    if isRaw, row != nil {
      throw Failure(
        .usage, "--raw", "cannot be combined with columns", hint: "use one --filter, without --format")
    }
    if isRaw, missing == .null {
      throw Failure(
        .usage, "--raw", "cannot be combined with --filter-missing null", hint: "use --filter-missing skip")
    }
    return Settings(
      columns: try arguments.map { (argument) throws(Failure) in (try path(argument), argument) },
      missing: missing ?? .fail, isRaw: isRaw, row: row)
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
    var lastKind = FieldPath.Kind.other
    for (path, argument) in settings.columns {
      do throws(FieldPathError) {
        lastKind = try path.kind(in: type)
      } catch {
        throw Self.failure(error, argument).lacking(error.missingName)
      }
      if settings.isRaw, lastKind == .other {
        throw Failure(.usage, "--filter \(path) --raw", "not a field of bytes or a string").at(
          argument.origin)
      }
    }
    isList = lastKind == .list
    head = settings.row?.head(settings.columns.map { "\($0.path)" })
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
  /// - Returns: Whether a string that is not UTF-8 was written with replacement characters.
  /// - Throws: `Failure` if the message lacks the field, or has a value in an Any or a Value that `--raw` cannot write.
  @discardableResult
  package func append(
    _ message: Message, named name: String, options: JSONEncodingOptions, escapesControls: Bool,
    to out: inout [UInt8]
  ) throws -> Bool {
    let start = out.count
    var isRepaired = false
    if let row = settings.row {
      try append(row, of: message, name, options, escapesControls, to: &out, &isRepaired)
      return isRepaired
    }
    guard let (path, argument) = settings.columns.first else { return false }
    let matches = try matches(path, argument, in: message, name)
    do {
      for match in matches {
        guard let match else {
          if settings.missing == .null { out += "null\n".utf8 }
          continue
        }
        guard isList || settings.isRaw, let elements = match.elements else {
          try append(match, path, name, options, escapesControls, to: &out, &isRepaired)
          continue
        }
        for element in elements {
          try append(element, path, name, options, escapesControls, to: &out, &isRepaired)
        }
      }
    } catch {
      out.removeSubrange(start...)
      throw error
    }
    return isRepaired
  }

  /// The values of a message at a path; nil for each one that it lacks.
  private func matches(
    _ path: FieldPath, _ argument: Argument, in message: Message, _ name: String
  ) throws -> [FieldPath.Match?] {
    let matches = try path.matches(in: message)
    if settings.missing == .fail, matches.contains(where: { $0 == nil }) {
      throw Failure(
        .assertion, "--filter \(argument.text ?? "")", "\(name) has no such field",
        hint: "--filter-missing skip, or null, accepts such messages")
    }
    return matches
  }

  /// Appends the columns of a message as a line. What may lead to several values, a list or a path with `[]`, is one
  /// column, as a JSON array.
  private func append(
    _ row: FieldRow, of message: Message, _ name: String, _ options: JSONEncodingOptions,
    _ escapesControls: Bool, to out: inout [UInt8], _ isRepaired: inout Bool
  ) throws {
    var cells: [String] = []
    for (path, argument) in settings.columns {
      let matches = try matches(path, argument, in: message, name)
      if path.hasEach {
        let found = settings.missing == .skip ? matches.filter { $0 != nil } : matches
        let texts = try found.map { try $0.map { try Self.value($0, options, &isRepaired).text } ?? "null" }
        cells.append("[\(texts.joined(separator: ","))]")
      } else if let match = matches.first ?? nil {
        let value = try Self.value(match, options, &isRepaired)
        let cell = if case .string(let content) = value { content } else { value.text }
        cells.append(cell)
      } else {
        guard settings.missing == .null else { return }
        cells.append("")
      }
    }
    out += row.line(escapesControls ? cells.map(TerminalText.escape) : cells).utf8
  }

  private static func value(
    _ match: FieldPath.Match, _ options: JSONEncodingOptions, _ isRepaired: inout Bool
  ) throws -> JSONValue {
    let found = try match.repairedJSON(options)
    if found.isRepaired { isRepaired = true }
    return try JSONValue(parsing: found.json)
  }

  private func append(
    _ match: FieldPath.Match, _ path: FieldPath, _ name: String, _ options: JSONEncodingOptions,
    _ escapesControls: Bool, to out: inout [UInt8], _ isRepaired: inout Bool
  ) throws {
    if settings.isRaw {
      guard let content = match.content else {
        throw Failure(
          .assertion, "--filter \(path) --raw", "\(name) has neither bytes nor a string there")
      }
      out += content
      return
    }
    let value = try Self.value(match, options, &isRepaired)
    if case .string(let content) = value {
      out += Array((escapesControls ? TerminalText.escape(content) : content).utf8)
    } else {
      out += Array(value.text.utf8)
    }
    out.append(UInt8(ascii: "\n"))
  }
}

/// How the fields of a message are written as a line.
struct FieldRow: Sendable {
  /// Whether the values are separated by commas, and not by tabs.
  let isCSV: Bool
  /// Whether a line with the names of the columns comes first.
  let hasHead: Bool

  /// The line with the names of the columns; nil without one.
  func head(_ names: [String]) -> String? { hasHead ? line(names) : nil }

  /// The line of these values, with its line feed.
  func line(_ cells: [String]) -> String {
    cells.map(isCSV ? Self.quoted : Self.escaped).joined(separator: isCSV ? "," : "\t") + "\n"
  }

  /// A value in CSV: in quotes if it contains a separator (RFC 4180, section 2).
  private static func quoted(_ cell: String) -> String {
    guard cell.utf8.contains(where: { [0x0A, 0x0D, 0x22, 0x2C].contains($0) }) else { return cell }
    return "\"\(cell.replacing("\"", with: "\"\""))\""
  }

  /// A value between tabs: control characters that would end it are escaped.
  private static func escaped(_ cell: String) -> String {
    guard cell.utf8.contains(where: { [0x09, 0x0A, 0x0D, 0x5C].contains($0) }) else { return cell }
    return [("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")].reduce(cell) {
      $0.replacing($1.0, with: $1.1)
    }
  }
}
