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
    let numbers = numbers(in: message.unknownFields)
    if !numbers.isEmpty { found.append((message.type.name, numbers)) }
    message.forEachSetField { _, values in
      for case .message(let inner) in values { add(inner, to: &found) }
    }
  }

  private static func numbers(in bytes: [UInt8]) -> [UInt32] {
    guard !bytes.isEmpty else { return [] }
    var numbers: Set<UInt32> = []
    bytes.withUnsafeBytes { bytes in
      var reader = WireReader(bytes)
      while !reader.isAtEnd, let tag = try? reader.tag() {
        numbers.insert(tag.number)
        guard (try? reader.skip(tag, depth: 0)) != nil else { return }
      }
    }
    return numbers.sorted()
  }
}
