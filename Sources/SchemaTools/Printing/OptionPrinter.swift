import RPCurlProtobuf

/// Writes options as `name = value`.
struct OptionPrinter {
  /// The maximum length of a message value on one line.
  private static let lineLimit = 60

  let scope: NameScope
  /// The settings for an empty set of features.
  let emptyFeatures: [String]

  /// The options in the order of their numbers. Sets `unknown` if the schema does not define one, which is
  /// omitted.
  func print(_ options: DescriptorOptions, unknown: inout Bool) -> [String] {
    guard !options.serialized.isEmpty else { return [] }
    guard let found = try? options.message() else {
      unknown = true
      return []
    }
    if hasUnknownFields(found) { unknown = true }
    return settings(of: found, prefix: "")
  }

  /// Whether the message, or one in it, has unknown fields.
  private func hasUnknownFields(_ message: Message) -> Bool {
    guard message.unknownFields.isEmpty else { return true }
    var found = false
    message.forEachSetField { _, values in
      for case .message(let nested) in values { found = found || hasUnknownFields(nested) }
    }
    return found
  }

  private func settings(of message: Message, prefix: String) -> [String] {
    var lines: [String] = []
    message.forEachSetField { field, values in
      let name =
        prefix + (field.isExtension ? "(\(scope.option(field.fullName)))" : ProtoText.safe(field.name))
      if !field.isRepeated, case .message(let nested)? = values.first, isFeatures(nested) {
        // One by one, as is common in source files.
        lines += nested.isEmpty ? emptyFeatures : settings(of: nested, prefix: name + ".")
      } else {
        for value in values { lines.append("\(name) = \(self.value(value, field))") }
      }
    }
    return lines
  }

  private func isFeatures(_ message: Message) -> Bool {
    let name = message.type.name
    return name == "google.protobuf.FeatureSet" || name.hasPrefix("pb.") && !message.isEmpty
  }

  private func value(_ value: Value, _ field: Field) -> String {
    switch value {
    case .bool(let value): "\(value)"
    case .int32(let value): "\(value)"
    case .int64(let value): "\(value)"
    case .uint32(let value): "\(value)"
    case .uint64(let value): "\(value)"
    case .float(let value):
      value.isFinite ? number { JSONText.append(value, to: &$0) } : special(Double(value))
    case .double(let value): value.isFinite ? number { JSONText.append(value, to: &$0) } : special(value)
    case .string(let text): ProtoText.literal(text)
    case .bytes(let bytes): ProtoText.literal(bytes)
    case .enum(let number): field.enumType?.name(of: number).map { ProtoText.safe($0) } ?? "\(number)"
    case .message(let message): aggregate(message)
    }
  }

  private func number(_ write: (inout OutputBuffer) -> Void) -> String {
    var out = OutputBuffer()
    write(&out)
    return out.withBytes { String(decoding: $0, as: UTF8.self) }
  }

  private func special(_ value: Double) -> String {
    value.isNaN ? value.sign == .minus ? "-nan" : "nan" : value < 0 ? "-inf" : "inf"
  }

  private func aggregate(_ message: Message) -> String {
    var options = TextEncodingOptions(singleLine: true, unknownFields: false)
    options.showsSignOfNaN = true
    let line = String(decoding: message.text(options: options), as: UTF8.self)
    guard line.utf8.count > Self.lineLimit else {
      return line.isEmpty ? "{}" : "{ \(ProtoText.safe(line)) }"
    }
    options.singleLine = false
    let text = String(decoding: message.text(options: options), as: UTF8.self)
    let lines = text.split(separator: "\n").map { "  \(ProtoText.safe($0))\n" }
    return "{\n\(lines.joined())}"
  }
}
