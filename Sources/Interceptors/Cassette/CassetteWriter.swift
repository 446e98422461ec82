import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// A cassette that is being recorded. Every event is written when it occurs.
final class CassetteWriter: Sendable {
  private let path: String
  private let services: any InterceptorServices
  let redaction: Redaction
  private let file: any OutputFile
  private let numbers: Locked<(last: Int, areUnique: Bool)>

  /// The calls of the old content; nil if it is not kept, or there is none.
  let existing: RecordedCalls?

  /// Opens a cassette. The old content of a new file is kept until the first call is recorded.
  ///
  /// - Parameter isAppending: Whether the old content is kept.
  init(
    _ path: String, isAppending: Bool, _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) {
    self.path = path
    self.services = services
    redaction = try settings.redaction()
    do throws(SystemError) {
      file = try services.openFile(path, isAppending: isAppending)
    } catch {
      throw settings.error("file", "\(path): \(error.reason)")
    }
    // After the file is open: other processes that begin to write it have numbers of their own.
    existing = isAppending ? try CassetteReader.readToContinue(path, settings, services) : nil
    numbers = Locked(Self.numbers(after: existing?.lastNumber ?? 0))
  }

  /// Makes the recording of another call.
  func makeRecording(of call: CallFacts, _ context: CallContext) -> CallRecording {
    existing?.reportIncompleteLine(context)
    return CallRecording(call, self, redaction.of(context.secrets), startedAt: services.nanosecondsSince1970)
  }

  /// The number of another call. While another process records its calls in the same file, it has none of the numbers that
  /// this one uses.
  fileprivate func nextNumber() throws(RPCError) -> Int {
    try reportingFailure { () throws(SystemError) in try file.begin(ifEmpty: Self.head) }
    return numbers.withLock { numbers in
      if file.isShared, !numbers.areUnique {
        numbers = (Int.random(in: Self.uniqueNumbers), true)
      }
      numbers.last += 1
      return numbers.last
    }
  }

  /// The last number, from which this process continues. One that another process has chosen is not continued: the process may
  /// still run, and would use the same.
  private static func numbers(after last: Int) -> (last: Int, areUnique: Bool) {
    last < uniqueNumbers.lowerBound ? (last, false) : (.random(in: uniqueNumbers), true)
  }

  /// Higher than those of a single process, and so many that two processes do not choose the same.
  private static let uniqueNumbers = (1 << 40)..<(1 << 52)

  private static var head: [UInt8] { Array("\(Cassette.firstLine)\n".utf8) }

  fileprivate func write(_ line: [UInt8]) throws(RPCError) {
    try reportingFailure { () throws(SystemError) in try file.write(line) }
  }

  private func reportingFailure(_ body: () throws(SystemError) -> Void) throws(RPCError) {
    do throws(SystemError) {
      try body()
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
  private var redaction: Redaction
  /// The number of the call; 0 until it has started.
  private var number = 0
  private let startedAt: Int64
  private var lastTime: Int64 = 0
  /// Whether the call has started and not ended.
  private(set) var isOpen = false

  fileprivate init(
    _ call: CallFacts, _ writer: CassetteWriter, _ redaction: Redaction, startedAt: Int64
  ) {
    self.call = call
    self.writer = writer
    self.redaction = redaction
    self.startedAt = startedAt
  }

  /// The size, in bytes, of the largest message that is recorded as JSON too.
  private static let maximumShownBytes = 1 << 20

  /// Writes an event. The metrics are not recorded.
  func write(_ event: CallEvent<Message>) throws(RPCError) {
    switch redaction.event(event) {
    case .requestStart(let start): try write(start)
    case .requestMessage(let message): try write("sent", message)
    case .requestEnd: try writer.write(line("half_close").line)
    case .responseStart(let start):
      var line = line("headers")
      line.add(start)
      try writer.write(line.line)
    case .responseMessage(let message): try write("received", message)
    case .responseEnd(let end): try write(end)
    case .metrics: break
    }
  }

  /// Writes the end that an interceptor receives.
  ///
  /// - Parameter isGivenUp: Whether the call has ended further out. For what is recorded, its caller is there.
  func write(_ end: ResponseEnd, isGivenUp: Bool) throws(RPCError) {
    var end = end
    if isGivenUp { end.error?.origin = .client }
    try write(.responseEnd(end))
  }

  private func write(_ start: RequestStart) throws(RPCError) {
    number = try writer.nextNumber()
    var line = JSONObject()
    line.add("call", number)
    line.add("event", "start")
    line.add("time", CivilTime.text(nanosecondsSince1970: startedAt))
    line.add("method", start.method.description)
    line.add("kind", call.kind.rawValue)
    line.add("protocol", call.protocolName.rawValue)
    line.add("target", start.target.withoutUserInfo)
    line.add("headers", start.headers)
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
    line.add("trailers", end.trailers)
    try writer.write(line.line)
  }

  private func write(_ name: String, _ message: Message) throws(RPCError) {
    let message = redaction.message(message)
    var line = line(name)
    let bytes = message.serialized()
    // For people only: the bytes are recorded too, for messages without a JSON form. A large one would take most of the time.
    let json = bytes.count <= Self.maximumShownBytes ? try? message.json() : nil
    line.reserve((json?.count ?? 0) + (bytes.count + 2) / 3 * 4 + 64)
    if let json { line.add("message", raw: json) }
    line.add("bytes", base64: bytes)
    try writer.write(line.finish())
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
