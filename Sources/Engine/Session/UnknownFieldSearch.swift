import RPCurlProtobuf

/// Finds fields of messages that the schema lacks.
enum UnknownFieldSearch {
  /// The types of messages with such fields, and the numbers of these.
  static func of(_ message: Message) -> [(type: String, numbers: [UInt32])] {
    var found: [(type: String, numbers: [UInt32])] = []
    add(message, to: &found)
    return found
  }

  private static func add(_ message: Message, to found: inout [(type: String, numbers: [UInt32])]) {
    let numbers = Set(WireRecord.valid(in: message.unknownFields[...]).map(\.number)).sorted()
    if !numbers.isEmpty { found.append((message.type.name, numbers)) }
    message.forEachSetField { _, values in
      for case .message(let inner) in values { add(inner, to: &found) }
    }
  }
}
