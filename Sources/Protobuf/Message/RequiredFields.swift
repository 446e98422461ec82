extension Message {
  /// The paths of `required` fields that are not set, in this message and nested ones: `user.id`,
  /// `items[2].name`. Empty if none is missing.
  ///
  /// The binary format does not require them; reading JSON and text does, unless partial messages are
  /// allowed.
  public func missingRequiredFields() -> [String] {
    guard type.pool.hasMetRequiredFields else { return [] }
    var missing: [String] = []
    RequiredFields.collect(storage, prefix: "", into: &missing)
    return missing
  }
}

/// Finds required fields that are not set.
private enum RequiredFields {
  static func collect(_ message: MessageStorage, prefix: String, into missing: inout [String]) {
    for field in message.table.fields where field.isRequired {
      if case .none = message[slot: field.slot] { missing.append(prefix + field.name) }
    }
    message.forEachPresent { field, value in
      guard field.kind.isMessage else { return }
      let path = prefix + field.pathName
      switch value {
      case .single(.message(let nested)): collect(nested.storage, prefix: path + ".", into: &missing)
      case .list(let values):
        for (index, value) in values.enumerated() {
          if case .message(let nested) = value {
            collect(nested.storage, prefix: "\(path)[\(index)].", into: &missing)
          }
        }
      case .map(let entries): collect(entries, prefix: path, into: &missing)
      default: break
      }
    }
  }

  private static func collect(_ entries: [MapKey: Value], prefix: String, into missing: inout [String]) {
    for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
      guard case .message(let nested) = value else { continue }
      collect(nested.storage, prefix: "\(prefix)[\(key.pathText)].", into: &missing)
    }
  }
}

/// Lists missing required fields, up to five.
func missingText(_ paths: [String]) -> String {
  let shown = paths.prefix(5).joined(separator: ", ")
  let rest = paths.count > 5 ? " and \(paths.count - 5) more" : ""
  return (paths.count == 1 ? "the required field " : "the required fields ") + shown + rest
    + (paths.count == 1 ? " is not set" : " are not set")
}

extension MapKey {
  /// The text in the brackets of a path.
  var pathText: String {
    switch self {
    case .bool(let value): return "\(value)"
    case .signed(let value): return "\(value)"
    case .unsigned(let value): return "\(value)"
    case .string(let value): return quoted { JSONText.appendString(value, to: &$0) }
    case .bytes(let value):
      return quoted { out in value.withUnsafeBytes { TextEscapes.append($0, isText: false, to: &out) } }
    }
  }

  private func quoted(_ append: (inout OutputBuffer) -> Void) -> String {
    var buffer = OutputBuffer()
    append(&buffer)
    return buffer.withBytes { String(decoding: $0, as: UTF8.self) }
  }
}
