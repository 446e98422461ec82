import RPCurlChainSupport
import RPCurlProtobuf
import RPCurlProtocols

@testable import RPCurlValidate

/// Types that have rules of their own.
private let wellKnownTypes = [
  "Any", "Duration", "Timestamp", "FieldMask", "StringValue", "Int64Value", "BytesValue", "DoubleValue",
  "BoolValue", "Value",
]

private func delimited(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
  varint(number << 3 | 2) + varint(bytes.count) + bytes
}

private func text(_ number: Int, _ text: String) -> [UInt8] { delimited(number, Array(text.utf8)) }

private func number(_ number: Int, _ value: Int) -> [UInt8] { varint(number << 3) + varint(value) }

private func varint(_ value: Int) -> [UInt8] {
  value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F | 0x80)] + varint(value >> 7)
}

/// The kind of a field by a byte: 1 to 18 are those of descriptors, then follow the well-known types.
private func type(_ choice: Int) -> [UInt8] {
  switch choice {
  case 11: return number(5, 11) + text(6, ".a.M")
  case 14: return number(5, 14) + text(6, ".a.E")
  case 0, 10: return number(5, 9)
  case 1...18: return number(5, choice)
  default:
    return number(5, 11) + text(6, ".google.protobuf.\(wellKnownTypes[(choice - 19) % wellKnownTypes.count])")
  }
}

/// A field `f` of the chosen type, or a list or a map of it, with these rules.
private func field(_ choice: UInt8, _ rules: [UInt8], as source: UInt32) -> [UInt8] {
  let options = delimited(8, delimited(Int(source), rules))
  let head = text(1, "f") + number(3, 1) + options
  if choice & 64 != 0 {
    let key = text(1, "key") + number(3, 1) + number(4, 1) + type(choice & 128 == 0 ? 9 : 5)
    let value = text(1, "value") + number(3, 2) + number(4, 1) + type(Int(choice & 31))
    let entry = text(1, "FEntry") + delimited(2, key) + delimited(2, value) + delimited(7, number(7, 1))
    return delimited(2, head + number(4, 3) + number(5, 11) + text(6, ".a.M.FEntry")) + delimited(3, entry)
  }
  return delimited(2, head + number(4, choice & 32 == 0 ? 1 : 3) + type(Int(choice & 31)))
}

/// A file with a message `a.M`, whose field and itself have these rules.
private func file(
  _ choice: UInt8, _ fieldRules: [UInt8], as source: UInt32, _ messageRules: [UInt8]
) -> [UInt8] {
  let own = delimited(Int(RuleCompiler.extensionNumber), messageRules)
  let other = text(1, "g") + number(3, 2) + number(4, 1) + number(5, 9) + number(9, 0)
  let oneof = text(1, "o") + delimited(2, delimited(Int(RuleCompiler.extensionNumber), number(1, 1)))
  let message =
    text(1, "M") + field(choice, fieldRules, as: source) + delimited(2, other) + delimited(8, oneof)
    + delimited(7, own)
  let zero = text(1, "ZERO") + number(2, 0)
  let imports = ["any", "duration", "timestamp", "field_mask", "wrappers", "struct"].flatMap {
    text(3, "google/protobuf/\($0).proto")
  }
  return text(1, "a.proto") + text(2, "a") + imports + delimited(4, message)
    + delimited(5, text(1, "E") + delimited(2, zero)) + text(12, "proto3")
}

/// Compiles the rules of a field and of a message, and validates a message. The first byte chooses the type of the
/// field, and the next two are the sizes of both rules.
func fuzzValidation(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count >= 3 else { return 0 }
  let bytes = [UInt8](UnsafeBufferPointer(start: start + 3, count: count - 3))
  let fieldRules = Array(bytes.prefix(Int(start[1])))
  let rest = bytes.dropFirst(fieldRules.count)
  let messageRules = Array(rest.prefix(Int(start[2])))
  let content = Array(rest.dropFirst(messageRules.count))
  for number in [RuleCompiler.extensionNumber, OlderRules.extensionNumber] {
    validate(content, file(start[0], fieldRules, as: number, messageRules))
  }
  return 0
}

private func validate(_ content: [UInt8], _ file: [UInt8]) {
  let pool = DescriptorPool()
  let set = SchemaBytes(delimited(1, file))
  precondition((try? pool.add(set, source: "fuzz")) != nil, "options do not make a file invalid")
  for library in RuleMessages.schemas { try? pool.add(library, source: "libraries") }
  guard let type = try? pool.messageType(named: "a.M") else { fatalError("the type is in the schema") }
  for message in [Message(type), try? Message(type, serialized: content)].compactMap({ $0 }) {
    let violations = find(message)
    precondition(violations.count <= MessageValidator.limit, "violations are bounded")
    precondition(find(message) == violations, "a message has one result")
  }
}

private func find(_ message: Message) -> [Violation] {
  var validator = MessageValidator(RuleBook(), now: 0) { _ in }
  validator.validate(message)
  _ = Violation.detail(validator.violations)
  return validator.violations
}
