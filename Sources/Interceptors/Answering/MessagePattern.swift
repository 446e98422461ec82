import RPCurlBase
import RPCurlProtobuf

/// A pattern for a message, as JSON of its type: all of its fields, or some.
struct MessagePattern {
  /// A difference between a message and a pattern.
  struct Difference: Equatable, CustomStringConvertible {
    let path: String
    let expected: String
    let found: String

    var description: String {
      "\(path.isEmpty ? "the message" : path) is \(found.shortened), expected \(expected.shortened)"
    }
  }

  private let json: JSONValue
  private let message: Message
  private let isExact: Bool

  /// - Throws: ``MessageParseError`` if the JSON is not valid for the type.
  init(_ json: JSONValue, of type: MessageType, isExact: Bool) throws(MessageParseError) {
    self.json = json
    self.isExact = isExact
    message = try Message(type, json: Array(json.text.utf8))
  }

  /// The differences of a message; empty if it matches.
  func differences(of other: Message) -> [Difference] {
    var found: [Difference] = []
    if case .object(let members) = json {
      compare(members, at: [], other, &found)
    } else {
      compareWhole(other, &found)
    }
    if isExact, found.isEmpty, other != message { compareWhole(other, &found) }
    return found
  }

  private func compareWhole(_ other: Message, _ found: inout [Difference]) {
    guard other != message else { return }
    found.append(Difference(path: "", expected: Self.text(message), found: Self.text(other)))
  }

  private static func text(_ message: Message) -> String {
    (try? message.json()).map { String(decoding: $0, as: UTF8.self) } ?? "unreadable"
  }

  private func compare(
    _ members: [JSONValue.Member], at steps: [FieldPath.Step], _ other: Message, _ found: inout [Difference]
  ) {
    for member in members {
      let isExtension = member.name.hasPrefix("[") && member.name.hasSuffix("]")
      let step: FieldPath.Step =
        isExtension ? .extension(String(member.name.dropFirst().dropLast())) : .field(member.name)
      compare(member.value, at: steps + [step], other, &found)
    }
  }

  private func compare(
    _ value: JSONValue, at steps: [FieldPath.Step], _ other: Message, _ found: inout [Difference]
  ) {
    let path = FieldPath(steps: steps)
    let leaf = FieldLeaf(of: path, in: message.type)
    switch value {
    case .object(let members) where leaf?.field.isMap == true && leaf?.isWhole == true:
      for member in members {
        let key = FieldPath.Subscript(member.name, keyOf: leaf?.field)
        compare(member.value, at: steps + [.subscripted(key)], other, &found)
      }
    case .object(let members) where leaf.map(Self.hasPlainFields) == true:
      compare(members, at: steps, other, &found)
    case .array(let elements) where leaf?.isWhole == true:
      let count = (try? other.length(path)) ?? 0
      guard count == elements.count else {
        return found.append(
          Difference(path: "\(path)", expected: "\(elements.count) elements", found: "\(count) elements"))
      }
      for (index, element) in elements.enumerated() {
        compare(element, at: steps + [.subscripted(.integer(Int64(index)))], other, &found)
      }
    default:
      let expected = Self.text(message, path)
      let actual = Self.text(other, path)
      if !expected.hasBytes(of: actual) {
        found.append(Difference(path: "\(path)", expected: expected, found: actual))
      }
    }
  }

  /// Whether the JSON form of the message is an object of its fields.
  private static func hasPlainFields(_ leaf: FieldLeaf) -> Bool {
    guard !leaf.isWhole, let name = leaf.field.messageType?.name else { return false }
    return !name.hasPrefix("google.protobuf.")
  }

  private static func text(_ message: Message, _ path: FieldPath) -> String {
    guard let json = try? message.json(at: path) else { return "nothing" }
    return String(decoding: json, as: UTF8.self)
  }
}
