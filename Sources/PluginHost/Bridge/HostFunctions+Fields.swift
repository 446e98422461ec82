import RPCurlChain
import RPCurlCPlugins
import RPCurlProtobuf

// Lists, maps, oneofs and enums of typed messages.
extension HostFunctions {
  func appendJSON(_ token: rpcurl_token, _ path: rpcurl_text, _ json: rpcurl_text) throws {
    try change(token, path) { message, path in try message.appendJSON(json.bytes(), at: path) }
  }

  func fieldAt(_ token: rpcurl_token, _ path: rpcurl_text, _ index: Int) throws -> rpcurl_text {
    try read(token, path) { message, path, arena in
      let set = try setFields(of: message, at: path)
      guard set.indices.contains(index) else {
        throw ABIFailure(RPCURL_ENOENT, "the index is out of range: \(set.count) fields are set")
      }
      return arena.text(set[index].isExtension ? set[index].jsonName : set[index].name)
    }
  }

  private func setFields(of message: Message, at path: FieldPath) throws -> [Field] {
    if case .message(let nested)? = try message.value(at: path) { return nested.setFields }
    guard try message.type.field(at: path).messageType != nil else {
      throw FieldPathError.notAMessage(field: path.description)
    }
    return []
  }

  func keyAt(_ token: rpcurl_token, _ path: rpcurl_text, _ index: Int) throws -> rpcurl_value {
    try read(token, path) { message, path, arena in
      let keys = try message.mapKeys(at: path)
      guard keys.indices.contains(index), let plain = rpcurl_value(keys[index], arena) else {
        throw ABIFailure(RPCURL_ENOENT, "the index is out of range: the map has \(keys.count) keys")
      }
      return plain
    }
  }

  func which(_ token: rpcurl_token, _ path: rpcurl_text) throws -> rpcurl_text {
    try read(token, path) { message, path, arena in
      guard case .field(let oneof)? = path.steps.last else {
        throw ABIFailure(RPCURL_EPATH, "the path does not end with the name of a oneof")
      }
      let found = try parent(of: path, in: message).setField(ofOneof: oneof)
      return arena.text(try found.required("no field of \(oneof) is set").name)
    }
  }

  /// The message that contains the last part of a path; an empty one if it is not set.
  private func parent(of path: FieldPath, in message: Message) throws -> Message {
    let way = FieldPath(steps: path.steps.dropLast())
    if case .message(let parent)? = try message.value(at: way) { return parent }
    let field = try message.type.field(at: way)
    guard let type = field.messageType else { throw FieldPathError.notAMessage(field: way.description) }
    return Message(type)
  }

  func getEnum(_ token: rpcurl_token, _ path: rpcurl_text) throws -> rpcurl_text {
    try read(token, path) { message, path, arena in
      let type = try enumType(message, path)
      let value = try message.valueOrDefault(at: path)
      let number = if case .enum(let number)? = value { number } else { type.defaultNumber }
      let name = type.name(of: number)
      return arena.text(try name.required("\(type.name) has no value with the number \(number)"))
    }
  }

  func setEnum(_ token: rpcurl_token, _ path: rpcurl_text, _ name: rpcurl_text) throws {
    try change(token, path) { message, path in
      let name = try name.string()
      let type = try enumType(message, path)
      let number = try type.number(of: name).required("\(type.name) has no value named \(name)")
      try message.set(.enum(number), at: path)
    }
  }

  private func enumType(_ message: Message, _ path: FieldPath) throws -> EnumType {
    guard let type = try message.type.field(at: path).enumType else {
      throw ABIFailure(RPCURL_ETYPE, "\(path) is not an enum")
    }
    return type
  }
}
