/// The message types with a special JSON form.
package enum WellKnownKind: Sendable {
  case any, timestamp, duration, fieldMask, structure, value, listValue, wrapper

  /// Nil for other types, also one with the name of a well-known type but other fields.
  init?(typeName: String, fields: [FieldNode]) {
    guard typeName.hasPrefix("google.protobuf.") else { return nil }
    func has(_ shape: (UInt32, FieldKind)...) -> Bool {
      fields.count == shape.count
        && zip(fields, shape).allSatisfy { $0.number == $1.0 && $0.kind == $1.1 }
    }
    switch typeName.dropFirst("google.protobuf.".count) {
    case "Any" where has((1, .string), (2, .bytes)): self = .any
    case "Timestamp" where has((1, .int64), (2, .int32)): self = .timestamp
    case "Duration" where has((1, .int64), (2, .int32)): self = .duration
    case "FieldMask" where has((1, .string)) && fields[0].isRepeated: self = .fieldMask
    case "Struct" where has((1, .message)) && fields[0].isMap: self = .structure
    case "ListValue" where has((1, .message)) && fields[0].isRepeated: self = .listValue
    case "Value"
    where has((1, .enumeration), (2, .double), (3, .string), (4, .bool), (5, .message), (6, .message)):
      self = .value
    case "DoubleValue" where has((1, .double)), "FloatValue" where has((1, .float)),
      "Int64Value" where has((1, .int64)), "UInt64Value" where has((1, .uint64)),
      "Int32Value" where has((1, .int32)), "UInt32Value" where has((1, .uint32)),
      "BoolValue" where has((1, .bool)), "StringValue" where has((1, .string)),
      "BytesValue" where has((1, .bytes)):
      self = .wrapper
    default: return nil
    }
  }
}
