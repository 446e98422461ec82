import RPCurlLanguage
import RPCurlProtobuf

/// The types of columns of CSV: `age:int,ok:bool`. The values of other columns are text.
package struct ColumnTypes: Equatable {
  fileprivate enum Kind: String, CaseIterable {
    case int, number, bool, json, string
  }

  private struct Column: Equatable {
    let name: String
    let kind: Kind
  }

  private var columns: [Column] = []

  /// Text for all columns.
  package init() {}

  /// Parses `NAME:TYPE,…`.
  package init(parsing text: String) throws(LanguageError) {
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let colon = part.lastIndex(of: ":") ?? part.startIndex
      guard colon > part.startIndex, let kind = Kind(rawValue: String(part[colon...].dropFirst())) else {
        throw LanguageError(
          "\(part): not a column and its type",
          hint: "such as age:int; types are \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      columns.append(Column(name: String(part[..<colon]), kind: kind))
    }
  }

  /// Whether all columns are text.
  package var isEmpty: Bool { columns.isEmpty }

  /// The columns that have a type.
  package var names: [String] { columns.map(\.name) }

  /// The value of a field. An empty one that is not text is null.
  func value(of field: String, in name: String) throws(LanguageError) -> JSONValue {
    guard let kind = columns.first(where: { $0.name == name })?.kind, kind != .string else {
      return .string(field)
    }
    guard !field.isEmpty else { return .null }
    guard let value = kind.value(of: field) else {
      throw LanguageError("\(name): \(JSONValue.quoted(field)) is not a value of the type \(kind.rawValue)")
    }
    return value
  }
}

extension ColumnTypes.Kind {
  /// The value of a field that is not empty; nil if it is of another type.
  fileprivate func value(of field: String) -> JSONValue? {
    switch self {
    case .int: return Int128(field).map { .number("\($0)") }
    case .number:
      guard case .number(let text)? = try? JSONValue(parsing: Array(field.utf8)) else { return nil }
      return .number(text)
    // Spreadsheets write TRUE.
    case .bool: return ["true": .bool(true), "false": .bool(false)][field.lowercased()]
    case .json: return try? JSONValue(parsing: Array(field.utf8))
    case .string: return .string(field)
    }
  }
}
