import Interception
import Interceptors
import Output
import Protobuf
import RPCProtocols

/// The variables of a session: the last request and response, and those set by `set`.
package struct SessionVariables {
  /// The last message that was sent or received.
  package enum LastMessage {
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
  }

  /// The last response of any call.
  package var last: LastMessage?
  /// The last request message.
  package var request: LastMessage?
  /// The limit of all variables together and of a line with variables replaced, in bytes. A variable that is
  /// repeatedly set to itself twice doubles each time.
  package static let defaultLimitBytes = 64 << 20

  private var own: [String: JSONValue] = [:]
  /// The sizes of the variables that were set, in bytes.
  private var sizes: [String: Int] = [:]
  private let limitBytes: Int
  private let environment: (String) -> String?

  package init(limitBytes: Int = defaultLimitBytes, environment: @escaping (String) -> String?) {
    self.limitBytes = limitBytes
    self.environment = environment
  }

  /// The names of the variables that have a value.
  package var names: [String] {
    own.keys.sorted() + (last == nil ? [] : ["last"]) + (request == nil ? [] : ["request"])
  }

  /// Sets a variable.
  ///
  /// - Throws: `Failure` if the name is invalid or the value is too large.
  package mutating func set(_ name: String, to value: JSONValue) throws(Failure) {
    guard VariableReference(name)?.path == "" else {
      throw Failure(.usage, name, "invalid name", hint: "use letters, digits and _, as in user_id")
    }
    guard name != "last", name != "request" else {
      throw Failure(.usage, name, "this variable is set by calls", hint: "choose another name")
    }
    let size = value.text.utf8.count
    let others = sizes.values.reduce(0, +) - (sizes[name] ?? 0)
    guard others + size <= limitBytes else { throw tooLarge(name, "the variables") }
    own[name] = value
    sizes[name] = size
  }

  private func tooLarge(_ what: String, _ subject: String) -> Failure {
    Failure(
      .usage, what, "\(subject) would exceed \(limitBytes) bytes", hint: "unset variables that are not needed"
    )
  }

  /// Throws if a line would become too long with a value.
  func checkLength(_ lineBytes: Int, _ value: String, of reference: VariableReference) throws(Failure) {
    guard value.utf8.count > limitBytes - lineBytes else { return }
    throw tooLarge("$\(reference.name)\(reference.path)", "the line with its value")
  }

  /// Removes a variable.
  package mutating func unset(_ name: String) throws(Failure) {
    guard own.removeValue(forKey: name) != nil else { throw unknown(name) }
    sizes[name] = nil
  }

  // MARK: Values

  /// The value of a reference such as `last.user.id`.
  ///
  /// - Throws: `Failure` if there is no such variable or value.
  package func value(_ reference: VariableReference) throws(Failure) -> JSONValue {
    let message: LastMessage?
    switch reference.name {
    case "last": message = last
    case "request": message = request
    default:
      if let value = own[reference.name] { return try Self.value(at: reference, in: value) }
      guard reference.path.isEmpty, let value = environment(reference.name) else {
        throw unknown(reference.name)
      }
      return .string(value)
    }
    guard let message else { throw unknown(reference.name) }
    return try Self.value(at: reference, in: message.message())
  }

  private static func value(at reference: VariableReference, in message: Message) throws(Failure) -> JSONValue
  {
    do {
      guard !reference.path.isEmpty else {
        return try JSONValue(parsing: message.json(options: JSONEncodingOptions()))
      }
      let path = reference.path.hasPrefix(".") ? reference.path.dropFirst() : reference.path[...]
      return try JSONValue(parsing: message.json(at: FieldPath(String(path))))
    } catch {
      throw Failure(.input, "$\(reference.name)\(reference.path)", "\(error)")
    }
  }

  private static func value(at reference: VariableReference, in value: JSONValue) throws(Failure) -> JSONValue
  {
    guard !reference.path.isEmpty else { return value }
    let what = "$\(reference.name)\(reference.path)"
    let steps: ArraySlice<FieldPath.Step>
    do {
      steps = try FieldPath("x\(reference.path)").steps.dropFirst()
    } catch {
      throw Failure(.input, what, error.description)
    }
    var value = value
    for step in steps {
      guard let next = member(step, of: value) else { throw Failure(.input, what, "no such value") }
      value = next
    }
    return value
  }

  private static func member(_ step: FieldPath.Step, of value: JSONValue) -> JSONValue? {
    switch (step, value) {
    case (.field(let name), _), (.extension(let name), _), (.subscripted(.string(let name)), _):
      return value[name]
    case (.subscripted(.integer(let index)), .array(let elements)):
      // Negative indexes are invalid, as in field paths of messages.
      let index = Int(clamping: index)
      return elements.indices.contains(index) ? elements[index] : nil
    case (.subscripted(.integer(let key)), _): return value["\(key)"]
    case (.subscripted(.unsigned(let key)), _): return value["\(key)"]
    case (.subscripted(.bool(let key)), _): return value["\(key)"]
    }
  }

  // MARK: Completion

  /// The names that may follow a reference and a full stop, each with its type: the fields of a message, or the members of
  /// an object.
  package func members(of reference: VariableReference) -> [(name: String, note: String)] {
    let message: LastMessage?
    switch reference.name {
    case "last": message = last
    case "request": message = request
    default:
      guard case .object(let members) = try? value(reference) else { return [] }
      return members.map { ($0.name, "") }
    }
    guard var type = message?.type else { return [] }
    if !reference.path.isEmpty {
      let path = reference.path.hasPrefix(".") ? reference.path.dropFirst() : reference.path[...]
      guard let path = try? FieldPath(String(path)), let field = try? type.field(at: path),
        let inner = field.isMap ? field.mapValue?.messageType : field.messageType
      else { return [] }
      type = inner
    }
    return ((try? type.fields()) ?? []).map { ($0.jsonName, Self.note($0)) }
  }

  private static func note(_ field: Field) -> String {
    let type = field.messageType?.name ?? field.enumType?.name ?? field.kind.protoName
    return field.isMap ? "map" : field.isRepeated ? "repeated \(type)" : type
  }

  private func unknown(_ name: String) -> Failure {
    let nearest = DescriptorPool.nearestNames(to: name, among: names)
    let why =
      name == "last"
      ? "no response received yet" : name == "request" ? "no request sent yet" : "no such variable"
    return Failure(
      .input, "$\(name)", why,
      hint: nearest.isEmpty ? nil : "did you mean $\(nearest.joined(separator: ", or $"))?")
  }

  // MARK: Replacing

  /// Replaces the references in JSON.
  package func expand(json: String) throws(Failure) -> String {
    try expand(json: json, nil, all: false).text
  }

  /// Replaces the references and value functions in JSON.
  ///
  /// `$name.path` and `${name.path}` become JSON; within a string, `${name.path}` becomes the text of the value and
  /// `$${` becomes `${`. Values are not expanded again: they may come from a server.
  ///
  /// - Parameters:
  ///   - json: The JSON.
  ///   - functions: The value functions; nil for none.
  ///   - all: Whether all value functions are available, or only those that read nothing but their argument.
  /// - Returns: The text, and whether it has results of functions.
  package func expand(
    json: String, _ functions: ValueFunctions?, all: Bool
  ) throws(Failure) -> (text: String, hasFunctions: Bool) {
    guard json.utf8.contains(UInt8(ascii: "$")) else { return (json, false) }
    let bytes = Array(json.utf8)
    var hasFunctions = false
    var out: [UInt8] = []
    var index = 0
    var isString = false
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\""): isString.toggle()
      case UInt8(ascii: "\\") where isString && index + 1 < bytes.count:
        out.append(byte)
        index += 1
      case UInt8(ascii: "$"):
        if isString, bytes[index...].starts(with: "$${".utf8) {
          index += 1
          break
        }
        if let value = try Self.value(of: functions, at: index, in: bytes, isString: isString, all: all) {
          guard value.json.count <= limitBytes - out.count else {
            throw tooLarge("", "the line with its values")
          }
          hasFunctions = true
          out += value.json
          index = value.end
          continue
        }
        guard !isString || bytes[index...].starts(with: "${".utf8),
          let end = VariableReference.end(in: bytes, from: index)
        else { break }
        let reference = try Self.reference(bytes[index..<end])
        let value = try value(reference)
        let text = isString ? String(JSONValue.quoted(Self.text(value)).dropFirst().dropLast()) : value.text
        try checkLength(out.count, text, of: reference)
        out += Array(text.utf8)
        index = end
        continue
      default: break
      }
      out.append(bytes[index])
      index += 1
    }
    return (String(decoding: out, as: UTF8.self), hasFunctions)
  }

  private static func value(
    of functions: ValueFunctions?, at index: Int, in bytes: [UInt8], isString: Bool, all: Bool
  ) throws(Failure) -> (json: [UInt8], end: Int)? {
    do throws(ValueFunctions.Problem) {
      return try functions?.value(at: index, of: bytes, isInString: isString, all: all)
    } catch {
      throw Failure(.input, "", error.reason, hint: error.hint)
    }
  }

  static func reference(_ bytes: ArraySlice<UInt8>) throws(Failure) -> VariableReference {
    let inner = bytes.dropFirst()
    let isBraced = inner.first == UInt8(ascii: "{")
    let text = String(decoding: isBraced ? inner.dropFirst().dropLast() : inner, as: UTF8.self)
    guard let reference = VariableReference(text) else {
      throw Failure(.input, text, "not a reference to a variable")
    }
    return reference
  }

  /// A value as text: a string without its quotation marks, otherwise JSON.
  static func text(_ value: JSONValue) -> String {
    if case .string(let content) = value { return content }
    return value.text
  }
}
