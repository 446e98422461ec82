import RPCurlLanguage
import RPCurlProtobuf

/// A response of HTTP that is not one of the protocol of the call: that of a proxy, for example.
public struct ForeignResponse: Sendable, Equatable {
  /// The limit of ``body`` in bytes.
  public static let maxBytes = 1024

  /// The HTTP status.
  public var status: Int
  /// The header fields, without credentials of the request.
  public var headers: Headers
  /// The start of the body, decompressed, and without credentials of the request.
  public var body: [UInt8]

  /// Makes a response.
  public init(status: Int, headers: Headers = Headers(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The body as text; nil if it is empty or binary. It may have control characters.
  public var text: String? {
    // Its last character may be cut.
    let text = String(decoding: body, as: UTF8.self)
    // Text may have a few control characters, such as those of colors, and characters of another encoding, but no zeros.
    let strange = text.unicodeScalars.count {
      $0.value < 0x20 && !$0.properties.isWhitespace || $0 == "\u{FFFD}"
    }
    let isBinary = strange * 10 > body.count || body.contains(0)
    return text.isEmpty || isBinary ? nil : text
  }

  /// The redirection of a redirect; nil for another response. It may be cut.
  package var location: String? {
    (300...399).contains(status) ? headers.first("location")?.prefix(ofBytes: Self.maxShownBytes) : nil
  }

  /// The server and the proxies that responded, by the headers `server` and `via`; nil if they are not named. It may be cut.
  package var source: String? {
    let via = headers.values("via").joined(separator: ", ")
    let names = [headers.first("server"), via.isEmpty ? nil : "via \(via)"].compactMap { $0 }
    return names.isEmpty ? nil : names.joined(separator: ", ").prefix(ofBytes: Self.maxShownBytes)
  }

  /// When the request may be repeated, by the header `retry-after`: seconds or a date; nil without one.
  package var retryAfter: String? {
    headers.first("retry-after").flatMap { (1...64).contains($0.utf8.count) ? $0 : nil }
  }

  /// The limit of a value in a hint, in bytes.
  private static let maxShownBytes = 200
}

extension RPCError {
  /// Adds to the error what its response says: the status of grpc-gateway, or one line of text. What a server says is shown
  /// without the credentials of the request.
  ///
  /// - Parameter mask: Removes the credentials of the request.
  package mutating func explain(hiding mask: @autoclosure () -> SecretMask) {
    guard var response else {
      if origin == .server { message = mask().apply(message) }
      return
    }
    let mask = mask()
    // In the body as it is, since its lines are joined.
    response.body = mask.apply(response.body)
    let json = response.json
    if origin == .violation, response.status != 200, let status = json.flatMap(GatewayStatus.init) {
      code = status.code
      message = mask.apply(status.message)
      origin = .server
    } else if let line = response.line(json) {
      message += ": \(mask.apply(line).prefix(ofBytes: 300))"
    }
    response.body = response.body.prefix(ofBytes: ForeignResponse.maxBytes)
    response.headers = Headers(response.headers.fields.map { ($0.name, mask.apply($0.value)) })
    self.response = response
  }
}

extension ForeignResponse {
  fileprivate var json: JSONValue? {
    let start = body.first { !" \t\r\n".utf8.contains($0) }
    guard start == UInt8(ascii: "{") || start == UInt8(ascii: "[") else { return nil }
    return try? JSONValue(parsing: body)
  }

  /// What the body says in one line; nil if it has no text.
  ///
  /// - Parameter json: The body, if it is JSON.
  fileprivate func line(_ json: JSONValue?) -> String? {
    guard let text else { return nil }
    let isPage =
      headers.first("content-type").map { MediaType($0).name.hasSuffix("html") } ?? false
      || text.prefix(200).drop(while: \.isWhitespace).hasPrefix("<")
    let line = json.map { Self.message($0) ?? $0.text } ?? (isPage ? HTMLText.summary(text) : text)
    let words = line.split(whereSeparator: \.isWhitespace)
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  /// The texts of an error in JSON: of grpc-gateway, OAuth, Envoy, `application/problem+json` (RFC 9457) and others.
  private static func message(_ json: JSONValue) -> String? {
    var texts: [String] = []
    for name in ["title", "error", "message", "error_description", "detail"] {
      let text: String? =
        switch json[name] {
        case .string(let text)?: text
        case .object(let members)? where name == "error": message(.object(members))
        default: nil
        }
      if let text, !text.isEmpty, !texts.contains(text) { texts.append(text) }
    }
    return texts.isEmpty ? nil : texts.joined(separator: ": ")
  }
}

/// The status of an error of grpc-gateway: `google.rpc.Status` as JSON.
private struct GatewayStatus {
  let code: StatusCode
  let message: String

  /// - Returns: nil if it is another JSON text.
  init?(_ json: JSONValue) {
    guard case .object(let members) = json,
      members.allSatisfy({ ["code", "message", "details", "error", "status"].contains($0.name) }),
      case .number(let digits)? = json["code"], let number = Int(digits),
      let code = StatusCode(rawValue: number), code != .ok, case .string(let message)? = json["message"]
    else { return nil }
    self.code = code
    self.message = message
  }
}

extension StringProtocol {
  /// The start of the text, of at most so many bytes, with an ellipsis if it is cut.
  fileprivate func prefix(ofBytes limit: Int) -> String {
    guard utf8.count > limit else { return String(self) }
    return String(decoding: Array(utf8).prefix(ofBytes: limit), as: UTF8.self) + "…"
  }
}

extension [UInt8] {
  /// The start of UTF-8, of at most so many bytes.
  fileprivate func prefix(ofBytes limit: Int) -> [UInt8] {
    var end = Swift.min(count, limit)
    while end < count, end > 0, self[end] & 0xC0 == 0x80 { end -= 1 }
    return Array(self[..<end])
  }
}
