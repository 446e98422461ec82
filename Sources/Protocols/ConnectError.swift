import RPCurlProtobuf

/// The JSON form of a status in Connect (Connect protocol, "Error Codes" and "Error Details").
enum ConnectError {
  /// Decodes the body of a failed unary call; `nil` if it is not an error. `fallback` replaces a missing or
  /// unknown code.
  static func decode(_ json: [UInt8], fallback: StatusCode) -> RPCError? {
    guard let value = parse(json) else { return nil }
    return error(value, fallback: fallback)
  }

  /// Decodes the last envelope of a stream: the status and the trailing metadata (Connect protocol,
  /// "EndStreamResponse"); `nil` if it is invalid.
  static func decodeEnd(_ json: [UInt8]) -> ResponseEnd? {
    guard let value = parse(json), case .object(let members) = value else { return nil }
    var end = ResponseEnd()
    if let failed = members.first(where: { $0.name == "error" && $0.value != .null }) {
      guard let error = error(failed.value, fallback: .unknown) else { return nil }
      end.error = error
    }
    guard let metadata = value["metadata"], metadata != .null else { return end }
    guard case .object(let members) = metadata else { return nil }
    for member in members where member.value != .null {
      guard case .array(let values) = member.value else { return nil }
      for value in values {
        guard case .string(let text) = value else { return nil }
        end.trailers.add(member.name, text)
      }
    }
    return end
  }

  /// Encodes the body of a failed unary call at a server.
  static func encode(_ error: RPCError) -> [UInt8] { Array(object(error).text.utf8) }

  /// Encodes the last envelope of a stream at a server.
  static func encode(_ end: ResponseEnd) -> [UInt8] {
    var members: [JSONValue.Member] = []
    if let error = end.error { members.append(.init(name: "error", value: object(error))) }
    let trailers = ServerHeaders.metadata(end.trailers)
    var names: [String] = []
    for field in trailers.fields where !names.contains(field.name) { names.append(field.name) }
    let metadata = names.map { name in
      JSONValue.Member(name: name, value: .array(trailers.values(name).map { .string($0) }))
    }
    if !metadata.isEmpty { members.append(.init(name: "metadata", value: .object(metadata))) }
    return Array(JSONValue.object(members).text.utf8)
  }

  private static func object(_ error: RPCError) -> JSONValue {
    var members = [JSONValue.Member(name: "code", value: .string(error.code.name))]
    if !error.message.isEmpty { members.append(.init(name: "message", value: .string(error.message))) }
    let details = error.details.filter { !$0.typeName.isEmpty }.map(object)
    if !details.isEmpty { members.append(.init(name: "details", value: .array(details))) }
    return .object(members)
  }

  private static func object(_ detail: StatusDetail) -> JSONValue {
    var members = [
      JSONValue.Member(name: "type", value: .string(detail.typeName)),
      JSONValue.Member(name: "value", value: .string(Base64.encode(detail.value, padding: false))),
    ]
    if let debug = detail.debug.flatMap({ try? JSONValue(parsing: Array($0.utf8)) }) {
      members.append(.init(name: "debug", value: debug))
    }
    return .object(members)
  }

  /// Parses a body, which some servers begin with a byte order mark.
  private static func parse(_ json: [UInt8]) -> JSONValue? {
    try? JSONValue(parsing: json.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(json.dropFirst(3)) : json)
  }

  private static func error(_ value: JSONValue, fallback: StatusCode) -> RPCError? {
    guard case .object(let members) = value, let code = optionalString(value["code"]),
      let message = optionalString(value["message"]),
      // An object without both is one of a proxy.
      members.isEmpty || members.contains(where: { ["code", "message", "details"].contains($0.name) })
    else { return nil }
    let known = StatusCode(name: code).flatMap { $0 == .ok ? nil : $0 }
    return RPCError(known ?? fallback, message, details: details(value["details"]), origin: .server)
  }

  /// The string; empty if absent, `nil` if it is of another type.
  private static func optionalString(_ value: JSONValue?) -> String? {
    switch value {
    case nil, .null?: ""
    case .string(let text)?: text
    default: nil
    }
  }

  /// The valid details. An invalid one is skipped, and the rest of the status is kept.
  private static func details(_ value: JSONValue?) -> [StatusDetail] {
    guard case .array(let details)? = value else { return [] }
    return details.compactMap { detail in
      guard case .string(let type)? = detail["type"], case .string(let text)? = detail["value"],
        let bytes = Base64.decode(text)
      else { return nil }
      // The type may be a URL, as in google.protobuf.Any.
      let name = type.split(separator: Character("/")).last.map(String.init) ?? type
      return StatusDetail(typeName: name, value: bytes, debug: detail["debug"]?.text)
    }
  }
}
