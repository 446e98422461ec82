import RPCurlChain
import RPCurlEngine
import RPCurlLanguage
import RPCurlPlatform
import RPCurlProgram
import RPCurlProtobuf
import RPCurlProtocols

/// The break points, the values that they hold, and what a command does with these. Without a terminal and without calls.
struct BreakPoints {
  /// The decision on a value; `full` if the limits of what is held let it pass.
  enum Decision { case pass, hold, full }

  /// What a command does, besides what it changes here.
  enum Action {
    case print([String])
    /// The value passes on, with this message if it is one.
    case proceed(call: Int, Message?)
    case fail(call: Int, RPCError)
    case respond(call: Int, Message)
    /// The user edits a text, which `edit(_:_:)` receives.
    case edit(call: Int, String)
    case end
  }

  /// The most values that are held, and the most bytes of them. Others pass.
  static let limit = (count: 100, bytes: 64 << 20)
  /// The name in errors and logs.
  static let name = "break"

  let shown: ShownValues
  /// The methods of the schema, which break points are checked against.
  var schema: [MethodName: MethodDescriptor]
  private(set) var points: [(number: Int, point: BreakPoint)] = []
  private var lastNumber = 0
  /// The values that are held, oldest first; one of each call at most.
  private(set) var held: [HeldValue] = []
  private var heldBytes = 0
  /// Whether nothing more is held: the program ends.
  private var isClosed = false

  init(_ shown: ShownValues, _ schema: [MethodName: MethodDescriptor]) {
    (self.shown, self.schema) = (shown, schema)
  }

  // MARK: Values

  /// The directions in which a method has break points.
  func sides(of method: MethodName) -> Set<BreakPoint.Side> {
    Set(points.lazy.filter { $0.point.methods.matches(method) }.map(\.point.side))
  }

  /// Whether a value is to be held.
  func matches(_ value: HeldValue) -> Bool {
    !isClosed && points.contains { $0.point.matches(value) }
  }

  /// Decides on a value, and keeps it if it is held.
  mutating func receive(_ value: HeldValue) -> Decision {
    guard matches(value) else { return .pass }
    guard held.count < Self.limit.count, heldBytes + value.sizeBytes <= Self.limit.bytes else { return .full }
    held.append(value)
    heldBytes += value.sizeBytes
    return .hold
  }

  /// Removes the value of a call, which has ended or continues; nil if it has none.
  @discardableResult
  mutating func release(call: Int) -> HeldValue? {
    guard let index = held.firstIndex(where: { $0.call == call }) else { return nil }
    heldBytes -= held[index].sizeBytes
    return held.remove(at: index)
  }

  /// Fails all that is held, and holds nothing more.
  mutating func close() -> [Action] {
    isClosed = true
    let error = RPCError(.unavailable, "rpcurl was stopped", origin: .interceptor(Self.name))
    return held.map(\.call).compactMap { call in release(call: call).map { _ in .fail(call: call, error) } }
  }

  // MARK: Break points

  /// Adds a break point, as `break` does.
  mutating func add(_ text: String) throws(LanguageError) -> Int {
    let point = try BreakPoint(parsing: text)
    try point.check(schema)
    lastNumber += 1
    points.append((lastNumber, point))
    return lastNumber
  }

  // MARK: Commands

  /// Runs a line.
  ///
  /// - Throws: `Failure` if it is invalid; then nothing changes.
  mutating func run(_ line: String) throws(Failure) -> [Action] {
    var words = LineWords(line)
    let name = words.next()
    guard !name.isEmpty, !name.hasPrefix("#") else { return [] }
    guard let command = BreakCommand.named(name) else {
      let nearest = DescriptorPool.nearestNames(to: name, among: BreakCommand.allCases.map(\.name), limit: 1)
      throw Failure(
        .usage, name, "no such command",
        hint: nearest.first.map { "did you mean \($0)?" } ?? "help lists the commands")
    }
    switch command {
    case .add:
      guard !words.rest.isEmpty else { return [.print(points.map { "\($0.number) \($0.point)" })] }
      do throws(LanguageError) {
        let number = try add(words.rest)
        return [.print(points.filter { $0.number == number }.map { "\($0.number) \($0.point)" })]
      } catch {
        throw Failure(.usage, name, error)
      }
    case .delete:
      guard let number = words.nextNumber(), let index = points.firstIndex(where: { $0.number == number })
      else {
        throw Failure(.usage, name, "no such break point", hint: "\(command.usage); break lists them")
      }
      try words.end(command)
      points.remove(at: index)
    case .calls:
      try words.end(command)
      return [.print(held.map(shown.line))]
    case .show: return [.print(shown.lines(try findOnly(&words, command)))]
    case .edit:
      let value = try findOnly(&words, command)
      if let draft = value.draft { return [.edit(call: value.call, draft)] }
      return [.edit(call: value.call, try Self.json(value.message()))]
    case .set: return [.print([shown.line(try set(&words))])]
    case .proceed:
      if words.rest == "all" { return held.map(\.call).map { proceed($0) } }
      return [proceed(try findOnly(&words, command).call)]
    case .fail: return [try fail(&words)]
    case .respond: return [try respond(&words)]
    case .help: return [.print(try BreakCommand.help(words.next()))]
    case .quit:
      try words.end(command)
      return [.end]
    }
    return []
  }

  /// Sends the text on that a user has edited.
  ///
  /// - Throws: `Failure` if it is not a message; then the call is still held, and the next `edit` continues with the text.
  mutating func edit(_ call: Int, _ text: String) throws(Failure) -> [Action] {
    guard let index = held.firstIndex(where: { $0.call == call }) else {
      throw Failure(.input, "call \(call)", "the call has ended; the message was not sent")
    }
    let message = try held[index].message()
    held[index].draft = text
    held[index].content = .message(try Self.message(message.type, text, held[index]))
    return [proceed(call)]
  }

  /// The value of a call; the oldest for nil.
  private func find(_ call: Int?) throws(Failure) -> HeldValue {
    guard let oldest = held.first else { throw Failure(.usage, "", "no call is held") }
    guard let call else { return oldest }
    guard let value = held.first(where: { $0.call == call }) else {
      throw Failure(
        .usage, "\(call)", "no such call is held",
        hint: "held: \(held.map { "\($0.call)" }.joined(separator: ", "))")
    }
    return value
  }

  /// The value that the only argument of a command names.
  private func findOnly(_ words: inout LineWords, _ command: BreakCommand) throws(Failure) -> HeldValue {
    let number = words.nextNumber()
    try words.end(command)
    return try find(number)
  }

  private mutating func proceed(_ call: Int) -> Action {
    if case .message(let message)? = release(call: call)?.content { return .proceed(call: call, message) }
    return .proceed(call: call, nil)
  }

  private mutating func set(_ words: inout LineWords) throws(Failure) -> HeldValue {
    let value = try find(words.nextNumber())
    var message = try value.message()
    guard let (written, text) = FieldPath.split(words.rest, at: "=") else {
      throw Failure(.usage, "set \(words.rest)", "not of the form PATH=VALUE")
    }
    do throws(FieldPathError) {
      try message.forEachPlace(of: FieldPath(written)) { (message, path) throws(FieldPathError) in
        try message.setText(text, at: path)
      }
    } catch {
      throw Failure(.input, "set \(written)", error.message, hint: error.hint)
    }
    for index in held.indices where held[index].call == value.call {
      held[index].content = .message(message)
      held[index].draft = nil
      return held[index]
    }
    return value
  }

  private mutating func fail(_ words: inout LineWords) throws(Failure) -> Action {
    let value = try find(words.nextNumber())
    let name = words.next()
    guard let code = StatusCode(written: name), code != .ok else {
      throw Failure(
        .usage, "fail", name.isEmpty ? "missing CODE" : "\(name) is not the code of an error",
        hint: "\(BreakCommand.fail.usage), such as \"fail unavailable try later\"")
    }
    release(call: value.call)
    return .fail(call: value.call, RPCError(code, words.rest, origin: .interceptor(Self.name)))
  }

  private mutating func respond(_ words: inout LineWords) throws(Failure) -> Action {
    let value = try find(words.nextNumber())
    guard let type = value.responseType else {
      throw Failure(
        .schema, value.name, "the schema does not have the method", hint: "continue, or fail CODE MESSAGE")
    }
    guard !value.hasResponse else {
      throw Failure(
        .usage, value.name, "the client has received the message of the response",
        hint: "continue, or fail CODE MESSAGE")
    }
    let message = try Self.message(type, words.rest, value)
    release(call: value.call)
    return .respond(call: value.call, message)
  }

  // MARK: JSON

  private static func json(_ message: Message) throws(Failure) -> String {
    do {
      return String(decoding: try message.json(options: JSONEncodingOptions(pretty: true)), as: UTF8.self)
    } catch {
      throw Failure(.input, message.type.name, "the message has no form in JSON: \(error)")
    }
  }

  private static func message(_ type: MessageType, _ text: String, _ value: HeldValue) throws(Failure)
    -> Message
  {
    do throws(MessageParseError) {
      return try Message(type, json: Array(text.utf8))
    } catch {
      let excerpt = InputExcerpt(Array(text.utf8), at: error.position.byteOffset)
      throw Failure(
        .input, value.name, "\(error.description); the call is still held", hint: error.hint,
        place: InputPlace(position: error.position, fieldPath: error.fieldPath, excerpt: excerpt))
    }
  }
}
