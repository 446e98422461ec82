import CPluginABI
import Interception
import Protobuf

// Fields of messages by path, and messages as JSON and as bytes.
extension HostFunctions {
  static func get(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ value: UnsafeMutablePointer<rpcurl_value>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard let value else { throw invalid("the value is null") }
      let path = try fieldPath(path)
      value.pointee = try withMessage(instance, token) { message, arena throws(ABIFailure) in
        let found = try fields { () throws(FieldPathError) -> Value? in
          if let found = try message.value(at: path) { return found }
          return try message.type.field(at: path).defaultValue
        }
        guard let found, let plain = rpcurl_value(found, arena) else {
          throw ABIFailure(RPCURL_ETYPE, "\(path) is a message: use get_json")
        }
        return plain
      }
    }
  }

  static func set(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ value: UnsafePointer<rpcurl_value>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let (path, value) = (try fieldPath(path), try scalar(value))
      try withMessage(instance, token) { message, _ throws(ABIFailure) in
        try fields(isInteger: value.isInteger) { () throws(FieldPathError) in try message.set(value, at: path)
        }
      }
    }
  }

  static func append(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ value: UnsafePointer<rpcurl_value>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let (path, value) = (try fieldPath(path), try scalar(value))
      try withMessage(instance, token) { message, _ throws(ABIFailure) in
        try fields(isInteger: value.isInteger) { () throws(FieldPathError) in
          try message.append(value, at: path)
        }
      }
    }
  }

  static func clear(_ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard path.size > 0 else {
        return try withMessage(instance, token) { message, _ in message = Message(message.type) }
      }
      let path = try fieldPath(path)
      try withMessage(instance, token) { message, _ throws(ABIFailure) in
        try requireElement(path, in: message)
        try fields { () throws(FieldPathError) in try message.clear(at: path) }
      }
    }
  }

  /// Throws for an index beyond the end of a list. An absent map key is not an error: it is already cleared.
  private static func requireElement(_ path: FieldPath, in message: Message) throws(ABIFailure) {
    guard case .subscripted(.integer(let index))? = path.steps.last else { return }
    try fields { () throws(FieldPathError) in
      let list = try FieldPath(steps: path.steps.dropLast())
      guard try !message.type.field(at: list).isMap else { return }
      let count = try message.length(list)
      guard index >= 0, index < count else {
        throw .indexOutOfRange(field: list.description, index: index, count: count)
      }
    }
  }

  static func has(_ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text) -> Int32 {
    let answer = count(host) { instance throws(ABIFailure) in
      let path = try fieldPath(path)
      return try withMessage(instance, token) { message, _ throws(ABIFailure) in
        try fields { () throws(FieldPathError) in try message.has(path) } ? 1 : 0
      }
    }
    return Int32(truncatingIfNeeded: answer)
  }

  static func length(_ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text) -> Int64 {
    count(host) { instance throws(ABIFailure) in
      let path = try fieldPath(path)
      return try withMessage(instance, token) { message, _ throws(ABIFailure) in
        try fields { () throws(FieldPathError) in try message.length(path) }
      }
    }
  }

  static func getJSON(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ json: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard let json else { throw invalid("the text is null") }
      let path = path.size == 0 ? nil : try fieldPath(path)
      json.pointee = try withMessage(instance, token) { message, arena throws(ABIFailure) in
        if let path {
          return arena.text(try fields { () throws(FieldPathError) in try message.json(at: path) })
        }
        do throws(DecodeError) {
          return arena.text(try message.json())
        } catch {
          throw ABIFailure(RPCURL_EPARSE, "\(error)")
        }
      }
    }
  }

  static func setJSON(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ json: rpcurl_text
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let json = try json.bytes()
      let path = path.size == 0 ? nil : try fieldPath(path)
      try withMessage(instance, token) { message, _ throws(ABIFailure) in
        if let path {
          return try fields { () throws(FieldPathError) in try message.setJSON(json, at: path) }
        }
        do throws(MessageParseError) {
          message = try Message(message.type, json: json)
        } catch {
          throw ABIFailure(RPCURL_EPARSE, "\(error)")
        }
      }
    }
  }

  // MARK: - Bytes

  static func getPayload(
    _ host: Host?, _ token: rpcurl_token, _ bytes: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard let bytes else { throw invalid("the text is null") }
      bytes.pointee = try value(instance, token) { value, arena throws(ABIFailure) in
        guard let message = value.message else { throw wrongStage() }
        return arena.text(message.serialized)
      }
    }
  }

  static func setPayload(_ host: Host?, _ token: rpcurl_token, _ bytes: rpcurl_text) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let bytes = try bytes.bytes()
      try value(instance, token) { value, _ throws(ABIFailure) in
        switch value.message {
        case .bytes?: value = .message(.bytes(bytes), isRequest: value.isRequest)
        case .typed(let message)?:
          do throws(DecodeError) {
            let parsed = try Message(message.type, serialized: bytes)
            value = .message(.typed(parsed), isRequest: value.isRequest)
          } catch {
            throw ABIFailure(RPCURL_EPARSE, "\(error)")
          }
        case nil: throw wrongStage()
        }
      }
    }
  }

  // MARK: - Helpers

  static func withMessage<Result>(
    _ instance: PluginInstance, _ token: rpcurl_token,
    _ body: (inout Message, Arena) throws(ABIFailure) -> Result
  ) throws(ABIFailure) -> Result {
    try value(instance, token) { value, arena throws(ABIFailure) in
      guard case .typed(var message)? = value.message else { throw wrongStage() }
      let isRequest = value.isRequest
      // Keeps one reference to the storage, so that a change does not copy it.
      value = .requestEnd
      defer { value = .message(.typed(message), isRequest: isRequest) }
      return try body(&message, arena)
    }
  }

  static func fieldPath(_ text: rpcurl_text) throws(ABIFailure) -> FieldPath {
    let text = try text.string()
    return try fields { () throws(FieldPathError) in try FieldPath(text) }
  }

  /// Runs `body` with a parsed path. `isInteger`: an integer is assigned, which may be out of range.
  static func fields<Result>(
    isInteger: Bool = false, _ body: () throws(FieldPathError) -> Result
  ) throws(ABIFailure) -> Result {
    do throws(FieldPathError) {
      return try body()
    } catch {
      let code =
        switch error {
        case .syntax, .unknownField, .notAMessage, .notIndexable, .needsSubscript, .wrongKeyType, .schema:
          RPCURL_EPATH
        case .indexOutOfRange: RPCURL_ENOENT
        case .wrongType(_, let expected) where isInteger && expected.contains("int"): RPCURL_ERANGE
        case .wrongType, .notAList: RPCURL_ETYPE
        case .encoding, .json: RPCURL_EPARSE
        }
      throw ABIFailure(code, "\(error)")
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

extension Value {
  fileprivate var isInteger: Bool {
    switch self {
    case .int64, .uint64: true
    default: false
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
