import RPCurlLanguage
import RPCurlProgram
import RPCurlProtocols

/// A call of a session, for a shell script.
package final class SavedCall {
  /// The options and interceptors as arguments of the command line, for `messages`, which are expanded.
  package let arguments: [String]
  package let target: String
  package let method: MethodName
  /// Whether the method is client-streaming: messages are read while the call runs.
  package let isClientStreaming: Bool
  /// The messages that were sent, as JSON.
  package fileprivate(set) var messages: [String] = []
  /// Whether a message is missing, since the record has reached a limit.
  package fileprivate(set) var isCut = false
  /// The number of the stream; nil for a call that the prompt waited for.
  package var number: Int?
  /// Whether the call failed; a script would stop at it.
  package var hasFailed = false
  /// Whether a check accepted its status.
  package var isExpected = false
  /// The file for its responses; nil for standard output.
  package var output: String?
  /// The number of responses after which a script ends the call; nil for a call that its server ended.
  package var limit: Int?

  /// Whether it is a stream that a script of session commands omits.
  fileprivate var isOmittedStream: Bool { number != nil && hasFailed && !isExpected }

  package init(_ state: SessionState, _ chain: SessionChain, _ plan: CallPlan, _ own: [Argument] = []) {
    arguments =
      state.commandLineOfExpandedData + chain.savedEntries.flatMap(\.arguments) + own.flatMap(\.words)
    target = state.target?.text ?? plan.settings.target.baseURL
    method = plan.name
    isClientStreaming = plan.method.clientStreaming
  }
}

/// The commands and calls of a session that `save` writes.
package struct SessionRecord {
  /// The limits of the record; later commands are not recorded.
  private static let limitEntries = 10_000
  private static let limitBytes = 16 << 20

  private struct Line {
    let text: String
    /// The stream that it is about; nil for other lines.
    let call: SavedCall?
    /// Whether the text ends with the number of the stream.
    let isNumbered: Bool
  }

  private let start: SessionState
  private var recorded: [Line] = []
  package private(set) var calls: [SavedCall] = []
  private var bytes = 0
  /// Whether a limit was reached.
  package private(set) var isCut = false

  /// Creates an empty record.
  package init(_ start: SessionState) {
    self.start = start
  }

  /// The settings at the start of the session.
  package var beginning: SessionState { start }

  /// The lines of a script, without those about streams that failed.
  package var lines: [String] {
    let omitted = omittedNumbers
    return recorded.filter { $0.call?.isOmittedStream != true }.map { line in
      guard line.isNumbered, let number = line.call?.number else { return line.text }
      let new = number - omitted.count { $0 < number }
      return new == number ? line.text : Self.line(line.text, ofStream: new)
    }
  }

  /// A command about a stream, with another number of the stream.
  private static func line(_ text: String, ofStream number: Int) -> String {
    let verb = text.prefixOfScalars { !$0.properties.isWhitespace }
    return CheckedStream(text[verb.endIndex...]).map { "\(verb) stream \(number) \($0.check)" }
      ?? "\(verb) \(number)"
  }

  /// The number that a stream has in a script of session commands.
  package func number(inScript number: Int) -> Int { number - omittedNumbers.count { $0 < number } }

  private var omittedNumbers: [Int] { calls.filter(\.isOmittedStream).compactMap(\.number) }

  /// The call of a stream.
  package func call(ofStream number: Int) -> SavedCall? { calls.last { $0.number == number } }

  /// Records a line.
  ///
  /// - Parameters:
  ///   - line: The command.
  ///   - call: The call that it is about.
  ///   - isNumbered: Whether the command has the number of the stream.
  package mutating func add(_ line: String, of call: SavedCall? = nil, isNumbered: Bool = false) {
    guard makeRoom(for: line, recorded.count) else { return }
    recorded.append(Line(text: line, call: call, isNumbered: isNumbered))
  }

  /// Records a call.
  package mutating func calls(_ call: SavedCall?) {
    if let call, makeRoom(for: "", calls.count) { calls.append(call) }
  }

  /// Records a message of a call.
  package mutating func sends(_ json: String, _ call: SavedCall?) {
    guard let call else { return }
    if makeRoom(for: json, call.messages.count) { call.messages.append(json) } else { call.isCut = true }
  }

  private mutating func makeRoom(for text: String, _ count: Int) -> Bool {
    guard !isCut, count < Self.limitEntries, bytes + text.utf8.count <= Self.limitBytes else {
      isCut = true
      return false
    }
    bytes += text.utf8.count
    return true
  }

  /// The notice for a record that reached its limits.
  package static let cutRemark =
    "only the first \(limitEntries) commands and \(limitBytes >> 20) MiB were recorded"
}

extension ChainArguments.Entry {
  /// The arguments of the command line.
  package var arguments: [String] {
    switch self {
    case .builtIn(let text, _): ["--use", text]
    case .plugin(let text, _): ["--plugin", text]
    case .script(let command, _): ["--script", command]
    }
  }

  /// The session command.
  package var line: String {
    switch self {
    case .builtIn, .script: "use \(Template.quoting(text))"
    case .plugin(let text, _): "plugin load \(Template.quoting(text))"
    }
  }
}
