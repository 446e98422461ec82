import CPluginABI
import Interception
import Protobuf

// Messages: scalars by path, JSON and bytes.
extension HostFunctions {
  static func get(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ value: UnsafeMutablePointer<rpcurl_value>?
  ) -> Int32 {
    read(host, token, path, into: value) { message, path, arena in
      let path = try path ?? FieldPath("")
      guard let found = try message.valueOrDefault(at: path), let plain = rpcurl_value(found, arena) else {
        throw ABIFailure(RPCURL_ETYPE, "\(path) is a message: use get_json")
      }
      return plain
    }
  }

  static func set(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ value: UnsafePointer<rpcurl_value>?
  ) -> Int32 {
    change(host, token, path, to: value) { message, path, value in try message.set(value, at: path) }
  }

  static func append(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ value: UnsafePointer<rpcurl_value>?
  ) -> Int32 {
    change(host, token, path, to: value) { message, path, value in try message.append(value, at: path) }
  }

  static func clear(_ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text) -> Int32 {
    change(host, token, path) { message, path in
      guard let path else { return message = Message(message.type) }
      try requireElement(path, in: message)
      try message.clear(at: path)
    }
  }

  /// Throws for an index beyond the end of a list. An absent map key is not an error: it is already cleared.
  private static func requireElement(_ path: FieldPath, in message: Message) throws(FieldPathError) {
    guard case .subscripted(.integer(let index))? = path.steps.last else { return }
    let list = try FieldPath(steps: path.steps.dropLast())
    guard try !message.type.field(at: list).isMap else { return }
    let count = try message.length(list)
    guard index >= 0, index < count else {
      throw .indexOutOfRange(field: list.description, index: index, count: count)
    }
  }

  static func has(_ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text) -> Int32 {
    Int32(truncatingIfNeeded: count(host, token, path) { message, path in try message.has(path) ? 1 : 0 })
  }

  static func length(_ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text) -> Int64 {
    count(host, token, path) { message, path in try message.length(path) }
  }

  static func getJSON(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ json: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    read(host, token, path, into: json) { message, path, arena in
      arena.text(try path.map { try message.json(at: $0) } ?? message.json())
    }
  }

  static func setJSON(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ json: rpcurl_text
  ) -> Int32 {
    change(host, token, path) { message, path in
      let json = try json.bytes()
      if let path {
        try message.setJSON(json, at: path)
      } else {
        message = try Message(message.type, json: json)
      }
    }
  }

  // MARK: - Bytes

  static func getPayload(
    _ host: Host?, _ token: rpcurl_token, _ bytes: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard let bytes else { throw invalid("the result is null") }
      bytes.pointee = try withValue(instance, token, .readBytes) { value, arena in
        arena.text(try value.bytes)
      }
    }
  }

  static func setPayload(_ host: Host?, _ token: rpcurl_token, _ bytes: rpcurl_text) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let bytes = try bytes.bytes()
      let form = try held(instance, token, "using a value").call.facts.codec.form
      try withValue(instance, token, .change) { value, _ in
        // A plugin that receives typed messages may read the new one.
        let message = try value.access.isTyped ? form.parse(bytes, value.typed.type) : nil
        try value.setBytes(bytes)
        if let message { value.add(typed: message) }
      }
    }
  }

  // MARK: - Messages without a place in the call

  static func makeMessage(
    _ host: Host?, _ call: rpcurl_call, _ name: rpcurl_text, _ message: UnsafeMutablePointer<rpcurl_token>?
  ) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard let message else { throw invalid("the token is null") }
      let made = try open(call, instance, "message_new").makeMessage(try name.string())
      guard let number = instance.tokens.insert(made) else {
        throw ABIFailure(RPCURL_EFAILED, "too many values and messages")
      }
      message.pointee = rpcurl_token(id: number)
    }
  }

  static func freeMessage(_ host: Host?, _ message: rpcurl_token) -> Int32 {
    self.call(host) { instance throws(ABIFailure) in
      guard try held(instance, message, "message_free").isMade else {
        throw ABIFailure(RPCURL_ESTAGE, "this message is not from message_new")
      }
      _ = try live(instance.tokens.remove(message.id), instance, "token", "message_free")
    }
  }

  /// The typed message of a token.
  static func typedMessage(_ instance: PluginInstance, _ token: rpcurl_token) throws(ABIFailure) -> Message {
    try withValue(instance, token, .readTyped) { value, _ in try value.typed }
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
  static func read<Result>(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, into result: UnsafeMutablePointer<Result>?,
    _ body: (Message, FieldPath?, Arena) throws -> Result
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard let result else { throw invalid("the result is null") }
      let path = try path.string()
      result.pointee = try withValue(instance, token, .readTyped) { value, arena in
        try body(value.typed, path.isEmpty ? nil : FieldPath(path), arena)
      }
    }
  }

  /// Counts in a typed message.
  private static func count(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ body: (Message, FieldPath) throws -> Int
  ) -> Int64 {
    count(host) { instance throws(ABIFailure) in
      let path = try path.string()
      return try withValue(instance, token, .readTyped) { value, _ in try body(value.typed, FieldPath(path)) }
    }
  }

  /// Changes a typed message, at a path; nil for the empty one.
  ///
  /// - Parameter isInteger: Whether an integer is assigned, which may be out of range.
  static func change(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, isInteger: Bool = false,
    _ body: (inout Message, FieldPath?) throws -> Void
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let path = try path.string()
      try withValue(instance, token, .changeTyped, isInteger: isInteger) { value, _ in
        let path = try path.isEmpty ? nil : FieldPath(path)
        // With one reference to the storage, so that a change does not copy it.
        var message = try value.takeTyped()
        // A change that fails may have set the messages on its path.
        defer { value.putTyped(message, isChanged: true) }
        try body(&message, path)
      }
    }
  }

  /// Changes a typed message by a scalar.
  private static func change(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, to plain: UnsafePointer<rpcurl_value>?,
    _ body: (inout Message, FieldPath, Value) throws -> Void
  ) -> Int32 {
    let kind = plain.map { Int32(truncatingIfNeeded: $0.pointee.type) }
    let isInteger = kind == RPCURL_TYPE_INT64 || kind == RPCURL_TYPE_UINT64
    return change(host, token, path, isInteger: isInteger) { message, path in
      try body(&message, path ?? FieldPath(""), scalar(plain))
    }
  }

  /// Reads or changes the message of a stage, as the plugin declares it.
  private static func withValue<Result>(
    _ instance: PluginInstance, _ token: rpcurl_token, _ use: MessageUse, isInteger: Bool = false,
    _ body: (inout MessageValue, Arena) throws -> Result
  ) throws(ABIFailure) -> Result {
    try value(instance, token) { value, arena throws(ABIFailure) in
      guard var message = value.message else { throw wrongStage() }
      let isRequest = value.isRequest
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

  private static func scalar(_ value: UnsafePointer<rpcurl_value>?) throws(ABIFailure) -> Value {
    guard let value = value?.pointee else { throw invalid("the value is null") }
    switch Int32(truncatingIfNeeded: value.type) {
    case RPCURL_TYPE_BOOL: return .bool(value.as.boolean != 0)
    case RPCURL_TYPE_INT64: return .int64(value.as.int64)
    case RPCURL_TYPE_UINT64: return .uint64(value.as.uint64)
    case RPCURL_TYPE_DOUBLE: return .double(value.as.float64)
    case RPCURL_TYPE_STRING: return .string(try value.as.text.string())
    case RPCURL_TYPE_BYTES: return .bytes(try value.as.text.bytes())
    case RPCURL_TYPE_ENUM: return .enum(value.as.number)
    default: throw invalid("unknown value type: \(value.type)")
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
  func valueOrDefault(at path: FieldPath) throws(FieldPathError) -> Value? {
    if let value = try value(at: path) { return value }
    return try type.field(at: path).defaultValue
  }
}

extension ABIFailure {
  /// The failure of a function that reads or changes a message.
  ///
  /// - Parameter isInteger: Whether an integer is assigned, which may be out of range.
  fileprivate init(_ error: any Error, isInteger: Bool) {
    switch error {
    case let failure as ABIFailure: self = failure
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
