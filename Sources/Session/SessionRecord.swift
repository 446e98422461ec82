import Calls
import RPCProtocols

/// A call of a session, for a shell script.
package final class SavedCall {
  /// The options and interceptors as arguments of the command line.
  package let arguments: [String]
  package let target: String
  package let method: MethodName
  /// Whether the method is client-streaming: messages are read while the call runs.
  package let isClientStreaming: Bool
  /// The messages that were sent, as JSON.
  package fileprivate(set) var messages: [String] = []
  /// Whether a message is missing, since the record has reached a limit.
  package fileprivate(set) var isCut = false
  /// Whether the call failed; a script would stop at it.
  package var hasFailed = false
  /// The number of responses after which a script ends the call; nil for a call that its server ended.
  package var limit: Int?

  package init(_ state: SessionState, _ chain: SessionChain, _ plan: CallPlan) {
    arguments = state.commandLine + chain.savedEntries.flatMap(\.arguments)
    target = state.target?.text ?? plan.target.baseURL
    method = plan.name
    isClientStreaming = plan.method.clientStreaming
  }
}

/// The commands and calls of a session that `save` writes.
package struct SessionRecord {
  /// The limits of the record; later commands are not recorded.
  private static let limitEntries = 10_000
  private static let limitBytes = 16 << 20

  private let start: SessionState
  package private(set) var lines: [String] = []
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

  /// Records a line.
  package mutating func add(_ line: String) {
    if makeRoom(for: line, lines.count) { lines.append(line) }
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
    }
  }

  /// The session command.
  package var line: String {
    switch self {
    case .builtIn(let text, _): "use \(text)"
    case .plugin(let text, _): "plugin load \(text)"
    }
  }
}
