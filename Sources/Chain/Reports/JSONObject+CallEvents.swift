import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// The events of a call as JSON, as they are given: the members of `--format events`, of the interceptor `log` and of cassettes.
extension JSONObject {
  /// Adds the members of the start of a call.
  ///
  /// - Parameter url: The URL without user information.
  package mutating func add(
    start headers: Headers, kind: CallKind, protocolName: ProtocolName, url: String
  ) {
    add("kind", kind.rawValue)
    add("protocol", protocolName.rawValue)
    add("url", url)
    add("headers", headers)
  }

  /// Adds the members of the start of a response.
  package mutating func add(_ start: ResponseStart) {
    add("http_status", start.httpStatus)
    add("http_version", start.httpVersion)
    add("headers", start.headers)
  }

  /// Adds the members of the end of a call.
  ///
  /// - Parameter debug: The JSON form of a detail; nil if its type is unknown.
  package mutating func add(
    _ end: ResponseEnd, debug: (StatusDetail) -> String? = { _ in nil }
  ) {
    add("code", end.code.name)
    add("code_number", end.code.rawValue)
    add("message", end.error?.message ?? "")
    add("details", end.error?.details ?? [], debug: debug)
    if let response = end.error?.response { add(response) }
    add("trailers", end.trailers)
  }

  /// Adds the HTTP status and the body of a response that is not one of the protocol, as text or else as base64.
  package mutating func add(_ response: ForeignResponse) {
    add("http_status", response.status)
    if let text = response.text {
      add("body", text)
    } else if !response.body.isEmpty {
      add("body_base64", Base64.encode(response.body))
    }
  }

  /// Adds the times and the sizes of a call. Times are in milliseconds, to the microsecond.
  package mutating func add(_ metrics: CallMetrics) {
    let times = [
      ("total_ms", metrics.total), ("resolve_ms", metrics.resolve), ("connect_ms", metrics.connect),
      ("tls_ms", metrics.tls), ("first_byte_ms", metrics.firstByte),
    ]
    for (name, time) in times {
      if let time { add(name, milliseconds: time) }
    }
    add("bytes_sent", metrics.sentBytes)
    add("bytes_received", metrics.receivedBytes)
    add("attempts", metrics.attempts)
  }

  /// Adds the members of an attempt at a call. One within another has the number of the outer one, and its own.
  package mutating func add(_ report: AttemptReport) {
    add("number", report.numbers.first ?? 1)
    let nested = report.numbers.dropFirst().map { "\($0)" }
    if !nested.isEmpty { add("nested", raw: "[\(nested.joined(separator: ","))]") }
    if report.nestedCount > 0 { add("attempts", report.nestedCount) }
    add("code", (report.error?.code ?? .ok).name)
    add("code_number", (report.error?.code ?? .ok).rawValue)
    add("message", report.error?.message ?? "")
    if let wait = report.wait { add("wait_ms", milliseconds: wait) }
    if let peer = report.peer { add("peer", peer) }
  }

  /// Adds a member with the attributes of a call; none if there are no attributes.
  package mutating func add(attributes: [(key: String, value: String)]) {
    guard !attributes.isEmpty else { return }
    var object = JSONObject()
    for (key, value) in attributes { object.add(key, value) }
    add("attributes", raw: object.object)
  }

  /// Adds a member with a duration in milliseconds, to the microsecond.
  package mutating func add(_ name: String, milliseconds duration: Duration) {
    add(name, raw: duration.millisecondsText)
  }

  /// Adds a member with metadata: a list of `[name, value]`.
  package mutating func add(_ name: String, _ headers: Headers) {
    let pairs = headers.fields.map { "[\(JSONValue.quoted($0.name)),\(JSONValue.quoted($0.value))]" }
    add(name, raw: "[\(pairs.joined(separator: ","))]")
  }

  /// Adds a member with the details of a status.
  ///
  /// - Parameter debug: The JSON form of a detail; nil if its type is unknown.
  package mutating func add(
    _ name: String, _ details: [StatusDetail], debug: (StatusDetail) -> String? = { _ in nil }
  ) {
    let objects = details.map { detail in
      var object = JSONObject()
      object.add("type", detail.typeName)
      object.add("value", Base64.encode(detail.value))
      if let json = debug(detail) { object.add("debug", raw: json) }
      return object.object
    }
    add(name, raw: "[\(objects.joined(separator: ","))]")
  }
}
