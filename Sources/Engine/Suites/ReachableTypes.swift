import RPCurlProtobuf

extension MessageType {
  /// Calls `body` with this type, the types of its fields, those of their fields and so on, and the fields of each.
  /// The types of `google.protobuf` are no part of an API.
  ///
  /// - Parameters:
  ///   - known: The names of types that are omitted; those of the others are added.
  ///   - body: Receives each type, and its fields.
  func forEachReachable(besides known: inout Set<String>, _ body: (MessageType, [Field]) -> Void) {
    var waiting = [self]
    while let type = waiting.popLast() {
      guard !type.name.hasPrefix("google.protobuf."), known.insert(type.name).inserted,
        let fields = try? type.fields()
      else { continue }
      waiting += fields.compactMap { ($0.mapValue ?? $0).messageType }
      body(type, fields)
    }
  }
}
