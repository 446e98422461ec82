import Interception
import Protobuf
import RPCProtocols

/// A cassette that is being recorded. Every event is written when it occurs.
final class CassetteWriter: Sendable {
  private let path: String
  private let services: any InterceptorServices
  let redaction: Redaction
  private let file: any OutputFile
  private let lastNumber: Locked<Int>

  /// Opens a cassette. The old content of a new file is kept until the first call is recorded.
  ///
  /// - Parameters:
  ///   - existing: The highest number of a call in the file to continue; `nil` for a new file.
  init(
    _ path: String, goingOnAfter existing: Int?, redaction: Redaction, services: any InterceptorServices
  ) throws(ServiceFailure) {
    self.path = path
    self.services = services
    self.redaction = redaction
    lastNumber = Locked(existing ?? 0)
    file = try services.openFile(
      path, replacingWith: existing == nil ? Array("\(Cassette.firstLine)\n".utf8) : nil)
  }

  /// Makes the recording of another call.
  func makeRecording(of call: CallFacts) -> CallRecording {
    let number = lastNumber.withLock { last in
      last += 1
      return last
    }
    return CallRecording(call, self, number: number, startedAt: services.nanosecondsSince1970)
  }

  fileprivate func write(_ line: [UInt8]) throws(RPCError) {
    do throws(ServiceFailure) {
      try file.write(line)
    } catch {
      throw RPCError(.internal, "\(path): \(error.reason)", origin: .interceptor("record"))
    }
  }

  fileprivate var now: Int64 { services.nanosecondsSince1970 }
}

/// One call of a cassette that is being recorded.
final class CallRecording {
  private let call: CallFacts
  private let writer: CassetteWriter
  private let number: Int
  private let startedAt: Int64
  private var lastTime: Int64 = 0
  /// Whether the call has started and not ended.
  private(set) var isOpen = false

  fileprivate init(_ call: CallFacts, _ writer: CassetteWriter, number: Int, startedAt: Int64) {
    self.call = call
    self.writer = writer
    self.number = number
    self.startedAt = startedAt
  }

  /// Writes an event. The metrics are not recorded.
  func write(_ event: CallEvent<Message>) throws(RPCError) {
    switch event {
    case .requestStart(let start): try write(start)
    case .requestMessage(let message): try write("sent", message)
    case .requestEnd: try writer.write(line("half_close").line)
    case .responseStart(let start):
      var line = line("headers")
      line.add(start, writer.redaction)
      try writer.write(line.line)
    case .responseMessage(let message): try write("received", message)
    case .responseEnd(let end): try write(end)
    case .metrics: break
    }
  }

  private func write(_ start: RequestStart) throws(RPCError) {
    var line = JSONObject()
    line.add("call", number)
    line.add("event", "start")
    line.add("time", CivilTime.text(nanosecondsSince1970: startedAt))
    line.add("method", start.method.description)
    line.add("kind", call.kind.rawValue)
    line.add("protocol", call.protocolName.rawValue)
    line.add("target", start.target.withoutUserInfo)
    line.add("headers", start.headers, writer.redaction.hiding(credentialsOf: start))
    try writer.write(line.line)
    isOpen = true
  }

  private func write(_ end: ResponseEnd) throws(RPCError) {
    isOpen = false
    var line = line("end")
    line.add("code", end.code.name)
    if let error = end.error {
      line.add("message", error.message)
      if let origin = error.origin.recordedName { line.add("origin", origin) }
      if !error.details.isEmpty { line.add("details", error.details) }
    }
    line.add("trailers", end.trailers, writer.redaction)
    try writer.write(line.line)
  }

  private func write(_ name: String, _ message: Message) throws(RPCError) {
    let message = writer.redaction.redacted(message)
    var line = line(name)
    // For people only: the bytes are recorded too, for messages without a JSON form.
    if let json = try? message.json() { line.add("message", raw: String(decoding: json, as: UTF8.self)) }
    line.add("bytes", Base64.encode(message.serialized()))
    try writer.write(line.line)
  }

  private func line(_ name: String) -> JSONObject {
    // The time of day may be set back.
    lastTime = max(lastTime, writer.now - startedAt)
    var line = JSONObject()
    line.add("call", number)
    line.add("event", name)
    line.add("ms", raw: Duration.nanoseconds(lastTime).millisecondsText)
    return line
  }
}

extension RPCError.Origin {
  /// The name of the origin in a cassette; `nil` for the server and origins that are not recorded.
  fileprivate var recordedName: String? {
    switch self {
    case .connection, .proxy: "connection"
    case .tls: "tls"
    case .violation: "violation"
    case .client: "client"
    case .server, .request, .interceptor, .configuration: nil
    }
  }
}

extension String {
  /// The URL without user name and password.
  var withoutUserInfo: String {
    guard let scheme = firstRange(of: "://") else { return self }
    let rest = self[scheme.upperBound...]
    guard let at = rest.prefix(while: { $0 != "/" }).lastIndex(of: "@") else { return self }
    return "\(self[..<scheme.upperBound])\(rest[rest.index(after: at)...])"
  }
}
