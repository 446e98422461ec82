import RPCurlLanguage
import RPCurlProtobuf

/// A field that two messages of a type have with different values.
struct MessageDifference: Equatable {
  /// The path of the field, such as `items[0].title`.
  let path: String
  /// The values as JSON; nil if a message lacks the field.
  let value: String?
  let other: String?

  /// The maximum number of differences that are found.
  static let limit = 100

  /// The differences of two messages, in the order of their fields, up to a limit.
  static func all(_ one: Message, _ other: Message) -> [MessageDifference] {
    guard one != other else { return [] }
    var found: [MessageDifference] = []
    if let value = json(one), let other = json(other) { compare(value, other, "", &found) }
    guard found.isEmpty else { return found }
    // Fields without a schema, and messages without a JSON form.
    return [MessageDifference(path: "(unknown fields)", value: size(one), other: size(other))]
  }

  private static func json(_ message: Message) -> JSONValue? {
    var options = JSONEncodingOptions()
    options.protoNames = true
    return (try? message.json(options: options)).flatMap { try? JSONValue(parsing: $0) }
  }

  private static func size(_ message: Message) -> String { "\"\(message.serialized().count) bytes\"" }

  private static func compare(
    _ value: JSONValue?, _ other: JSONValue?, _ path: String, _ found: inout [MessageDifference]
  ) {
    guard found.count < limit else { return }
    switch (value, other) {
    case (.object(let members), .object(let others)):
      for pair in JSONComparison.pairs(members, others) where found.count < limit {
        compare(pair.expected, pair.got, Self.path(path, pair.name), &found)
      }
    case (.array(let elements), .array(let others)):
      for index in 0..<max(elements.count, others.count) where found.count < limit {
        compare(
          index < elements.count ? elements[index] : nil, index < others.count ? others[index] : nil,
          "\(path)[\(index)]", &found)
      }
    default:
      if value != other {
        found.append(
          MessageDifference(path: path.isEmpty ? "(message)" : path, value: value?.text, other: other?.text))
      }
    }
  }

  /// The path of a member: `.name`, or `["key"]` for keys of maps that are not names.
  private static func path(_ path: String, _ name: String) -> String {
    let isName = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: false
      }
    }
    guard isName, let first = name.utf8.first, first > UInt8(ascii: "9") else {
      return "\(path)[\(JSONValue.quoted(name))]"
    }
    return path.isEmpty ? name : "\(path).\(name)"
  }
}
