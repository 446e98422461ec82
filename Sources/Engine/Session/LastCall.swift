import RPCurlChain
import RPCurlLanguage
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// A message that was sent or received.
package enum SessionMessage {
  case typed(Message)
  /// Encoded with a codec.
  case bytes([UInt8], CodecName, MessageType)

  /// The type of the message.
  var type: MessageType {
    switch self {
    case .typed(let message): message.type
    case .bytes(_, _, let type): type
    }
  }

  /// The message.
  ///
  /// - Throws: `Failure` if the bytes are not a message of the type.
  package func message() throws(Failure) -> Message {
    do {
      switch self {
      case .typed(let message): return message
      case .bytes(let bytes, .proto, let type): return try Message(type, serialized: bytes)
      case .bytes(let bytes, .json, let type):
        return try Message(type, json: bytes, options: JSONDecodingOptions(allowUnknownFields: true))
      }
    } catch {
      throw Failure(.input, "", "invalid message: \(error)")
    }
  }

  /// The value of a field, or the whole message.
  ///
  /// - Parameters:
  ///   - path: The field; nil for the whole message.
  ///   - reference: The reference, for errors.
  func value(at path: FieldPath?, _ reference: String) throws(LanguageError) -> JSONValue {
    do {
      let message = try message()
      return try JSONValue(parsing: path.map { try message.json(at: $0) } ?? message.json())
    } catch let error as Failure {
      throw LanguageError("\(reference): \(error.message?.why ?? "invalid message")")
    } catch let error as FieldPathError {
      throw LanguageError("\(reference): \(error.message)", hint: error.hint)
    } catch {
      throw LanguageError("\(reference): \(error)")
    }
  }
}

/// The call of a session that `last` and checks are about: that of the last command about a call.
package protocol LastCall: AnyObject {
  /// The name of the call in errors.
  var title: String { get }
  var responseType: MessageType { get }
  /// The number of response messages that commands see.
  var seen: Int { get }
  /// A response message, counted from 0; nil if it is not kept.
  func response(_ number: Int) -> SessionMessage?
  /// The status; nil before the end of the call.
  var endStatus: StatusCode? { get }
  var details: [StatusDetail] { get }
  /// The metadata; nil before it has arrived.
  var headers: Headers? { get }
  var trailers: Headers? { get }
}

extension LastCall {
  /// The value of a reference.
  ///
  /// - Parameters:
  ///   - value: What follows `last`.
  ///   - reference: The reference, for errors.
  func value(of value: CallValue, _ reference: String) throws(LanguageError) -> JSONValue {
    switch value {
    case .message(let number, let path): return try message(number, reference).value(at: path, reference)
    case .status:
      guard let endStatus else { throw unended(reference) }
      return .string(endStatus.name)
    case .header(let name): return try metadata(headers, name, "header", reference)
    case .trailer(let name): return try metadata(trailers, name, "trailer", reference)
    case .detail(let type, let path): return try detail(type, reference).value(at: path, reference)
    case .method, .count:
      throw LanguageError(
        "\(reference): only stubs of mock have this value", hint: "the field is ${last[-1]\(value)}")
    }
  }

  /// Why commands do not see the end.
  var whyOpen: LanguageError {
    LanguageError("no command has waited for the end of \(title)", hint: "write wait, or cancel")
  }

  private func unended(_ reference: String) -> LanguageError {
    LanguageError("\(reference): \(whyOpen.reason)", hint: whyOpen.hint)
  }

  private func message(_ number: Int?, _ reference: String) throws(LanguageError) -> SessionMessage {
    let number = number ?? -1
    let index = number < 0 ? number.addingReportingOverflow(seen).partialValue : number
    guard (0..<seen).contains(index) else {
      let status = endStatus.map { "; its status is \($0.name)" } ?? ""
      throw LanguageError(
        seen == 0
          ? "\(reference): \(title) has no response\(status)"
          : "\(reference): \(title) has \(seen) response\(seen == 1 ? "" : "s")",
        hint: seen == 0 ? "\"set NAME = $last.FIELD\" after a call keeps a value for later calls" : nil)
    }
    guard let message = response(index) else {
      throw LanguageError(
        "\(reference): only the first responses and the last one are kept", hint: "write ${last[-1]}")
    }
    return message
  }

  private func metadata(
    _ headers: Headers?, _ name: String, _ kind: String, _ reference: String
  ) throws(LanguageError) -> JSONValue {
    guard let headers else { throw LanguageError("\(reference): \(title) has no \(kind)s yet") }
    let values = headers.values(name)
    guard !values.isEmpty else {
      throw missing(kind, name, reference, among: headers.fields.map(\.name))
    }
    return .string(values.joined(separator: ", "))
  }

  /// The error of a name that a property of the call lacks. A field of the response may have the name of the property.
  private func missing(
    _ property: String, _ name: String, _ reference: String, among names: [String]
  ) -> LanguageError {
    let nearest = DescriptorPool.nearestNames(to: name, among: names)
    let all = Set(names).sorted().joined(separator: ", ")
    let hint: String
    if let field = (try? responseType.field(named: property)) ?? nil {
      // The names of headers are in lower case.
      let member =
        (try? field.messageType?.fields())?.first { $0.jsonName.lowercased() == name }?.jsonName ?? name
      hint = "the field of the response is ${last[-1].\(property).\(member)}"
    } else {
      hint = names.isEmpty ? "it has no \(property)s" : "it has \(all)"
    }
    return LanguageError(
      "\(reference): \(title) has no \(property) \(name)",
      hint: nearest.isEmpty ? hint : "did you mean \(nearest.joined(separator: ", or "))?")
  }

  private func detail(_ name: String, _ reference: String) throws(LanguageError) -> SessionMessage {
    guard endStatus != nil else { throw unended(reference) }
    guard let detail = details.first(where: { $0.typeName == name || $0.typeName.hasSuffix(".\(name)") })
    else { throw missing("detail", name, reference, among: details.map(\.typeName)) }
    guard
      let type = (try? responseType.relative(named: detail.typeName))
        ?? WellKnownMessages.type(detail.typeName)
    else {
      throw LanguageError(
        "\(reference): the schema does not define \(detail.typeName)", hint: "options --proto FILE adds it")
    }
    return .bytes(detail.value, .proto, type)
  }
}
