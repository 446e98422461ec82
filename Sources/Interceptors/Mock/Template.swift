import Protobuf
import RPCProtocols

/// The values of a stub's placeholders during a call.
struct TemplateValues {
  /// The request message to respond to; the last one received.
  var request: Message?
  /// The request's metadata.
  var headers = Headers()
  /// The method that was called.
  var method: MethodName
  /// The number of request messages received.
  var count = 0
  /// The value functions; nil if stubs have none.
  var functions: ValueFunctions?

  /// Replaces the value functions in a part of a stub. Values of requests are not expanded.
  fileprivate func expand(_ text: Substring) throws(FormatError) -> String {
    guard let functions else { return String(text) }
    do throws(ValueFunctions.Problem) { return try functions.expand(String(text)) } catch {
      throw FormatError(reason: error.reason)
    }
  }

  /// The value of `name`: `request`, `request.PATH`, `header.NAME`, `method` or `count`.
  fileprivate func value(_ name: String) throws(FormatError) -> JSONValue {
    let isText = name.hasPrefix("text ")
    let name = String(name.dropFirst(isText ? 5 : 0).drop { $0 == " " })
    let value = try plainValue(name)
    guard isText else { return value }
    if case .string = value { return value }
    return .string(value.text)
  }

  private func plainValue(_ name: String) throws(FormatError) -> JSONValue {
    switch name {
    case "count": return .number("\(count)")
    case "method": return .string(method.description)
    case "request": return try Self.json { () throws in try request?.json() ?? Array("null".utf8) }
    default: break
    }
    if name.hasPrefix("header.") { return .string(headers.first(String(name.dropFirst(7))) ?? "") }
    guard name.hasPrefix("request.") else {
      throw FormatError(
        reason: "{{\(name)}}: use request, request.PATH, header.NAME, method or count")
    }
    guard let request else { return .null }
    do {
      let path = try FieldPath(String(name.dropFirst(8)))
      let json = try Self.json { () throws in try request.json(at: path) }
      // JSON has 64-bit numbers in quotes; a placeholder inserts them as numbers.
      if case .string(let digits) = json, FieldLeaf(of: path, in: request.type)?.is64BitInteger == true {
        return .number(digits)
      }
      return json
    } catch let error as FormatError {
      throw FormatError(reason: "{{\(name)}}: \(error.reason)")
    } catch {
      throw FormatError(reason: "{{\(name)}}: \(error)")
    }
  }

  private static func json(_ make: () throws -> [UInt8]) throws(FormatError) -> JSONValue {
    do {
      return try JSONValue(parsing: try make())
    } catch {
      throw FormatError(reason: "\(error)")
    }
  }
}

/// JSON with placeholders in its strings: `{{request.name}}`. A string that is exactly one placeholder is
/// replaced by the value with its type; within a longer text, a placeholder is replaced by the value's text.
enum Template {
  /// Fills in all placeholders of the JSON.
  static func fill(_ json: JSONValue, _ values: TemplateValues) throws(FormatError) -> JSONValue {
    switch json {
    case .string(let text): return try fill(text, values)
    case .array(let elements):
      var filled: [JSONValue] = []
      for element in elements { filled.append(try fill(element, values)) }
      return .array(filled)
    case .object(let members):
      var filled: [JSONValue.Member] = []
      for member in members {
        filled.append(JSONValue.Member(name: member.name, value: try fill(member.value, values)))
      }
      return .object(filled)
    case .null, .bool, .number: return json
    }
  }

  /// Fills in all placeholders of the text.
  static func text(_ text: String, _ values: TemplateValues) throws(FormatError) -> String {
    let filled = try fill(text, values)
    if case .string(let text) = filled { return text }
    return filled.text
  }

  private static func fill(_ text: String, _ values: TemplateValues) throws(FormatError) -> JSONValue {
    guard text.contains("{{") else { return .string(try values.expand(text[...])) }
    var filled = ""
    var rest = text[...]
    while let open = rest.firstRange(of: "{{") {
      guard let close = rest[open.upperBound...].firstRange(of: "}}") else {
        throw FormatError(reason: "\(text.debugDescription): {{ without }}")
      }
      let name = String(rest[open.upperBound..<close.lowerBound].trimmed)
      let value: JSONValue = name == "'{{'" ? .string("{{") : try values.value(name)
      if open.lowerBound == text.startIndex, close.upperBound == text.endIndex { return value }
      filled += try values.expand(rest[..<open.lowerBound])
      if case .string(let part) = value { filled += part } else if value != .null { filled += value.text }
      rest = rest[close.upperBound...]
    }
    return .string(filled + (try values.expand(rest)))
  }
}

extension FieldLeaf {
  /// Whether JSON quotes its values although they are numbers.
  var is64BitInteger: Bool {
    switch field.kind {
    case .int64, .sint64, .sfixed64, .uint64, .fixed64: !isWhole
    default: false
    }
  }
}
