import Calls
import RPCProtocols

/// One call of a session, as it is written down for the shell.
final class SavedCall {
  /// The options, and the interceptors, as the command line has them.
  let words: [String]
  let target: String
  let method: MethodName
  /// Whether messages are read while the call runs.
  let takesStream: Bool
  /// What was sent, as JSON.
  fileprivate(set) var messages: [String] = []
  /// Whether it ended otherwise than well, so that a script would end at it.
  var hasFailed = false

  init(_ state: SessionState, _ chain: SessionChain, _ plan: CallPlan) {
    words = state.words + chain.members.flatMap { $0.entry.words }
    target = state.target?.text ?? plan.target.baseURL
    method = plan.name
    takesStream = plan.method.clientStreaming
  }
}

/// What was done in a session, as far as it belongs into a script that does it again.
struct SessionRecord {
  /// What is kept at most; what comes later is left out of scripts.
  private static let limitEntries = 10_000
  private static let limitBytes = 16 << 20

  private let start: SessionState
  private(set) var lines: [String] = []
  private(set) var calls: [SavedCall] = []
  private var bytes = 0
  /// Whether not all was kept.
  private(set) var isCut = false

  /// Nothing was done yet.
  init(_ start: SessionState) {
    self.start = start
  }

  /// What the session started with.
  var beginning: SessionState { start }

  /// Keeps a line that was typed.
  mutating func add(_ line: String) {
    if makeRoom(for: line, lines.count) { lines.append(line) }
  }

  /// Keeps a call that is made.
  mutating func calls(_ call: SavedCall?) {
    if let call, makeRoom(for: "", calls.count) { calls.append(call) }
  }

  /// Keeps a message of a call.
  mutating func sends(_ json: String, _ call: SavedCall?) {
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
  static let cutRemark = "only the first \(limitEntries) commands and \(limitBytes >> 20) MiB were kept"
}

extension ChainArguments.Entry {
  /// The words of the command line.
  var words: [String] {
    switch self {
    case .builtIn(let text, _): ["--use", text]
    case .plugin(let text, _): ["--plugin", text]
    }
  }

  /// The command of a session.
  var line: String {
    switch self {
    case .builtIn(let text, _): "use \(text)"
    case .plugin(let text, _): "plugin load \(text)"
    }
  }
}
