import RPCurlBase
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf

/// The rows of data that a test runs for, or that calls are made for, of a file in CSV (RFC 4180) or NDJSON.
package enum DataRows {
  /// The most rows of a file.
  package static let limit = 100_000

  /// What makes calls of streams for each row.
  static let hintForStreams = "in a suite, \"rows FILE\" in a test makes its calls for each row"

  /// Reads the rows of a file.
  ///
  /// - Parameters:
  ///   - path: The file; `-` for standard input.
  ///   - name: Its name in errors, and for the format.
  ///   - types: The types of columns of CSV; those of the others are text.
  ///   - waitLimit: How long to wait for data from a pipe; nil for no limit.
  /// - Throws: `Failure` if it cannot be read, or with the first line that is not a row.
  package static func read(
    _ path: String, named name: String, _ types: ColumnTypes = ColumnTypes(), waitLimit: Duration?
  ) throws(Failure) -> [JSONValue] {
    try parse(name, FileContents.input(path, named: name, waitLimit: waitLimit), types)
  }

  /// Reads the rows of a file's content. The name decides about the format: `.csv` or else NDJSON.
  ///
  /// - Parameters:
  ///   - path: The name of the file, for the format and for errors.
  ///   - bytes: Its content.
  ///   - types: The types of columns of CSV.
  /// - Throws: `Failure` with the first line that is not a row.
  package static func parse(
    _ path: String, _ bytes: [UInt8], _ types: ColumnTypes = ColumnTypes()
  ) throws(Failure) -> [JSONValue] {
    let isCSV = path.lowercased().hasSuffix(".csv")
    guard isCSV || types.isEmpty else {
      throw Failure(.input, path, "only columns of CSV have types", hint: "values of NDJSON have their own")
    }
    let rows = isCSV ? try csv(path, bytes, types) : try lines(path, bytes)
    guard rows.count <= limit else { throw Failure(.input, path, "more than \(limit) rows") }
    guard !rows.isEmpty else { throw Failure(.input, path, "no rows") }
    return rows
  }

  /// The names of rows in reports, each of them once: the value of a field, with the number of the row if other rows
  /// have the same value.
  ///
  /// - Parameters:
  ///   - rows: The rows.
  ///   - field: The field; nil to number the rows.
  package static func names(of rows: [JSONValue], by field: String?) -> [String] {
    var names = rows.enumerated().map { index, row in
      switch field.flatMap({ row[$0] }) {
      case .string(let text)?: text
      case let value?: value.text
      case nil: "row \(index + 1)"
      }
    }
    // A name with a number may be the value of another row.
    while true {
      let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
      if counts.count == names.count { return names }
      for (index, name) in names.enumerated() where counts[name] != 1 { names[index] += ", row \(index + 1)" }
    }
  }

  private static func lines(_ path: String, _ bytes: [UInt8]) throws(Failure) -> [JSONValue] {
    var rows: [JSONValue] = []
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    where !line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) {
      let row: JSONValue
      do throws(MessageParseError) {
        row = try JSONValue(parsing: Array(line))
      } catch {
        throw Failure(.input, "\(path), line \(index + 1)", error.message, hint: error.hint)
      }
      guard case .object = row else { throw Failure(.input, "\(path), line \(index + 1)", "not an object") }
      rows.append(row)
    }
    return rows
  }

  private static func csv(
    _ path: String, _ bytes: [UInt8], _ types: ColumnTypes
  ) throws(Failure) -> [JSONValue] {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(.input, path, "not UTF-8")
    }
    var records = try records(path, text)
    guard !records.isEmpty else { return [] }
    let names = records.removeFirst().fields
    var seen: Set<String> = []
    // Columns without a name cannot be used.
    if let double = names.first(where: { !$0.isEmpty && !seen.insert($0).inserted }) {
      throw Failure(.input, path, "two columns have the name \(double)")
    }
    if let missing = types.names.first(where: { !names.contains($0) }) {
      throw Failure(.input, path, "no column \(missing)", hint: "it has \(names.joined(separator: ", "))")
    }
    var rows: [JSONValue] = []
    for record in records {
      guard record.fields.count == names.count else {
        throw Failure(
          .input, "\(path), line \(record.line)",
          "\(record.fields.count) fields, but the first line has \(names.count)")
      }
      var members: [JSONValue.Member] = []
      for (name, field) in zip(names, record.fields) {
        do throws(LanguageError) {
          members.append(JSONValue.Member(name: name, value: try types.value(of: field, in: name)))
        } catch {
          throw Failure(.input, "\(path), line \(record.line)", error)
        }
      }
      rows.append(.object(members))
    }
    return rows
  }

  /// The records of a text in CSV. Empty lines are no records.
  private static func records(_ path: String, _ text: String) throws(Failure) -> [(
    line: Int, fields: [String]
  )] {
    var records: [(line: Int, fields: [String])] = []
    var fields: [String] = []
    var field = ""
    var line = 1
    var start = 1
    var state = State.start
    func endField() {
      fields.append(field)
      field = ""
      state = .start
    }
    func endRecord() {
      let isEmpty = fields.isEmpty && field.isEmpty && state == .start
      endField()
      if !isEmpty { records.append((start, fields)) }
      fields = []
      start = line + 1
    }
    // A byte order mark, which spreadsheets write.
    let scalars = text.unicodeScalars.drop(while: { $0 == "\u{FEFF}" })
    for index in scalars.indices {
      let scalar = scalars[index]
      switch (state, scalar) {
      case (.quoted, "\""): state = .quote
      case (.quoted, _): field.unicodeScalars.append(scalar)
      case (.quote, "\""):
        field.unicodeScalars.append(scalar)
        state = .quoted
      case (.start, "\""): state = .quoted
      case (_, ","): endField()
      case (_, "\n"): endRecord()
      // At the end of a line.
      case (_, "\r") where scalars[index...].dropFirst().first ?? "\n" == "\n": break
      case (.quote, _):
        throw Failure(.input, "\(path), line \(line)", "text after a closing quotation mark")
      default:
        field.unicodeScalars.append(scalar)
        state = .plain
      }
      if scalar == "\n" { line += 1 }
    }
    guard state != .quoted else {
      throw Failure(.input, "\(path), line \(start)", "missing closing quotation mark")
    }
    if state != .start || !fields.isEmpty { endRecord() }
    return records
  }

  /// Where a character of CSV is.
  private enum State {
    /// At the start of a field.
    case start
    case plain
    case quoted
    /// After a quotation mark that ends a field, or is the first of two.
    case quote
  }
}

/// The row of a call. An object, so that what refers to it is copied at little cost.
final class DataRow {
  let value: JSONValue

  init(_ value: JSONValue) { self.value = value }
}
