import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Removes credentials from what is written about a call.
package struct Redaction: Sendable {
  /// Whether credentials are shown.
  package let showsSecrets: Bool
  /// Which headers and attributes are secret besides those of the call.
  private let names: SecretNames
  /// Fields of messages.
  private let fields: [RedactedField]
  /// The credentials of the call.
  private var call: CallSecrets
  /// Replaces the values of further secret headers of the request.
  private var others = SecretMask()

  /// Makes a redaction for a call.
  ///
  /// - Parameters:
  ///   - call: The credentials of the call.
  ///   - showsSecrets: Whether credentials are shown.
  ///   - names: Which headers and attributes are secret besides those of the call.
  ///   - fields: Fields of messages.
  package init(
    _ call: CallSecrets = CallSecrets(), showsSecrets: Bool = false, names: SecretNames = .standard,
    fields: [RedactedField] = []
  ) {
    self.call = call
    self.showsSecrets = showsSecrets
    self.names = names
    self.fields = fields
  }

  /// Whether fields of messages are redacted.
  package var redactsFields: Bool { !showsSecrets && !fields.isEmpty }

  /// The same with credentials shown or not.
  package func showingSecrets(_ showsSecrets: Bool) -> Redaction {
    Redaction(call, showsSecrets: showsSecrets, names: names, fields: fields)
  }

  /// This redaction for another call.
  package func of(_ call: CallSecrets) -> Redaction {
    Redaction(call, showsSecrets: showsSecrets, names: names, fields: fields)
  }

  /// Replaces the credentials of the call.
  private var mask: SecretMask {
    guard !showsSecrets else { return SecretMask() }
    var mask = call.mask
    mask.add(others)
    return mask
  }

  /// A text without the credentials of the call.
  package func text(_ text: String) -> String { mask.apply(text) }

  /// The value of a header or of an attribute, redacted if necessary.
  package func value(_ value: String, of name: String) -> String { shown(value, of: name, mask) }

  private func shown(_ value: String, of name: String, _ mask: SecretMask) -> String {
    guard !showsSecrets else { return value }
    guard call.names.contains(name) || names.contains(name) else { return mask.apply(value) }
    let words = value.split(separator: " ", maxSplits: 1)
    guard words.count == 2, SecretMask.schemes.contains(words[0].lowercased()) else {
      return SecretMask.placeholder
    }
    return "\(words[0]) \(SecretMask.placeholder)"
  }

  /// The headers without credentials.
  package func headers(_ headers: Headers) -> Headers {
    let mask = mask
    return Headers(headers.fields.map { ($0.name, shown($0.value, of: $0.name, mask)) })
  }

  /// The attributes without credentials.
  package func attributes(_ attributes: CallAttributes) -> [(key: String, value: String)] {
    let mask = mask
    return attributes.all.map { ($0, shown($1, of: $0, mask)) }
  }

  /// An event of the call without credentials, whose messages are unchanged. Those of its request are hidden from then on.
  package mutating func event<Value>(_ event: CallEvent<Value>) -> CallEvent<Value> {
    guard !showsSecrets else { return event }
    switch event {
    case .requestStart(var start):
      hide(credentialsOf: start)
      start.headers = headers(start.headers)
      return .requestStart(start)
    case .responseStart(let start): return .responseStart(self.start(start))
    case .responseEnd(let end): return .responseEnd(self.end(end))
    case .requestMessage, .requestEnd, .responseMessage, .metrics: return event
    }
  }

  /// Hides the credentials of a request from now on.
  package mutating func hide(credentialsOf start: RequestStart) {
    call.add(start.headers, start.credentials)
    others.add(SecretMask.secrets(of: start.headers, names: names))
  }

  /// The start of the response without credentials.
  package func start(_ start: ResponseStart) -> ResponseStart {
    var start = start
    start.headers = headers(start.headers)
    return start
  }

  /// The end of the call without credentials.
  package func end(_ end: ResponseEnd) -> ResponseEnd {
    let mask = mask
    guard !mask.isEmpty || !end.trailers.fields.isEmpty else { return end }
    var end = end
    end.trailers = headers(end.trailers)
    guard var error = end.error else { return end }
    // The engine has removed credentials from the response that is not one of the protocol.
    error.message = mask.apply(error.message)
    for index in error.details.indices {
      error.details[index].value = mask.apply(toMessage: error.details[index].value)
      error.details[index].debug = error.details[index].debug.map(mask.apply)
    }
    end.error = error
    return end
  }

  /// The message with its redacted fields cleared.
  package func message(_ message: Message) -> Message {
    guard !showsSecrets else { return message }
    return fields.reduce(into: message) { message, field in field.redact(&message) }
  }

  /// Logs a warning for each field that no message of a call has, once: perhaps a misspelled one, which is not redacted.
  package func reportMissingFields(_ call: CallFacts, _ context: CallContext) {
    for field in fields { field.reportIfMissing(call, context) }
  }
}
