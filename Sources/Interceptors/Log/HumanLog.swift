import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Logs lines for people: time (UTC), method and event.
final class HumanLog: LogWriter {
  private let file: any OutputFile
  private let call: CallFacts

  init(_ file: any OutputFile, _ call: CallFacts) {
    self.file = file
    self.call = call
  }

  func write(_ event: LogEvent) throws(SystemError) {
    let time = CivilTime.text(nanosecondsSince1970: event.time).dropFirst(11)
    let lines = lines(event).map { "\(time) \(call.method) \(TerminalText.escape($0))\n" }
    guard !lines.isEmpty else { return }
    try file.write(Array(lines.joined().utf8))
  }

  private func lines(_ event: LogEvent) -> [String] {
    switch event.event {
    case .requestStart(let start):
      ["> \(call.kind.rawValue) over \(call.protocolName.rawValue) to \(start.target.withoutUserInfo)"]
        + fields(">", start.headers)
        + event.attributes.map { "* attribute \($0.key)=\($0.value)" }
    case .requestMessage(let message): [line(">", message)]
    case .requestEnd: ["> half-close"]
    case .responseStart(let start):
      [start.httpVersion.isEmpty ? "< headers" : "< HTTP/\(start.httpVersion) \(start.httpStatus)"]
        + fields("<", start.headers)
    case .responseMessage(let message): [line("<", message)]
    case .responseEnd(let end):
      fields("<", end.trailers) + ["< \(status(end, after: "\(event.elapsed.millisecondsText) ms"))"]
    case .metrics: []
    }
  }

  private func fields(_ mark: String, _ headers: Headers) -> [String] {
    headers.fields.map { "\(mark)   \($0.name): \($0.value)" }
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
