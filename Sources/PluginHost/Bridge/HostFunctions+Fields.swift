import CPluginABI
import Interception
import Protobuf

// Lists, maps, oneofs and enums of typed messages.
extension HostFunctions {
  static func appendJSON(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ json: rpcurl_text
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let (path, json) = (try fieldPath(path), try json.bytes())
      try withMessage(instance, token) { message, _ throws(ABIFailure) in
        try fields { () throws(FieldPathError) in try message.appendJSON(json, at: path) }
      }
    }
  }

  static func fieldAt(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ index: Int,
    _ field: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard let field else { throw invalid("the text is null") }
      let path = path.size == 0 ? nil : try fieldPath(path)
      field.pointee = try withMessage(instance, token) { message, arena throws(ABIFailure) in
        let set = try fields { () throws(FieldPathError) -> [Field] in
          guard let path else { return message.setFields }
          if case .message(let nested)? = try message.value(at: path) { return nested.setFields }
          guard try message.type.field(at: path).messageType != nil else {
            throw .notAMessage(field: path.description)
          }
          return []
        }
        guard set.indices.contains(index) else {
          throw ABIFailure(RPCURL_ENOENT, "the index is out of range: \(set.count) fields are set")
        }
        return arena.text(set[index].isExtension ? set[index].jsonName : set[index].name)
      }
    }
  }

  static func keyAt(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ index: Int,
    _ key: UnsafeMutablePointer<rpcurl_value>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard let key else { throw invalid("the key is null") }
      let path = try fieldPath(path)
      key.pointee = try withMessage(instance, token) { message, arena throws(ABIFailure) in
        let keys = try fields { () throws(FieldPathError) in try message.mapKeys(at: path) }
        guard keys.indices.contains(index), let plain = rpcurl_value(keys[index], arena) else {
          throw ABIFailure(RPCURL_ENOENT, "the index is out of range: the map has \(keys.count) keys")
        }
        return plain
      }
    }
  }

  static func which(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ field: UnsafeMutablePointer<rpcurl_text>?
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      guard let field else { throw invalid("the text is null") }
      let path = try fieldPath(path)
      guard case .field(let oneof)? = path.steps.last else {
        throw ABIFailure(RPCURL_EPATH, "the path does not end with the name of a oneof")
      }
      field.pointee = try withMessage(instance, token) { message, arena throws(ABIFailure) in
        let found = try fields { () throws(FieldPathError) -> Field? in
          try parent(of: path, in: message).setField(ofOneof: oneof)
        }
        guard let found else { throw ABIFailure(RPCURL_ENOENT, "no field of \(oneof) is set") }
        return arena.text(found.name)
      }
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
    call(host) { instance throws(ABIFailure) in
      guard let name else { throw invalid("the text is null") }
      let path = try fieldPath(path)
      name.pointee = try withMessage(instance, token) { message, arena throws(ABIFailure) in
        let type = try enumType(message, path)
        let value = try fields { () throws(FieldPathError) -> Value? in
          if let value = try message.value(at: path) { return value }
          return try message.type.field(at: path).defaultValue
        }
        let number = if case .enum(let number)? = value { number } else { type.defaultNumber }
        guard let name = type.name(of: number) else {
          throw ABIFailure(RPCURL_ENOENT, "\(type.name) has no value with the number \(number)")
        }
        return arena.text(name)
      }
    }
  }

  static func setEnum(
    _ host: Host?, _ token: rpcurl_token, _ path: rpcurl_text, _ name: rpcurl_text
  ) -> Int32 {
    call(host) { instance throws(ABIFailure) in
      let (path, name) = (try fieldPath(path), try name.string())
      try withMessage(instance, token) { message, _ throws(ABIFailure) in
        let type = try enumType(message, path)
        guard let number = type.number(of: name) else {
          throw ABIFailure(RPCURL_ENOENT, "\(type.name) has no value named \(name)")
        }
        try fields { () throws(FieldPathError) in try message.set(.enum(number), at: path) }
      }
    }
  }

  private static func enumType(_ message: Message, _ path: FieldPath) throws(ABIFailure) -> EnumType {
    let field = try fields { () throws(FieldPathError) in try message.type.field(at: path) }
    guard let type = field.enumType else { throw ABIFailure(RPCURL_ETYPE, "\(path) is not an enum") }
    return type
  }
}
