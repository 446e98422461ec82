import Interception
import Language
import Protobuf
import RPCProtocols

/// Logs lines for people: time, method and event.
final class HumanLog: LogWriter {
  private let file: any OutputFile
  private let call: CallFacts
  /// Hides also the credentials of the request, from its start.
  private var redaction: Redaction

  init(_ file: any OutputFile, _ call: CallFacts, _ options: LogOptions) {
    self.file = file
    self.call = call
    redaction = options.redaction
  }

  func write(_ event: LogEvent) throws(ServiceFailure) {
    if case .requestStart(let start) = event.event { redaction = redaction.hiding(credentialsOf: start) }
    let time = CivilTime.text(nanosecondsSince1970: event.time).dropFirst(11).dropLast()
    let lines = lines(event).map { "\(time) \(call.method) \(TerminalText.escape($0))\n" }
    guard !lines.isEmpty else { return }
    try file.write(Array(lines.joined().utf8))
  }

  private func lines(_ event: LogEvent) -> [String] {
    switch event.event {
    case .requestStart(let start):
      ["> \(call.kind.rawValue) over \(call.protocolName.rawValue) to \(start.target.withoutUserInfo)"]
        + fields(">", start.headers, redaction)
        + event.attributes.all.map { "* attribute \($0)=\(redaction.value(ofAttribute: $0, $1))" }
    case .requestMessage(let message): [line(">", message)]
    case .requestEnd: ["> half-close"]
    case .responseStart(let start):
      [start.httpVersion.isEmpty ? "< headers" : "< HTTP/\(start.httpVersion) \(start.httpStatus)"]
        + fields("<", start.headers, redaction)
    case .responseMessage(let message): [line("<", message)]
    case .responseEnd(let end):
      fields("<", end.trailers, redaction) + [
        "< \(status(end, after: "\(event.elapsed.millisecondsText) ms"))"
      ]
    case .metrics: []
    }
  }

  private func fields(_ mark: String, _ headers: Headers, _ redaction: Redaction) -> [String] {
    headers.fields.map { "\(mark)   \($0.name): \(redaction.value(of: $0))" }
  }

  private func line(_ mark: String, _ message: LoggedMessage) -> String {
    let body = message.body.map { ": \($0.text)\($0.isCut ? "…" : "")" } ?? ""
    return "\(mark) message \(message.index), \(message.sizeBytes) bytes\(body)"
  }

  private func status(_ end: ResponseEnd, after time: String) -> String {
    guard let error = end.error else { return "ok after \(time)" }
    let message = error.message.isEmpty ? "" : ": \(error.message)"
    return "\(error.code.name) (\(error.code.rawValue)) after \(time)\(message)"
  }
}
