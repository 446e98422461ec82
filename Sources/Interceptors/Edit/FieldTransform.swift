import RPCurlLanguage
import RPCurlProtobuf

/// The name of a function of a field's value.
package enum FieldFunction: String, CaseIterable {
  case upper, lower, trim, truncate, prefix, suffix, add

  /// The form of its argument; empty if it has none.
  package var argument: String {
    switch self {
    case .upper, .lower, .trim: ""
    case .truncate, .add: "(N)"
    case .prefix, .suffix: "(TEXT)"
    }
  }
}

/// A function of a field's value.
enum FieldTransform: Sendable {
  case upper
  case lower
  case trim
  case truncate(Int)
  case prefix(EditedText)
  case suffix(EditedText)
  case add(String)

  /// The functions, for errors.
  static let forms = FieldFunction.allCases.map { $0.rawValue + $0.argument }.joined(separator: ", ")

  /// Parses `NAME` or `NAME(ARGUMENT)`; nil if it is invalid.
  ///
  /// - Parameter values: The values of templates; nil if texts are not templates.
  init?(_ text: Substring, _ values: FunctionValues?) throws(LanguageError) {
    let open = text.firstIndex(of: "(") ?? text.endIndex
    guard let name = FieldFunction(rawValue: String(text[..<open])),
      name.argument.isEmpty == (open == text.endIndex),
      open == text.endIndex || text.last == ")"
    else { return nil }
    let argument = String(text[open...].dropFirst().dropLast())
    switch name {
    case .upper: self = .upper
    case .lower: self = .lower
    case .trim: self = .trim
    case .truncate:
      guard let count = Int(argument), count >= 0 else { return nil }
      self = .truncate(count)
    case .prefix: self = .prefix(try EditedText(argument, values))
    case .suffix: self = .suffix(try EditedText(argument, values))
    case .add:
      guard let number = Double(argument), number.isFinite else { return nil }
      self = .add(argument)
    }
  }

  /// The result for a value.
  ///
  /// - Throws: `LanguageError` if the function has no result for it.
  func apply(to value: Value) throws -> Value {
    switch (self, value) {
    case (.upper, .string(let text)): return .string(text.uppercased())
    case (.lower, .string(let text)): return .string(text.lowercased())
    case (.trim, .string(let text)): return .string(text.trimmingBlanks)
    case (.truncate(let count), .string(let text)): return .string(String(text.prefix(count)))
    case (.truncate(let count), .bytes(let bytes)): return .bytes(Array(bytes.prefix(count)))
    case (.prefix(let added), .string(let text)):
      return .string(try added.text() + text)
    case (.suffix(let added), .string(let text)):
      return .string(text + (try added.text()))
    case (.add(let number), _):
      guard let sum = Self.sum(value, number) else {
        throw LanguageError("add(\(number)) has no result of the field's type")
      }
      return sum
    default: throw LanguageError("the function does not apply to the field's type")
    }
  }

  /// The sum of a number and the text of another; nil for values of other types, and if the type has no such number.
  private static func sum(_ value: Value, _ text: String) -> Value? {
    switch value {
    case .double(let number):
      guard let added = Double(text) else { return nil }
      let sum = number + added
      return sum.isFinite || !number.isFinite ? .double(sum) : nil
    case .float(let number):
      guard let added = Double(text) else { return nil }
      let sum = Float(Double(number) + added)
      return sum.isFinite || !number.isFinite ? .float(sum) : nil
    default: break
    }
    guard let added = Int64(text) else { return nil }
    switch value {
    case .int32(let number):
      return Int32(exactly: Int64(number).addingReportingOverflow(added)).map { .int32($0) }
    case .uint32(let number):
      return UInt32(exactly: Int64(number).addingReportingOverflow(added)).map { .uint32($0) }
    case .int64(let number):
      let (sum, overflow) = number.addingReportingOverflow(added)
      return overflow ? nil : .int64(sum)
    case .uint64(let number):
      let (sum, overflow) =
        added < 0
        ? number.subtractingReportingOverflow(added.magnitude)
        : number.addingReportingOverflow(added.magnitude)
      return overflow ? nil : .uint64(sum)
    default: return nil
    }
  }
}

extension FixedWidthInteger {
  /// The value of a sum; nil if it overflowed, or is out of range.
  fileprivate init?(exactly sum: (partialValue: Int64, overflow: Bool)) {
    guard !sum.overflow else { return nil }
    self.init(exactly: sum.partialValue)
  }
}
