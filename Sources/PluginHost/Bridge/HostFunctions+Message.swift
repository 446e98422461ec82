import CPluginABI
import Interception
import Protobuf

// Messages: scalars by path, JSON and bytes.
extension HostFunctions {
  func get(_ token: rpcurl_token, _ path: rpcurl_text) throws -> rpcurl_value {
    try read(token, path) { message, path, arena in
      let path = try path ?? FieldPath("")
      guard let found = try message.valueOrDefault(at: path), let plain = rpcurl_value(found, arena) else {
        throw ABIFailure(RPCURL_ETYPE, "\(path) is a message: use get_json")
      }
      return plain
    }
  }

  func clear(_ token: rpcurl_token, _ path: rpcurl_text) throws {
    try change(token, path) { message, path in
      guard let path else { return message = Message(message.type) }
      try requireElement(path, in: message)
      try message.clear(at: path)
    }
  }

  /// Throws for an index beyond the end of a list. An absent map key is not an error: it is already cleared.
  private func requireElement(_ path: FieldPath, in message: Message) throws {
    guard case .subscripted(.integer(let index))? = path.steps.last else { return }
    let list = try FieldPath(steps: path.steps.dropLast())
    guard try !message.type.field(at: list).isMap else { return }
    let count = try message.length(list)
    guard index >= 0, index < count else {
      throw FieldPathError.indexOutOfRange(field: list.description, index: index, count: count)
    }
  }

  func getJSON(_ token: rpcurl_token, _ path: rpcurl_text) throws -> rpcurl_text {
    try read(token, path) { message, path, arena in
      arena.text(try path.map { try message.json(at: $0) } ?? message.json())
    }
  }

  func setJSON(_ token: rpcurl_token, _ path: rpcurl_text, _ json: rpcurl_text) throws {
    try change(token, path) { message, path in
      let json = try json.bytes()
      if let path {
        try message.setJSON(json, at: path)
      } else {
        message = try Message(message.type, json: json)
      }
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

  /// Reads a value of a typed message, at a path; nil for the empty one.
  func read<Result>(
    _ token: rpcurl_token, _ path: rpcurl_text, _ body: (Message, FieldPath?, Arena) throws -> Result
  ) throws -> Result {
    let path = try path.string()
    return try withValue(token, .readTyped) { value, arena in
      try body(value.typed, path.isEmpty ? nil : FieldPath(path), arena)
    }
  }

  /// Counts in a typed message.
  func measure(
    _ token: rpcurl_token, _ path: rpcurl_text, _ body: (Message, FieldPath) throws -> Int
  ) throws -> Int {
    try read(token, path) { message, path, _ in try body(message, path ?? FieldPath("")) }
  }

  /// Changes a typed message, at a path; nil for the empty one.
  ///
  /// - Parameter isInteger: Whether an integer is assigned, which may be out of range.
  func change(
    _ token: rpcurl_token, _ path: rpcurl_text, isInteger: Bool = false,
    _ body: (inout Message, FieldPath?) throws -> Void
  ) throws {
    let path = try path.string()
    try withValue(token, .changeTyped, isInteger: isInteger) { value, _ in
      let path = try path.isEmpty ? nil : FieldPath(path)
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
    let kind = plain.map { Int32(truncatingIfNeeded: $0.pointee.type) }
    let isInteger = kind == RPCURL_TYPE_INT64 || kind == RPCURL_TYPE_UINT64
    try change(token, path, isInteger: isInteger) { message, path in
      try body(&message, path ?? FieldPath(""), scalar(plain))
    }
  }

  /// Reads or changes the message of a stage, as the plugin declares it.
  private func withValue<Result>(
    _ token: rpcurl_token, _ use: MessageUse, isInteger: Bool = false,
    _ body: (inout MessageValue, Arena) throws -> Result
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
      do {
        return try body(&message, arena)
      } catch {
        throw ABIFailure(error, isInteger: isInteger)
      }
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
  /// The value of a field; its default if it is not set, and nil for a message that is not set.
  func valueOrDefault(at path: FieldPath) throws -> Value? {
    if let value = try value(at: path) { return value }
    return try type.field(at: path).defaultValue
  }
}

extension ABIFailure {
  /// The failure of a function that throws an error.
  ///
  /// - Parameter isInteger: Whether an integer is assigned, which may be out of range.
  init(_ error: any Error, isInteger: Bool = false) {
    switch error {
    case let failure as ABIFailure: self = failure
    case let error as InvalidValue: self = .invalid(error.reason)
    case let error as FieldPathError: self.init(Self.code(error, isInteger), "\(error)")
    // JSON or bytes that cannot be parsed.
    default: self.init(RPCURL_EPARSE, "\(error)")
    }
  }

  private static func code(_ error: FieldPathError, _ isInteger: Bool) -> Int32 {
    switch error {
    case .syntax, .unknownField, .notAMessage, .notIndexable, .needsSubscript, .wrongKeyType, .schema:
      RPCURL_EPATH
    case .indexOutOfRange: RPCURL_ENOENT
    case .wrongType(_, let expected) where isInteger && expected.contains("int"): RPCURL_ERANGE
    case .wrongType, .notAList: RPCURL_ETYPE
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
