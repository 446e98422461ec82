import Protobuf
import RPCProtocols

/// Keeps credentials out of what is shown or written to files.
public struct Redaction: Sendable {
  /// What stands for what is not shown.
  public static let placeholder = "[redacted]"

  /// What the names of headers that carry credentials hold.
  private static let marks = [
    "auth", "token", "secret", "password", "passwd", "credential", "cookie", "session", "apikey", "api-key",
    "signature", "jwt", "assertion",
  ]
  /// How the names of others end.
  private static let lastMarks = ["-key"]
  /// The schemes of an authorization, which are no secret.
  private static let schemes: Set<String> = ["basic", "bearer", "digest", "negotiate", "ntlm", "token"]

  /// Whether credentials are shown all the same.
  public let showsSecrets: Bool
  /// Further headers, by name, or with `*` at one or both ends.
  private let names: [String]
  /// Fields of messages.
  private let fields: [RedactedField]

  /// Makes a redaction of what usually is a secret.
  public init(showsSecrets: Bool = false) {
    self.init(showsSecrets: showsSecrets, names: [], fields: [])
  }

  init(showsSecrets: Bool = false, names: [String], fields: [RedactedField]) {
    self.showsSecrets = showsSecrets
    self.names = names.map { $0.lowercased() }
    self.fields = fields
  }

  /// This redaction, also of the headers that a request is known to carry credentials in, whatever their names.
  public func hiding(credentialsOf start: RequestStart) -> Redaction {
    guard let credentials = start.credentials else { return self }
    return Redaction(showsSecrets: showsSecrets, names: names + credentials.headerNames, fields: fields)
  }

  /// The value of `field`, or what stands for it.
  public func value(of field: Headers.Field) -> String {
    guard !showsSecrets, isHidden(field.name) else { return field.value }
    let words = field.value.split(separator: " ", maxSplits: 1)
    guard words.count == 2, Self.schemes.contains(words[0].lowercased()) else { return Self.placeholder }
    return "\(words[0]) \(Self.placeholder)"
  }

  /// The message with the fields emptied that are not to be shown.
  func redacted(_ message: Message) -> Message {
    guard !showsSecrets else { return message }
    return fields.reduce(into: message) { message, field in field.redact(&message) }
  }

  /// Whether messages are changed at all.
  var concernsMessages: Bool { !showsSecrets && !fields.isEmpty }

  private func isHidden(_ name: String) -> Bool {
    names.contains { Self.fits(name, $0) } || Self.isSecret(name)
  }

  /// Whether values of the header `name` may be credentials.
  public static func isSecret(_ name: String) -> Bool {
    let name = String(name.map { $0 == "_" ? "-" : $0 })
    guard name != "host", name != ":authority" else { return false }
    return marks.contains(where: name.contains) || lastMarks.contains(where: name.hasSuffix)
  }

  private static func fits(_ name: String, _ pattern: String) -> Bool {
    let isOpenAtStart = pattern.hasPrefix("*")
    let isOpenAtEnd = pattern.hasSuffix("*") && pattern.utf8.count > 1
    let core = pattern.dropFirst(isOpenAtStart ? 1 : 0).dropLast(isOpenAtEnd ? 1 : 0)
    return switch (isOpenAtStart, isOpenAtEnd) {
    case (false, false): name == core
    case (true, false): name.hasSuffix(core)
    case (false, true): name.hasPrefix(core)
    case (true, true): name.contains(String(core))
    }
  }
}
