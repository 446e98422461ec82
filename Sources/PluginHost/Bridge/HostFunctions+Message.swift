import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf

// Messages: scalars by path, JSON and bytes.
extension HostFunctions {
  func get(_ token: rpcurl_token, _ path: rpcurl_text) throws -> rpcurl_value {
    try read(token, path) { message, path, arena in
      guard let found = try message.valueOrDefault(at: path), let plain = rpcurl_value(found, arena) else {
        throw ABIFailure(RPCURL_ETYPE, "\(path) is a message: use get_json")
      }
      return plain
    }
  }

  func clear(_ token: rpcurl_token, _ path: rpcurl_text) throws {
    try change(token, path) { message, path in
      try message.requireElements(of: path)
      try message.clear(at: path)
    }
  }

  func getJSON(_ token: rpcurl_token, _ path: rpcurl_text) throws -> rpcurl_text {
    try read(token, path) { message, path, arena in
      arena.text(try message.json(at: path))
    }
  }

  func setJSON(_ token: rpcurl_token, _ path: rpcurl_text, _ json: rpcurl_text) throws {
    try change(token, path) { message, path in
      try message.setJSON(json.bytes(), at: path)
    }
  }

  // MARK: - Bytes

  func getPayload(_ token: rpcurl_token) throws -> rpcurl_text {
    try withValue(token, .readBytes) { value, arena in arena.text(try value.bytes) }
  }

  func setPayload(_ token: rpcurl_token, _ bytes: rpcurl_text) throws {
    let bytes = try bytes.bytes()
    let form = try held(token, "using a value").call.facts.codec.form
    try withValue(token, .change) { value, _ in
      // A plugin that receives typed messages may read the new one.
      let message = try value.access.isTyped ? form.parse(bytes, value.typed.type) : nil
      try value.setBytes(bytes)
      if let message { value.add(typed: message) }
    }
  }

  // MARK: - Messages without a place in the call

  func makeMessage(_ call: rpcurl_call, _ name: rpcurl_text) throws -> rpcurl_token {
    let made = try open(call, "message_new").makeMessage(try name.string())
    guard let number = instance.tokens.insert(made) else {
      throw ABIFailure(RPCURL_EFAILED, "too many values and messages")
    }
    return rpcurl_token(id: number)
  }

  func freeMessage(_ message: rpcurl_token) throws {
    guard try held(message, "message_free").isMade else {
      throw ABIFailure(RPCURL_ESTAGE, "this message is not from message_new")
    }
    _ = try live(instance.tokens.remove(message.id), "token", "message_free")
  }

  /// The typed message of a token.
  func typedMessage(_ token: rpcurl_token) throws -> Message {
    try withValue(token, .readTyped) { value, _ in try value.typed }
  }

  // MARK: - Helpers

  /// What a function does with a message.
  enum MessageUse {
    case readTyped, changeTyped, readBytes, change

    func isDeclared(by access: MessageAccess) -> Bool {
      switch self {
      case .readTyped: access.isTyped
      case .changeTyped: access == .changeTyped
      case .readBytes: access.isBytes
      case .change: access.mayChange
      }
    }

    /// The declarations that allow it.
    var declarations: String {
      switch self {
      case .readTyped: "RPCURL_MESSAGES_READ_TYPED or RPCURL_MESSAGES_CHANGE_TYPED"
      case .changeTyped: "RPCURL_MESSAGES_CHANGE_TYPED"
      case .readBytes: "RPCURL_MESSAGES_READ_BYTES or RPCURL_MESSAGES_CHANGE_BYTES"
      case .change: "RPCURL_MESSAGES_CHANGE_TYPED or RPCURL_MESSAGES_CHANGE_BYTES"
      }
    }
  }

  /// Reads a value of a typed message, at a path. An index that is out of range is an error.
  func read<Result>(
    _ token: rpcurl_token, _ path: rpcurl_text, _ body: (Message, FieldPath, Arena) throws -> Result
  ) throws -> Result {
    let path = try path.string()
    return try withValue(token, .readTyped) { value, arena in
      let message = try value.typed
      let path = try FieldPath(path, in: message.type)
      try message.requireElements(of: path)
      return try body(message, path, arena)
    }
  }

  /// Whether a typed message has a value.
  func has(_ token: rpcurl_token, _ path: rpcurl_text) throws -> Int {
    let path = try path.string()
    return try withValue(token, .readTyped) { value, _ in
      let message = try value.typed
      return try message.has(FieldPath(path, in: message.type)) ? 1 : 0
    }
  }

  /// Changes a typed message, at a path.
  func change(
    _ token: rpcurl_token, _ path: rpcurl_text, _ body: (inout Message, FieldPath) throws -> Void
  ) throws {
    let path = try path.string()
    try withValue(token, .changeTyped) { value, _ in
      let path = try FieldPath(path, in: value.typed.type)
      // With one reference to the storage, so that a change does not copy it.
      var message = try value.takeTyped()
      // A change that fails may have set the messages on its path.
      defer { value.putTyped(message, isChanged: true) }
      try body(&message, path)
    }
  }

  /// Changes a typed message by a scalar.
  func change(
    _ token: rpcurl_token, _ path: rpcurl_text, to plain: UnsafePointer<rpcurl_value>?,
    _ body: (inout Message, FieldPath, Value) throws -> Void
  ) throws {
    try change(token, path) { message, path in
      try body(&message, path, scalar(plain))
    }
  }

  /// Reads or changes the message of a stage, as the plugin declares it.
  private func withValue<Result>(
    _ token: rpcurl_token, _ use: MessageUse, _ body: (inout MessageValue, Arena) throws -> Result
  ) throws -> Result {
    try value(token) { value, arena in
      guard var message = value.message else { throw ABIFailure.wrongStage() }
      let isRequest = if case .requestMessage = value { true } else { false }
      guard use.isDeclared(by: message.access) else {
        let member = isRequest ? "request_messages" : "response_messages"
        throw ABIFailure(
          RPCURL_ESTAGE,
          "\(member) is \(message.access.constant): this function requires \(use.declarations)")
      }
      value = .requestEnd
      defer { value = .message(message, isRequest: isRequest) }
      return try body(&message, arena)
    }
  }

  private func scalar(_ value: UnsafePointer<rpcurl_value>?) throws -> Value {
    guard let value = value?.pointee else { throw ABIFailure.invalid("the value is null") }
    switch Int32(truncatingIfNeeded: value.type) {
    case RPCURL_TYPE_BOOL: return .bool(value.as.boolean != 0)
    case RPCURL_TYPE_INT64: return .int64(value.as.int64)
    case RPCURL_TYPE_UINT64: return .uint64(value.as.uint64)
    case RPCURL_TYPE_DOUBLE: return .double(value.as.float64)
    case RPCURL_TYPE_STRING: return .string(try value.as.text.string())
    case RPCURL_TYPE_BYTES: return .bytes(try value.as.text.bytes())
    case RPCURL_TYPE_ENUM: return .enum(value.as.number)
    default: throw ABIFailure.invalid("unknown value type: \(value.type)")
    }
  }
}

extension MessageAccess {
  /// RPCURL_MESSAGES_...
  fileprivate var constant: String {
    let names = ["CHANGE_TYPED", "NONE", "READ_TYPED", "READ_BYTES", "CHANGE_BYTES", "OPAQUE", "DECODE"]
    return "RPCURL_MESSAGES_\(names[Int(rawValue)])"
  }
}

extension Message {
  /// Throws for an index in a path beyond the end of a list. An absent key of a map is no error: its value is unset.
  func requireElements(of path: FieldPath) throws(FieldPathError) {
    for (place, step) in path.steps.enumerated() {
      guard case .subscripted(.integer(let index)) = step else { continue }
      let list = FieldPath(steps: Array(path.steps[..<place]))
      guard case .field(let field, _, false) = try list.leaf(in: type), field.isRepeated, !field.isMap else {
        continue
      }
      let count = try length(list)
      guard (-Int64(count)..<Int64(count)).contains(index) else {
        throw .indexOutOfRange(field: list.description, index: index, count: count)
      }
    }
  }

  /// The value of a field; its default if it is not set, and nil for a message that is not set.
  func valueOrDefault(at path: FieldPath) throws -> Value? {
    if let value = try value(at: path) { return value }
    return try type.field(at: path).defaultValue
  }
}

extension FieldPath {
  /// Parses a path; the empty text is the path of the whole message.
  ///
  /// - Throws: ``FieldPathError`` for an invalid path, or if the type lacks the first field. A plugin may receive messages of
  ///   types for which its paths are not meant, and in a Struct or a Value any name would be a key.
  fileprivate init(_ text: String, in type: MessageType) throws(FieldPathError) {
    try self.init(text.isEmpty ? "." : text)
    try requireField(in: type)
  }
}

extension ABIFailure {
  /// The failure of a function that throws an error.
  init(_ error: any Error) {
    switch error {
    case let failure as ABIFailure: self = failure
    case let error as InvalidValue: self = .invalid(error.reason)
    case let error as FieldPathError: self.init(Self.code(error), "\(error)")
    // JSON or bytes that cannot be parsed.
    default: self.init(RPCURL_EPARSE, "\(error)")
    }
  }

  private static func code(_ error: FieldPathError) -> Int32 {
    switch error {
    case .syntax, .unknownField, .notAMessage, .notIndexable, .needsSubscript, .wrongKeyType, .schema,
      .notAnAny:
      RPCURL_EPATH
    case .indexOutOfRange: RPCURL_ENOENT
    case .outOfRange: RPCURL_ERANGE
    case .wrongType, .notReadable, .notUTF8, .notAList: RPCURL_ETYPE
    case .encoding, .json: RPCURL_EPARSE
    }
  }
}

extension rpcurl_value {
  /// Converts a scalar to the plugin's form; `nil` for a message.
  init?(_ value: Value, _ arena: Arena) {
    self.init()
    switch value {
    case .bool(let value): put(RPCURL_TYPE_BOOL) { $0.boolean = value ? 1 : 0 }
    case .int32(let value): put(RPCURL_TYPE_INT64) { $0.int64 = Int64(value) }
    case .int64(let value): put(RPCURL_TYPE_INT64) { $0.int64 = value }
    case .uint32(let value): put(RPCURL_TYPE_UINT64) { $0.uint64 = UInt64(value) }
    case .uint64(let value): put(RPCURL_TYPE_UINT64) { $0.uint64 = value }
    case .float(let value): put(RPCURL_TYPE_DOUBLE) { $0.float64 = Double(value) }
    case .double(let value): put(RPCURL_TYPE_DOUBLE) { $0.float64 = value }
    case .string(let value): put(RPCURL_TYPE_STRING) { $0.text = arena.text(value) }
    case .bytes(let value): put(RPCURL_TYPE_BYTES) { $0.text = arena.text(value) }
    case .enum(let value): put(RPCURL_TYPE_ENUM) { $0.number = value }
    case .message: return nil
    }
  }

  private mutating func put(_ type: Int32, _ body: (inout rpcurl_value.__Unnamed_union_as) -> Void) {
    self.type = UInt32(type)
    body(&self.as)
  }
}
