import RPCurlBase
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// An access token and the time to renew it.
struct AccessToken: Sendable, Equatable {
  /// The token on the wire.
  let value: Secret
  /// When to fetch a new one, in nanoseconds since 1970; `nil` if its expiry is unknown.
  let renewal: Int64?

  /// Makes a token.
  ///
  /// - Parameters:
  ///   - value: The token.
  ///   - expiry: When it expires, in nanoseconds since 1970. A JWT contains its expiry.
  ///   - now: The current time in the same unit.
  init(_ value: String, expiry: Int64?, now: Int64) throws(SystemError) {
    guard !value.isEmpty else { throw SystemError("the token is empty") }
    guard HeaderSyntax.isValue(value), !value.contains(" "), !value.contains("\t") else {
      throw SystemError("the token contains blanks or control characters")
    }
    self.value = Secret(value)
    renewal = (expiry ?? Self.expiry(ofJWT: value)).map { expiry in
      // Renew early: a token must not expire on its way to the server.
      expiry - min(max(expiry - now, 0) / 10, 30_000_000_000)
    }
  }

  /// Whether it may still be used.
  func isFresh(at now: Int64) -> Bool { renewal.map { now < $0 } ?? true }

  /// The text of a file or of the output of a command, without blanks around it.
  static func text(_ bytes: [UInt8]) throws(SystemError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw SystemError("not UTF-8") }
    return text.trimmingBlanks
  }

  // MARK: - Output of commands

  /// Parses the output of a command: the token alone, or JSON with `access_token` and `expires_in`, or
  /// Kubernetes' `ExecCredential`.
  init(output: [UInt8], now: Int64) throws(SystemError) {
    let text = try Self.text(output)
    guard text.hasPrefix("{") else {
      try self.init(text, expiry: nil, now: now)
      return
    }
    guard let json = try? JSONValue(parsing: Array(text.utf8)) else {
      throw SystemError("the output is not valid JSON")
    }
    if case .string(let token)? = json["status"]?["token"] {
      try self.init(token, expiry: Self.timestamp(json["status"]?["expirationTimestamp"]), now: now)
    } else if case .string(let token)? = json["access_token"] {
      try self.init(token, expiry: Self.expiry(in: json["expires_in"], now: now), now: now)
    } else {
      throw SystemError("the JSON output contains neither access_token nor status.token")
    }
  }

  // MARK: - Expiry

  /// The expiry for a lifetime in seconds, a number or, from some servers, a string.
  static func expiry(in lifetime: JSONValue?, now: Int64) -> Int64? {
    switch lifetime {
    case .number(let text), .string(let text):
      guard let seconds = Double(text), seconds >= 0, seconds < 1e9 else { return nil }
      return now + Int64(seconds * 1e9)
    default: return nil
    }
  }

  /// The claim `exp` of a JSON Web Token (RFC 7519, section 4.1.4).
  private static func expiry(ofJWT token: String) -> Int64? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Base64.decode(parts[1]), let claims = try? JSONValue(parsing: bytes),
      case .number(let text)? = claims["exp"], let seconds = Double(text), seconds > 0, seconds < 9e9
    else { return nil }
    return Int64(seconds * 1e9)
  }

  private static func timestamp(_ value: JSONValue?) -> Int64? {
    guard let value, let seconds = WellKnownMessages.seconds(ofTimestamp: value.text),
      (0..<9_000_000_000) ~= seconds
    else { return nil }
    return seconds * 1_000_000_000
  }
}

extension String {
  /// The text without surrounding blanks and line ends.
  var trimmingBlanks: String {
    let isBlank = { (character: Character) in character.isWhitespace || character.isNewline }
    let start = drop(while: isBlank)
    return String(
      start.prefix(upTo: start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex))
  }
}
