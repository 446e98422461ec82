import Calls
import RPCProtocols

/// One call of a session, as it is written down for the shell.
package final class SavedCall {
  /// The options, and the interceptors, as the command line has them.
  package let words: [String]
  package let target: String
  package let method: MethodName
  /// Whether messages are read while the call runs.
  package let takesStream: Bool
  /// What was sent, as JSON.
  package fileprivate(set) var messages: [String] = []
  /// Whether it ended otherwise than well, so that a script would end at it.
  package var hasFailed = false

  package init(_ state: SessionState, _ chain: SessionChain, _ plan: CallPlan) {
    words = state.words + chain.members.flatMap { $0.entry.words }
    target = state.target?.text ?? plan.target.baseURL
    method = plan.name
    takesStream = plan.method.clientStreaming
  }
}

/// What was done in a session, as far as it belongs into a script that does it again.
package struct SessionRecord {
  /// What is kept at most; what comes later is left out of scripts.
  private static let limitEntries = 10_000
  private static let limitBytes = 16 << 20

  private let start: SessionState
  package private(set) var lines: [String] = []
  package private(set) var calls: [SavedCall] = []
  private var bytes = 0
  /// Whether not all was kept.
  package private(set) var isCut = false

  /// Nothing was done yet.
  package init(_ start: SessionState) {
    self.start = start
  }

  /// What the session started with.
  package var beginning: SessionState { start }

  /// Keeps a line that was typed.
  package mutating func add(_ line: String) {
    if makeRoom(for: line, lines.count) { lines.append(line) }
  }

  /// Keeps a call that is made.
  package mutating func calls(_ call: SavedCall?) {
    if let call, makeRoom(for: "", calls.count) { calls.append(call) }
  }

  /// Keeps a message of a call.
  package mutating func sends(_ json: String, _ call: SavedCall?) {
    if let call, makeRoom(for: json, call.messages.count) { call.messages.append(json) }
  }

  private mutating func makeRoom(for text: String, _ count: Int) -> Bool {
    guard !isCut, count < Self.limitEntries, bytes + text.utf8.count <= Self.limitBytes else {
      isCut = true
      return false
    }
    bytes += text.utf8.count
    return true
  }

  /// What tells that not all was kept.
  package static let cutRemark =
    "only the first \(limitEntries) commands and \(limitBytes >> 20) MiB were kept"
}

extension ChainArguments.Entry {
  /// The words of the command line.
  package var words: [String] {
    switch self {
    case .builtIn(let text, _): ["--use", text]
    case .plugin(let text, _): ["--plugin", text]
    }
  }

  /// The command of a session.
  package var line: String {
    switch self {
    case .builtIn(let text, _): "use \(text)"
    case .plugin(let text, _): "plugin load \(text)"
    }
  }
}
