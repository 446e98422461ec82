import CRPCURLPlugin

/// A scalar value of a field.
public enum Value: Sendable, Equatable {
  /// `bool`.
  case bool(Bool)
  /// Every signed integer type.
  case int64(Int64)
  /// Every unsigned integer type.
  case uint64(UInt64)
  /// `float` and `double`.
  case double(Double)
  /// `string`.
  case string(String)
  /// `bytes`.
  case bytes([UInt8])
  /// The number of an enum value.
  case `enum`(Int32)
}

/// A message, in the form that ``MessageAccesses`` declares. `[any thread]`
///
/// All functions but the last two are for typed messages.
///
/// A path names fields as the schema does, with indices and map keys in brackets: `user.address[0].city`,
/// `labels["env"]`. The empty path is the message itself.
public struct Message: Sendable {
  /// The token, to keep the value and use it later.
  public let token: Token

  private var host: Host { token.host }
  private var table: rpcurl_host { token.host.pointer.pointee }

  /// Reads a scalar; an unset field has its default.
  public func get(_ path: String) throws(HostError) -> Value {
    var value = rpcurl_value()
    try host.check(path.lend { table.get(host.pointer, token.plain, $0, &value) })
    return Value(value)
  }

  /// Reads a scalar as a Swift type: `let name: String = try message.get("user.name")`. An unset field has its default.
  ///
  /// - Throws: ``HostError`` that ``HostError/isWrongType`` if the type does not fit the field, or cannot have its value.
  public func get<Scalar: FieldScalar>(
    _ path: String, as type: Scalar.Type = Scalar.self
  ) throws(HostError) -> Scalar {
    let value = try get(path)
    if let scalar = Scalar(field: value) { return scalar }
    throw HostError(code: RPCURL_ETYPE, description: "\(path) is \(value), not a value of \(type)")
  }

  /// Writes a scalar; creates missing messages in the path.
  public func set(_ path: String, _ value: Value) throws(HostError) {
    try host.check(
      path.lend { path in value.lend { table.set(host.pointer, token.plain, path, $0) } })
  }

  /// Appends a scalar to a list.
  public func append(_ path: String, _ value: Value) throws(HostError) {
    try host.check(
      path.lend { path in value.lend { table.append(host.pointer, token.plain, path, $0) } })
  }

  /// Appends a ProtoJSON value to a list, also a message.
  public func appendJSON(_ path: String, _ json: String) throws(HostError) {
    try host.check(
      path.lend { path in json.lend { table.append_json(host.pointer, token.plain, path, $0) } })
  }

  /// Clears a field, a list or a map, or removes an element.
  public func clear(_ path: String) throws(HostError) {
    try host.check(path.lend { table.clear(host.pointer, token.plain, $0) })
  }

  /// Whether a field is set.
  public func has(_ path: String) throws(HostError) -> Bool {
    try host.check(path.lend { table.has(host.pointer, token.plain, $0) }) == 1
  }

  /// The number of elements of a list or map.
  public func length(_ path: String) throws(HostError) -> Int {
    Int(try host.check(path.lend { table.length(host.pointer, token.plain, $0) }))
  }

  /// The keys of a map, in ascending order.
  public func keys(_ path: String) throws(HostError) -> [Value] {
    var keys: [Value] = []
    for index in 0..<(try length(path)) {
      var key = rpcurl_value()
      try host.check(path.lend { table.key_at(host.pointer, token.plain, $0, index, &key) })
      keys.append(Value(key))
    }
    return keys
  }

  /// The name of the set field of a oneof; `nil` if none is set.
  public func which(_ path: String) throws(HostError) -> String? {
    var field = rpcurl_text()
    let result = path.lend { table.which(host.pointer, token.plain, $0, &field) }
    if result == RPCURL_ENOENT { return nil }
    try host.check(result)
    return String(field)
  }

  /// The name of an enum field's value; `nil` if the schema has no name for its number.
  public func enumName(_ path: String) throws(HostError) -> String? {
    var name = rpcurl_text()
    let result = path.lend { table.get_enum(host.pointer, token.plain, $0, &name) }
    if result == RPCURL_ENOENT { return nil }
    try host.check(result)
    return String(name)
  }

  /// Sets an enum field by a value's name.
  public func setEnum(_ path: String, _ name: String) throws(HostError) {
    try host.check(path.lend { path in name.lend { table.set_enum(host.pointer, token.plain, path, $0) } })
  }

  /// The names of the fields that are set in the message at a path, in ascending order of their numbers.
  public func setFields(at path: String = "") throws(HostError) -> [String] {
    var names: [String] = []
    while true {
      var name = rpcurl_text()
      let result = path.lend { table.field_at(host.pointer, token.plain, $0, names.count, &name) }
      if result == RPCURL_ENOENT { return names }
      try host.check(result)
      names.append(String(name))
    }
  }

  /// A field, or the message, as ProtoJSON.
  public func json(_ path: String = "") throws(HostError) -> String {
    var json = rpcurl_text()
    try host.check(path.lend { table.get_json(host.pointer, token.plain, $0, &json) })
    return String(json)
  }

  /// Replaces a field, or the message, by a ProtoJSON value.
  public func setJSON(_ json: String, at path: String = "") throws(HostError) {
    try host.check(path.lend { path in json.lend { table.set_json(host.pointer, token.plain, path, $0) } })
  }

  /// A copy of the message's bytes: serialized in the call's codec, before compression. For an interceptor that receives
  /// bytes.
  public func bytes() throws(HostError) -> [UInt8] {
    var bytes = rpcurl_text()
    try host.check(table.get_payload(host.pointer, token.plain, &bytes))
    return [UInt8](bytes)
  }

  /// Replaces the message by one that is serialized in the call's codec. For each interceptor that changes messages.
  public func setBytes(_ bytes: [UInt8]) throws(HostError) {
    try host.check(bytes.lend { table.set_payload(host.pointer, token.plain, $0) })
  }
}

extension Value {
  init(_ plain: rpcurl_value) {
    switch Int32(plain.type) {
    case RPCURL_TYPE_BOOL: self = .bool(plain.as.boolean != 0)
    case RPCURL_TYPE_INT64: self = .int64(plain.as.int64)
    case RPCURL_TYPE_UINT64: self = .uint64(plain.as.uint64)
    case RPCURL_TYPE_DOUBLE: self = .double(plain.as.float64)
    case RPCURL_TYPE_STRING: self = .string(String(plain.as.text))
    case RPCURL_TYPE_BYTES: self = .bytes([UInt8](plain.as.text))
    default: self = .enum(plain.as.number)
    }
  }

  func lend<Result>(_ body: (UnsafePointer<rpcurl_value>) -> Result) -> Result {
    var plain = rpcurl_value()
    func run(_ type: Int32) -> Result {
      plain.type = UInt32(type)
      return withUnsafePointer(to: plain, body)
    }
    switch self {
    case .bool(let value):
      plain.as.boolean = value ? 1 : 0
      return run(RPCURL_TYPE_BOOL)
    case .int64(let value):
      plain.as.int64 = value
      return run(RPCURL_TYPE_INT64)
    case .uint64(let value):
      plain.as.uint64 = value
      return run(RPCURL_TYPE_UINT64)
    case .double(let value):
      plain.as.float64 = value
      return run(RPCURL_TYPE_DOUBLE)
    case .string(let value):
      return value.lend {
        plain.as.text = $0
        return run(RPCURL_TYPE_STRING)
      }
    case .bytes(let value):
      return value.lend {
        plain.as.text = $0
        return run(RPCURL_TYPE_BYTES)
      }
    case .enum(let value):
      plain.as.number = value
      return run(RPCURL_TYPE_ENUM)
    }
  }
}
