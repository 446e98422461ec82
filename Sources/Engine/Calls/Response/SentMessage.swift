import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// The text of a message for people, without the values of secret fields: of a request as it left, for `-v`.
package struct SentMessage {
  /// The longest text of `-v` in bytes; `-vv` has no limit.
  static let limitBytes = 4 << 10
  /// The greatest message that is converted to be cut.
  private static let mostBytes = 1 << 20

  let type: MessageType
  let codec: CodecName
  let encoding: JSONEncodingOptions
  /// Which fields are secret by their names; nil to show all.
  let secretNames: SecretNames?

  /// Makes the text of messages of a type.
  package init(
    type: MessageType, codec: CodecName, encoding: JSONEncodingOptions, secretNames: SecretNames?
  ) {
    (self.type, self.codec, self.encoding, self.secretNames) = (type, codec, encoding, secretNames)
  }

  /// The message as JSON on one line, without the values of secret fields.
  ///
  /// - Parameters:
  ///   - bytes: The message.
  ///   - isWhole: Whether the text has no limit.
  package func text(_ bytes: [UInt8], isWhole: Bool) -> String {
    guard isWhole || bytes.count <= Self.mostBytes else { return "… (\(bytes.count) bytes)" }
    guard let text = try? json(bytes) else { return "… (\(bytes.count) bytes, not a \(type.name))" }
    guard !isWhole, text.utf8.count > Self.limitBytes else { return text }
    let start = String(decoding: text.utf8.prefix(Self.limitBytes), as: UTF8.self)
    return "\(start)… (\(text.utf8.count) bytes of text)"
  }

  /// A message as JSON over several lines, without the values of secret fields.
  package func indented(_ message: Message) -> String {
    do { return try value(try json(message)).indentedText } catch { return "\(error)" }
  }

  /// Whether a message may have secret fields: one that cannot be read may.
  package func hasSecrets(_ bytes: [UInt8]) -> Bool {
    guard secretNames != nil else { return false }
    guard let value = try? JSONValue(parsing: json(message(bytes))) else { return true }
    return masked(value, type) != value
  }

  private func message(_ bytes: [UInt8]) throws -> Message {
    switch codec {
    case .proto: try Message(type, serialized: bytes)
    case .json: try Message(type, json: bytes, options: JSONDecodingOptions(allowUnknownFields: true))
    }
  }

  private func json(_ bytes: [UInt8]) throws -> String {
    let json = try json(message(bytes))
    guard secretNames != nil else { return String(decoding: json, as: UTF8.self) }
    return try value(json).text
  }

  private func json(_ message: Message) throws -> [UInt8] {
    var encoding = encoding
    encoding.pretty = false
    return try message.json(options: encoding)
  }

  /// The value of JSON without the values of secret fields.
  private func value(_ json: [UInt8]) throws -> JSONValue {
    let value = try JSONValue(parsing: json)
    return secretNames == nil ? value : masked(value, type)
  }

  /// A value of a type, or with names that no schema has.
  private func masked(_ value: JSONValue, _ type: MessageType?) -> JSONValue {
    switch value {
    case .array(let elements): return .array(elements.map { masked($0, type) })
    case .object(let members):
      var type = type
      if case .string(let url)? = value["@type"], let name = url.split(separator: "/").last {
        type = (try? type?.relative(named: String(name))) ?? nil
      }
      return .object(
        members.map { member in
          let field = (try? type?.field(named: member.name)) ?? nil
          guard !isSecret(field, member.name) else {
            return JSONValue.Member(name: member.name, value: .string(SecretMask.placeholder))
          }
          guard let entry = field?.mapValue, case .object(let entries) = member.value else {
            return JSONValue.Member(name: member.name, value: masked(member.value, field?.messageType))
          }
          return JSONValue.Member(name: member.name, value: masked(entries: entries, entry.messageType))
        })
    case .null, .bool, .number, .string: return value
    }
  }

  /// The entries of a map, whose keys are names too.
  private func masked(entries: [JSONValue.Member], _ type: MessageType?) -> JSONValue {
    .object(
      entries.map { entry in
        let value =
          isSecret(nil, entry.name) ? .string(SecretMask.placeholder) : masked(entry.value, type)
        return JSONValue.Member(name: entry.name, value: value)
      })
  }

  private func isSecret(_ field: Field?, _ name: String) -> Bool {
    if field?.options.redactsInDebugText == true { return true }
    let name = field?.name ?? name
    return secretNames?.contains(name.replacing("_", with: "-")) == true
  }
}
