import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// What a cassette contains.
struct RecordedCalls: Sendable {
  /// In the order of their starts.
  fileprivate(set) var calls: [RecordedCall] = []
  /// The highest number of a call.
  fileprivate(set) var lastNumber = 0
  /// A line that a process was writing when it was ended; nil if there is none. It is ignored.
  fileprivate(set) var incompleteLine: LanguageError?
  private let reporting = Once()

  /// Reports the line that is ignored, once.
  func reportIncompleteLine(_ context: CallContext) {
    guard let incompleteLine else { return }
    reporting.report { context.log(.warning, incompleteLine.reason) }
  }
}

/// Reads the calls of a cassette.
struct CassetteReader {
  private let file: String
  private var recorded = RecordedCalls()
  /// The index of each number's last call.
  private var byNumber: [Int: Int] = [:]
  /// The highest valid number of a call: that which every JSON parser reads exactly.
  private static let highestNumber = 1 << 53

  /// Reads a file's calls.
  static func read(_ content: [UInt8], file: String) throws(LanguageError) -> RecordedCalls {
    var reader = CassetteReader(file: file)
    try reader.read(content)
    return reader.recorded
  }

  /// Reads a file to which calls are to be added; nil if it is missing or empty.
  static func readToContinue(
    _ path: String, _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) -> RecordedCalls? {
    let content: [UInt8]
    do throws(SystemError) {
      content = try services.contents(ofFile: path, holdsMessages: true)
    } catch {
      // A file that exists and cannot be read must not be replaced.
      if error.isMissing { return nil }
      throw settings.error("file", "\(path): \(error.reason)")
    }
    guard !content.isEmpty else { return nil }
    do { return try read(content, file: path) } catch { throw settings.error("file", error.reason) }
  }

  private init(file: String) { self.file = file }

  private mutating func read(_ content: [UInt8]) throws(LanguageError) {
    var hasFirst = false
    for (index, line) in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    {
      guard let first = line.first(where: { $0 > 0x20 }), let last = line.last(where: { $0 > 0x20 })
      else { continue }
      let place = DocumentPlace(file: file, line: index + 1)
      let json: JSONValue
      do throws(MessageParseError) {
        json = try JSONValue(parsing: Array(line))
      } catch {
        // It ends within its JSON, which may be within a character or an escape.
        let isIncomplete = error.reason == .unexpectedEnd || last != UInt8(ascii: "}")
        if hasFirst, isIncomplete, first == UInt8(ascii: "{") {
          recorded.incompleteLine = place.error(
            "the line is incomplete, and ignored: the process that wrote it was ended")
          continue
        }
        throw place.error("\(error.withoutPlace) (column \(error.position.column))")
      }
      do throws(LanguageError) {
        if hasFirst { try add(json, place) } else { try checkFirst(json) }
      } catch {
        throw place.error(error.reason)
      }
      hasFirst = true
    }
    guard hasFirst else { throw DocumentPlace(file: file, line: nil).error("is empty, not a cassette") }
  }

  private func checkFirst(_ json: JSONValue) throws(LanguageError) {
    let object = try ObjectReader(json, keys: nil)
    guard try object.string("cassette") == "rpcurl", let version = try object.integer("version") else {
      throw LanguageError("the first line must be \(Cassette.firstLine)")
    }
    guard version <= Cassette.version else {
      throw object.error("version", "\(version) is newer than this rpcurl supports (\(Cassette.version))")
    }
  }

  private mutating func add(_ json: JSONValue, _ place: DocumentPlace) throws(LanguageError) {
    let object = try ObjectReader(json, keys: nil)
    guard let number = try object.integer("call") else { throw object.error("call", "missing") }
    // Further calls have higher numbers.
    guard number <= Self.highestNumber else {
      throw object.error("call", "must be at most \(Self.highestNumber)")
    }
    guard let event = try object.string("event") else { throw object.error("event", "missing") }
    if event == "start" {
      guard let name = try object.string("method").flatMap({ MethodName($0) }) else {
        throw object.error("method", "must be the name of a method")
      }
      // A number may repeat for another call, from another process.
      byNumber[number] = recorded.calls.count
      recorded.lastNumber = max(recorded.lastNumber, number)
      recorded.calls.append(RecordedCall(place: place, method: name))
      return
    }
    guard let index = byNumber[number] else {
      throw object.error("call", "no call with number \(number) has started")
    }
    let time = try object.milliseconds("ms") ?? recorded.calls[index].events.last?.time ?? .zero
    guard let event = try Self.event(event, object, place) else { return }
    guard !recorded.calls[index].isWhole else { throw object.error("event", "the call has already ended") }
    recorded.calls[index].events.append(RecordedCall.Event(place: place, time: time, event: event))
  }

  /// `nil` for an unknown event: newer versions may add some.
  private static func event(
    _ name: String, _ object: ObjectReader, _ place: DocumentPlace
  ) throws(LanguageError) -> CallEvent<RecordedMessage>? {
    switch name {
    case "sent": return .requestMessage(try message(object, place))
    case "half_close": return .requestEnd
    case "headers":
      return .responseStart(
        ResponseStart(
          httpStatus: try object.integer("http_status") ?? 200, headers: try object.headers("headers")))
    case "received": return .responseMessage(try message(object, place))
    case "end":
      return .responseEnd(ResponseEnd(error: try error(object), trailers: try object.headers("trailers")))
    default: return nil
    }
  }

  private static func message(
    _ object: ObjectReader, _ place: DocumentPlace
  ) throws(LanguageError) -> RecordedMessage {
    if let text = try object.string("bytes") {
      guard let bytes = Base64.decode(text) else { throw object.error("bytes", "is not base64") }
      return RecordedMessage(place: place, content: .bytes(bytes))
    }
    guard let json = object.value("message") else {
      throw object.error("bytes", "missing bytes or message")
    }
    return RecordedMessage(place: place, content: .json(json))
  }

  private static func error(_ object: ObjectReader) throws(LanguageError) -> RPCError? {
    guard let code = try object.code("code") else { throw object.error("code", "missing") }
    guard code != .ok else { return nil }
    var details: [StatusDetail] = []
    for (index, element) in (try object.array("details") ?? []).enumerated() {
      let detail = try ObjectReader(element, object.place("details[\(index)]"), keys: nil)
      guard let type = try detail.string("type") else { throw detail.error("type", "missing") }
      guard let value = try detail.string("value"), let bytes = Base64.decode(value) else {
        throw detail.error("value", "is not base64")
      }
      details.append(StatusDetail(typeName: type, value: bytes))
    }
    let origin: RPCError.Origin =
      switch try object.string("origin") {
      case "connection": .connection
      case "tls": .tls
      case "violation": .violation
      case "client": .client
      default: .server
      }
    return RPCError(code, try object.string("message") ?? "", details: details, origin: origin)
  }
}
