import RPCurlBase
import RPCurlChain
import RPCurlLanguage
import RPCurlProtobuf
import RPCurlProtocols

/// Makes interceptors that respond to calls from a cassette.
final class ReplayFactory: InterceptorFactory {
  static let description = BuiltIns.Description(
    name: "replay", summary: "respond to calls from a cassette written by record",
    keys: [
      BuiltIns.Key("file=FILE", "cassette file"),
      BuiltIns.Key(
        "match=exact|fields|order", "how to match recorded calls of the method", default: "exact",
        unless: ["fields"]),
      BuiltIns.Key("fields=PATH", "with match=fields: field that must be equal", mayRepeat: true),
      BuiltIns.Key("timing=original|none", "respond with the recorded delays, or at once", default: "none"),
      BuiltIns.Key(
        "miss=error|pass|record", "what to do with a call that is not in the cassette", default: "error"),
    ] + SettingsReader.redactionKeys,
    isHarmless: true,
    make: { settings, services throws(ConfigurationError) in try ReplayFactory(settings, services) })

  enum Match: String, CaseIterable {
    case exact, fields, order
  }

  enum Timing: String, CaseIterable {
    case original, none
  }

  enum Miss: String, CaseIterable {
    case error, pass, record
  }

  let match: Match
  let fields: [FieldPath]
  let timing: Timing
  let miss: Miss
  let redaction: Redaction
  let path: String
  private let recorded: RecordedCalls
  private let calls: [RecordedCall]
  private let writer: CassetteWriter?
  /// The calls that were replayed.
  private let used: Locked<Set<Int>>
  /// The calls of each method, prepared for its types: a batch uses them repeatedly.
  private let prepared = Locked<[MethodName: (type: MessageType?, candidates: [ReplayCandidate])]>([:])

  private init(_ settings: SettingsReader, _ services: any InterceptorServices) throws(ConfigurationError) {
    match = try settings.choice("match", Match.self) ?? (settings.text("fields") == nil ? .exact : .fields)
    timing = try settings.choice("timing", Timing.self) ?? .none
    miss = try settings.choice("miss", Miss.self) ?? .error
    redaction = try settings.redaction()
    fields = try Self.fields(settings, match)
    guard let path = settings.text("file"), !path.isEmpty else {
      throw settings.error("file", "missing value")
    }
    self.path = path
    used = Locked([])
    guard miss == .record else {
      recorded = try Self.calls(of: path, settings, services)
      calls = recorded.calls
      writer = nil
      return
    }
    let writer = try CassetteWriter(path, isAppending: true, settings, services)
    // A call without an end may be one that another process makes now.
    recorded = writer.existing ?? RecordedCalls()
    calls = recorded.calls.filter(\.isWhole)
    self.writer = writer
  }

  private static func fields(
    _ settings: SettingsReader, _ match: Match
  ) throws(ConfigurationError) -> [FieldPath] {
    let texts = settings.texts("fields")
    guard texts.isEmpty == (match != .fields) else {
      throw settings.error(
        "fields",
        match == .fields ? "missing value: match=fields requires at least one" : "requires match=fields")
    }
    var fields: [FieldPath] = []
    for text in texts {
      do {
        fields.append(try FieldPath(text))
      } catch {
        throw settings.error("fields", "not a valid field path: \(error)")
      }
    }
    return fields
  }

  private static func calls(
    of path: String, _ settings: SettingsReader, _ services: any InterceptorServices
  ) throws(ConfigurationError) -> RecordedCalls {
    let content: [UInt8]
    do {
      content = try services.contents(ofFile: path, holdsMessages: true)
    } catch {
      throw settings.error(
        "file", "\(path): \(error.reason)", hint: "record a cassette with --use record,file=FILE")
    }
    do {
      return try CassetteReader.read(content, file: path)
    } catch {
      throw settings.error("file", error.reason)
    }
  }

  var declaration: InterceptorDeclaration {
    InterceptorDeclaration(
      stages: Replay.stages(records: writer != nil), messages: MessageAccesses(.readTyped),
      effects: writer == nil ? .responds : [.responds, .exports])
  }

  func make(for call: CallFacts, _ context: CallContext) throws -> (any StagedInterceptor)? {
    redaction.reportMissingFields(call, context)
    recorded.reportIncompleteLine(context)
    do {
      let candidates = try candidates(for: call)
      if candidates.isEmpty, miss == .pass { return nil }
      return Replay(self, candidates, call, context, writer?.makeRecording(of: call, context))
    } catch let error as LanguageError {
      throw RPCError(.internal, error.reason, origin: .interceptor(context.name))
    }
  }

  private func candidates(for call: CallFacts) throws -> [ReplayCandidate] {
    if let known = prepared.withLock({ $0[call.method] }), known.type == call.requestType {
      return known.candidates
    }
    let candidates = try calls.indices.filter { calls[$0].method == call.method }
      .map { try ReplayCandidate(calls[$0], index: $0, self, call) }
    prepared.withLock { $0[call.method] = (call.requestType, candidates) }
    return candidates
  }

  /// The first candidate that was not replayed; if all were, the last one.
  func choose(among candidates: [ReplayCandidate], for call: CallFacts) -> ReplayCandidate? {
    used.withLock { used in
      // In order: each one is replayed once.
      guard match != .order else { return candidates.first { !used.contains($0.index) } }
      // Of the attempts of a call that was hedged, all but one were canceled.
      let ended = call.lifetime == .untilCanceled ? [] : candidates.filter(\.hasResponse)
      let preferred = ended.isEmpty ? candidates : ended
      return preferred.first { !used.contains($0.index) } ?? preferred.last
    }
  }

  /// Marks a recorded call as replayed.
  func use(_ candidate: ReplayCandidate) {
    used.withLock { _ = $0.insert(candidate.index) }
  }

  /// Marks a recorded call as not replayed.
  func giveBack(_ candidate: ReplayCandidate) {
    used.withLock { _ = $0.remove(candidate.index) }
  }
}

/// A recorded call, prepared for a method with known types.
struct ReplayCandidate: Sendable {
  let index: Int
  let call: RecordedCall
  /// Whether the server has ended the call.
  let hasResponse: Bool
  let sent: [Message]
  /// The canonical bytes of the same messages, for fast comparison.
  private let sentBytes: [[UInt8]]
  private let match: ReplayFactory.Match
  private let fields: [FieldPath]

  init(
    _ call: RecordedCall, index: Int, _ factory: ReplayFactory, _ facts: CallFacts
  ) throws(LanguageError) {
    self.index = index
    self.call = call
    hasResponse = call.hasResponse
    match = factory.match
    fields = factory.fields
    var sent: [Message] = []
    if match != .order {
      guard let type = facts.requestType else {
        throw call.place.error(
          "the schema of \(facts.method) is unknown; match=\(match.rawValue) requires it")
      }
      for message in call.sent { sent.append(factory.redaction.message(try message.message(type))) }
      for path in fields {
        do {
          _ = try path.leaf(in: type)
        } catch {
          throw DocumentPlace(file: factory.path, line: nil).error("fields=\(path): \(error)")
        }
      }
    }
    self.sent = sent
    sentBytes = match == .exact ? sent.map { $0.canonicalBytes() } : []
  }

  /// Whether the message with this number equals the recorded one.
  func fits(_ message: Message, _ bytes: [UInt8], number: Int) -> Bool {
    guard match == .exact else { return differences(of: message, number: number).isEmpty }
    return number < sentBytes.count && sentBytes[number] == bytes
  }

  /// The differences of the message with this number; empty if it matches.
  func differences(of message: Message, number: Int) -> [String] {
    guard match != .order else { return [] }
    guard number < sent.count else { return ["it has only \(sent.count) request messages"] }
    let recorded = sent[number]
    var found: [String] = []
    if match == .fields {
      for path in fields {
        let expected = Self.text(recorded, path)
        let actual = Self.text(message, path)
        if !expected.hasBytes(of: actual) {
          found.append("\(path) is \(actual.shortened), recorded is \(expected.shortened)")
        }
      }
    } else if recorded != message {
      found = Self.differences(recorded, message)
    }
    return found.map { sent.count > 1 ? "message \(number): \($0)" : $0 }
  }

  private static func differences(_ recorded: Message, _ message: Message) -> [String] {
    var numbers: Set<UInt32> = []
    var found: [String] = []
    for field in recorded.setFields + message.setFields where numbers.insert(field.number).inserted {
      let path = FieldPath(field)
      let expected = text(recorded, path)
      let actual = text(message, path)
      if !expected.hasBytes(of: actual) {
        found.append("\(path) is \(actual.shortened), recorded is \(expected.shortened)")
      }
    }
    return found.isEmpty ? ["its bytes differ"] : found
  }

  private static func text(_ message: Message, _ path: FieldPath) -> String {
    guard let json = try? message.json(at: path) else { return "nothing" }
    return String(decoding: json, as: UTF8.self)
  }

  /// Whether the response starts before the first request message.
  var beginsWithAnswer: Bool {
    for event in call.events {
      switch event.event {
      case .requestStart, .requestMessage, .requestEnd, .responseEnd, .metrics: return false
      case .responseMessage: return true
      case .responseStart: continue
      }
    }
    return false
  }
}
