import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// An HTTP archive, version 1.2.
enum HARFile {
  /// The file of an archive, whose entries are JSON.
  ///
  /// - Throws: A ``SystemError`` if another interceptor writes the file in another format.
  static func file(
    _ path: String, _ services: any InterceptorServices
  ) throws(SystemError) -> ReportFile<String> {
    let head = #"{"log":{"version":"1.2","creator":{"name":"rpcurl","version":"1"},"entries":["#
    return try services.reports.file(path) {
      ReportFile(path, services, isPrivate: true) { "\(head)\n\($0.joined(separator: ",\n"))\n]}}\n" }
    }
  }
}

/// Collects one call, and adds it to an archive when it ends.
final class HARLog: LogWriter {
  private let archive: ReportFile<String>
  private let call: CallFacts
  private let options: LogOptions
  private var startedAt: Int64 = 0
  private var start: RequestStart?
  private var attributes: [(key: String, value: String)] = []
  private var response: ResponseStart?
  private var end: ResponseEnd?
  private var sent = Bodies()
  private var received = Bodies()
  // The end of each part of the call, since its start.
  private var sentAt = Duration.zero
  private var firstAt: Duration?
  private var endedAt = Duration.zero

  /// The messages of one direction.
  private struct Bodies {
    var sizeBytes = 0
    var texts: [String] = []
    var isCut = false
    /// The size of the kept text in bytes.
    var keptBytes = 0

    mutating func add(_ message: LoggedMessage, limit: Int) {
      sizeBytes += message.sizeBytes
      guard let body = message.body else { return }
      // One limit for each message, and a hundred times that for a stream, which may be endless.
      guard keptBytes < limit * 100 else { return isCut = true }
      keptBytes += body.text.utf8.count
      isCut = isCut || body.isCut
      texts.append(body.text)
    }

    var text: String { texts.joined(separator: "\n") }
  }

  init(_ archive: ReportFile<String>, _ call: CallFacts, _ options: LogOptions) {
    self.archive = archive
    self.call = call
    self.options = options
  }

  func write(_ event: LogEvent) throws(SystemError) {
    switch event.event {
    case .requestStart(let start):
      self.start = start
      attributes = event.attributes
      startedAt = event.time
    case .requestMessage(let message):
      sent.add(message, limit: options.maxBodyBytes)
      sentAt = event.elapsed
    case .requestEnd: sentAt = event.elapsed
    case .responseStart(let start):
      response = start
      firstAt = event.elapsed
    case .responseMessage(let message):
      received.add(message, limit: options.maxBodyBytes)
      if firstAt == nil { firstAt = event.elapsed }
    case .responseEnd(let end):
      self.end = end
      endedAt = event.elapsed
    case .metrics(let metrics):
      // The end of the run tries again, and reports an error once for all calls.
      try? archive.add(entry(metrics))
    }
  }

  // MARK: The entry (http://www.softwareishard.com/blog/har-12-spec/)

  private func entry(_ metrics: CallMetrics) -> String {
    let timings = timings(metrics)
    var entry = JSONObject()
    entry.add("startedDateTime", CivilTime.text(nanosecondsSince1970: startedAt))
    entry.add("time", raw: timings.total.millisecondsText)
    entry.add("request", raw: request)
    entry.add("response", raw: responseObject)
    entry.add("cache", raw: "{}")
    entry.add("timings", raw: timings.object)
    entry.add("comment", comment)
    return entry.object
  }

  /// The status of the RPC and its attributes, for which HTTP has no field.
  private var comment: String {
    let status = end?.error.map {
      "\($0.code.name) (\($0.code.rawValue))\($0.message.isEmpty ? "" : ": \($0.message)")"
    }
    // Whether a request is sent by GET is decided after the chain, by the size of the message.
    let mayBeGET = call.protocolName == .connect && call.kind == .unary && call.hasNoSideEffects
    return "\(status ?? "ok"); \(call.kind.rawValue) over \(call.protocolName.rawValue)"
      + (mayBeGET ? "; sent by GET if --connect-get is given" : "")
      + attributes.map { "; attribute \($0.key)=\($0.value)" }.joined()
  }

  private var httpVersion: String {
    switch response?.httpVersion {
    case nil, ""?: "unknown"
    case "2"?: "HTTP/2.0"
    case let version?: "HTTP/\(version)"
    }
  }

  private var request: String {
    var object = JSONObject()
    object.add("method", "POST")
    object.add("url", "\((start?.target ?? call.target).withoutUserInfo)/\(start?.method ?? call.method)")
    object.add("httpVersion", httpVersion)
    object.add("cookies", raw: "[]")
    object.add("headers", raw: headers(start?.headers ?? Headers()))
    object.add("queryString", raw: "[]")
    if !sent.texts.isEmpty {
      var data = JSONObject()
      data.add("mimeType", mimeType)
      data.add("params", raw: "[]")
      data.add("text", sent.text)
      if sent.isCut { data.add("comment", "cut at \(options.maxBodyBytes) bytes per message") }
      object.add("postData", raw: data.object)
    }
    object.add("headersSize", -1)
    object.add("bodySize", sent.sizeBytes)
    return object.object
  }

  private var responseObject: String {
    var content = JSONObject()
    let foreign = end?.error?.response
    content.add("size", foreign?.body.count ?? received.sizeBytes)
    content.add("mimeType", foreign.map { $0.headers.first("content-type") ?? "" } ?? mimeType)
    if let foreign, !foreign.body.isEmpty {
      if let text = foreign.text {
        content.add("text", text)
      } else {
        content.add("text", Base64.encode(foreign.body))
        content.add("encoding", "base64")
      }
      if foreign.body.count == ForeignResponse.maxBytes {
        content.add("comment", "cut at \(ForeignResponse.maxBytes) bytes")
      }
    } else if !received.texts.isEmpty {
      // In base64, as the specification requires for text converted from another form.
      content.add("text", Base64.encode(Array(received.text.utf8)))
      content.add("encoding", "base64")
      if received.isCut { content.add("comment", "cut at \(options.maxBodyBytes) bytes per message") }
    }
    var object = JSONObject()
    object.add("status", response?.httpStatus ?? 0)
    object.add("statusText", "")
    object.add("httpVersion", httpVersion)
    object.add("cookies", raw: "[]")
    object.add(
      "headers",
      raw: headers((response?.headers ?? Headers()).appending(end?.trailers ?? Headers())))
    object.add("content", raw: content.object)
    object.add("redirectURL", foreign?.location ?? "")
    object.add("headersSize", -1)
    object.add("bodySize", received.sizeBytes)
    return object.object
  }

  /// The media type of the texts: one JSON value, or one per line.
  private var mimeType: String { call.kind == .unary ? "application/json" : "application/x-ndjson" }

  private func headers(_ headers: Headers) -> String {
    let objects = headers.fields.map { field in
      var object = JSONObject()
      object.add("name", field.name)
      object.add("value", field.value)
      return object.object
    }
    return "[\(objects.joined(separator: ","))]"
  }

  /// The parts of the time. Unknown parts are -1; the others add up to the total.
  private func timings(_ metrics: CallMetrics) -> (total: Duration, object: String) {
    let first = min(max(firstAt ?? endedAt, .zero), endedAt)
    let tls = metrics.tls.map { max($0 - (metrics.connect ?? .zero), .zero) }
    // TLS is part of connecting; the rest of the time until the response is sending and waiting.
    let connect = min(metrics.tls ?? metrics.connect ?? .zero, first)
    let send = min(max(sentAt - connect, .zero), first - connect)
    let wait = first - connect - send
    var object = JSONObject()
    object.add("blocked", -1)
    object.add("dns", -1)
    object.add("connect", raw: metrics.connect == nil ? "-1" : connect.millisecondsText)
    object.add("send", raw: send.millisecondsText)
    object.add("wait", raw: wait.millisecondsText)
    object.add("receive", raw: (endedAt - first).millisecondsText)
    object.add("ssl", raw: tls.map { min($0, connect).millisecondsText } ?? "-1")
    return (endedAt, object.object)
  }
}
