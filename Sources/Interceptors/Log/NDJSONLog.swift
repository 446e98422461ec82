import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Logs one JSON object per event and line, with the member names of `--format events`.
final class NDJSONLog: LogWriter {
  private let file: any OutputFile
  private let call: CallFacts

  init(_ file: any OutputFile, _ call: CallFacts) {
    self.file = file
    self.call = call
  }

  func write(_ event: LogEvent) throws(SystemError) {
    var line = JSONObject()
    line.add("time", CivilTime.text(nanosecondsSince1970: event.time))
    line.add("ms", raw: event.elapsed.millisecondsText)
    line.add("method", call.method.description)
    switch event.event {
    case .requestStart(let start):
      line.add("event", "start")
      line.add(
        start: start.headers, kind: call.kind, protocolName: call.protocolName,
        url: "\(start.target.withoutUserInfo)/\(start.method)")
      line.add(attributes: event.attributes)
    case .requestMessage(let message): add(message, "sent", to: &line)
    case .requestEnd: line.add("event", "half_close")
    case .responseStart(let start):
      line.add("event", "headers")
      line.add(start)
    case .responseMessage(let message): add(message, "message", to: &line)
    case .responseEnd(let end):
      line.add("event", "end")
      line.add(end)
    case .metrics(let metrics):
      line.add("event", "metrics")
      line.add(metrics)
    }
    try file.write(line.line)
  }

  private func add(_ message: LoggedMessage, _ event: String, to line: inout JSONObject) {
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
