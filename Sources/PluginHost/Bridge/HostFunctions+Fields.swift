import CPluginABI
import Interception
import Protobuf

// Lists, maps, oneofs and enums of typed messages.
extension HostFunctions {
  static func appendJSON(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ json: rpcurl_text
  ) -> Int32 {
    change(host, token, path) { message, path in
      try message.appendJSON(json.bytes(), at: path ?? FieldPath(""))
    }
  }

  static func fieldAt(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ index: Int,
    _ field: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    read(host, token, path, into: field) { message, path, arena in
      let set = try setFields(of: message, at: path)
      guard set.indices.contains(index) else {
        throw ABIFailure(RPCURL_ENOENT, "the index is out of range: \(set.count) fields are set")
      }
      return arena.text(set[index].isExtension ? set[index].jsonName : set[index].name)
    }
  }

  private static func setFields(
    of message: Message, at path: FieldPath?
  ) throws(FieldPathError) -> [Field] {
    guard let path else { return message.setFields }
    if case .message(let nested)? = try message.value(at: path) { return nested.setFields }
    guard try message.type.field(at: path).messageType != nil else {
      throw .notAMessage(field: path.description)
    }
    return []
  }

  static func keyAt(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ index: Int,
    _ key: UnsafeMutablePointer<rpcurl_value>?
  ) -> Int32 {
    read(host, token, path, into: key) { message, path, arena in
      let keys = try message.mapKeys(at: path ?? FieldPath(""))
      guard keys.indices.contains(index), let plain = rpcurl_value(keys[index], arena) else {
        throw ABIFailure(RPCURL_ENOENT, "the index is out of range: the map has \(keys.count) keys")
      }
      return plain
    }
  }

  static func which(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ field: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    read(host, token, path, into: field) { message, path, arena in
      let path = try path ?? FieldPath("")
      guard case .field(let oneof)? = path.steps.last else {
        throw ABIFailure(RPCURL_EPATH, "the path does not end with the name of a oneof")
      }
      guard let found = try parent(of: path, in: message).setField(ofOneof: oneof) else {
        throw ABIFailure(RPCURL_ENOENT, "no field of \(oneof) is set")
      }
      return arena.text(found.name)
    }
  }

  /// The message that contains the last part of a path; an empty one if it is not set.
  private static func parent(
    of path: FieldPath, in message: Message
  ) throws(FieldPathError) -> Message {
    guard path.steps.count > 1 else { return message }
    let way = try FieldPath(steps: path.steps.dropLast())
    if case .message(let parent)? = try message.value(at: way) { return parent }
    let field = try message.type.field(at: way)
    guard let type = field.messageType else { throw .notAMessage(field: way.description) }
    return Message(type)
  }

  static func getEnum(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ name: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    read(host, token, path, into: name) { message, path, arena in
      let path = try path ?? FieldPath("")
      let type = try enumType(message, path)
      let value = try message.valueOrDefault(at: path)
      let number = if case .enum(let number)? = value { number } else { type.defaultNumber }
      guard let name = type.name(of: number) else {
        throw ABIFailure(RPCURL_ENOENT, "\(type.name) has no value with the number \(number)")
      }
      return arena.text(name)
    }
  }

  static func setEnum(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ name: rpcurl_text
  ) -> Int32 {
    change(host, token, path) { message, path in
      let (path, name) = (try path ?? FieldPath(""), try name.string())
      let type = try enumType(message, path)
      guard let number = type.number(of: name) else {
        throw ABIFailure(RPCURL_ENOENT, "\(type.name) has no value named \(name)")
      }
      try message.set(.enum(number), at: path)
    }
  }

  private static func enumType(_ message: Message, _ path: FieldPath) throws -> EnumType {
    guard let type = try message.type.field(at: path).enumType else {
      throw ABIFailure(RPCURL_ETYPE, "\(path) is not an enum")
    }
    return type
  }
}
