import RPCurlProtobuf
import RPCurlProtocols

/// A value that breaks a rule.
package struct Violation: Equatable {
  /// The path of the field; empty for the whole message.
  let field: String
  /// The identifier of the rule, such as `string.min_len`.
  let rule: String
  /// The message.
  let message: String

  /// One line: field, message and rule; the rule is omitted if the message contains it.
  var text: String {
    let isNamed = rule.isEmpty || message.contains(rule)
    return "\(field.isEmpty ? "" : "\(field): ")\(message)\(isNamed ? "" : " [\(rule)]")"
  }

  /// The serialized form of `google.rpc.BadRequest.FieldViolation`.
  private var serialized: [UInt8] {
    var bytes: [UInt8] = []
    for (number, text) in [(1, field), (2, message), (3, rule)] where !text.isEmpty {
      bytes.append(UInt8(number << 3 | 2))
      bytes.append(delimited: Array(text.utf8))
    }
    return bytes
  }

  /// The detail of an error: a `google.rpc.BadRequest`.
  static func detail(_ violations: [Violation]) -> StatusDetail {
    var bytes: [UInt8] = []
    for violation in violations {
      bytes.append(1 << 3 | 2)
      bytes.append(delimited: violation.serialized)
    }
    return StatusDetail(typeName: "google.rpc.BadRequest", value: bytes)
  }
}
