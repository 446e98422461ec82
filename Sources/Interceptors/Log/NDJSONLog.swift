import Interception
import Protobuf
import RPCProtocols

/// Logs one JSON object per event and line, with the member names of `--format events`.
final class NDJSONLog: LogWriter {
  private let file: any OutputFile
  private let call: CallFacts
  private let options: LogOptions

  init(_ file: any OutputFile, _ call: CallFacts, _ options: LogOptions) {
    self.file = file
    self.call = call
    self.options = options
  }

  func write(_ event: LogEvent) throws(ServiceFailure) {
    var line = LineObject()
    line.add("time", CivilTime.text(nanosecondsSince1970: event.time))
    line.add("ms", raw: event.elapsed.millisecondsText)
    line.add("method", call.method.description)
    switch event.kind {
    case .start(let start):
      line.add("event", "start")
      line.add("kind", call.kind.rawValue)
      line.add("protocol", call.protocolName.rawValue)
      line.add("url", "\(start.target.withoutUserInfo)/\(start.method)")
      line.add("headers", start.headers, options.redaction.hiding(credentialsOf: start))
    case .sent(let message): add(message, "sent", to: &line)
    case .halfClose: line.add("event", "half_close")
    case .headers(let start):
      line.add("event", "headers")
      line.add("http_status", start.httpStatus)
      line.add("http_version", start.httpVersion)
      line.add("headers", start.headers, options.redaction)
    case .received(let message): add(message, "message", to: &line)
    case .end(let end):
      line.add("event", "end")
      line.add("code", end.code.name)
      line.add("code_number", end.code.rawValue)
      line.add("message", end.error?.message ?? "")
      line.add("details", end.error?.details ?? [])
      line.add("trailers", end.trailers, options.redaction)
    case .finish(let outcome):
      line.add("event", "metrics")
      line.add("total_ms", raw: outcome.metrics.total.millisecondsText)
      line.add("bytes_sent", outcome.metrics.sentBytes)
      line.add("bytes_received", outcome.metrics.receivedBytes)
      line.add("attempts", outcome.metrics.attempts)
    }
    try file.write(line.line)
  }

  private func add(_ message: LoggedMessage, _ event: String, to line: inout LineObject) {
    line.add("event", event)
    line.add("index", message.index)
    line.add("bytes", message.sizeBytes)
    guard let body = message.body else { return }
    // A cut text is not valid JSON.
    if body.isCut {
      line.add("cut", body.text)
    } else if !body.text.isEmpty {
      line.add("message", raw: body.text)
    }
  }
}
