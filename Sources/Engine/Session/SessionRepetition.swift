import RPCurlBase
import RPCurlCall
import RPCurlPlatform
import RPCurlProgram

/// The arguments of `repeat`: how often, at which intervals, and the call.
struct SessionRepetition {
  /// The name of the command.
  static let name = "repeat"

  /// How often; nil until Ctrl-C.
  let count: Int?
  /// The time from the start of one call to that of the next.
  let interval: Duration
  /// The call.
  let call: Substring

  /// Reads `N CALL`, `every DURATION CALL` or `N every DURATION CALL`; nil for other text.
  init?(_ text: Substring) {
    var rest = text.droppingScalars(while: \.properties.isWhitespace)
    func word() -> Substring {
      let word = rest.prefixOfScalars { !$0.properties.isWhitespace }
      rest = rest[word.endIndex...].droppingScalars(while: \.properties.isWhitespace)
      return word
    }
    var first = word()
    count = Int(first)
    if let count {
      guard count > 0 else { return nil }
      if rest.begins(with: "every ") { first = word() }
    }
    if first == "every" {
      guard let time = Value.duration(String(word())) else { return nil }
      interval = time
    } else {
      guard count != nil else { return nil }
      interval = .zero
    }
    guard !rest.isEmpty else { return nil }
    call = rest
  }

  /// The arguments of a line; nil if its command is another one.
  init?(ofLine name: some StringProtocol, _ rest: Substring) {
    guard name == Self.name else { return nil }
    self.init(rest)
  }
}

extension Session {
  /// `repeat N CALL`, `repeat every DURATION CALL`: makes a call again and again, until one fails.
  func repeatCall(_ statement: SessionStatement, _ arguments: SessionArguments) throws {
    guard let repetition = SessionRepetition(arguments.rest[...]) else { throw arguments.wrongUsage }
    guard repetition.count != nil || isAtPrompt else {
      throw Failure.onlyAtPrompt("repeat every", "repeat N every DURATION CALL ends")
    }
    let head = String(repetition.call)
    guard SessionVerb.named(SessionVerb.parts(of: head).name)?.isCall == true else {
      throw arguments.wrongUsage
    }
    let rest = statement.recorded.utf8.dropFirst(statement.head.utf8.count)
    let text = head + String(decoding: Array(rest), as: UTF8.self)
    let call = SessionStatement(
      head: head, values: statement.values, output: statement.output, options: statement.options,
      command: statement.command, text: text, recorded: text)
    var made = 0
    let handled = signals
    while true {
      var isDue = false
      let timer = client.loop.schedule(at: .now + repetition.interval) { isDue = true }
      defer { client.loop.cancel(timer) }
      try execute(call)
      made += 1
      if Interrupt.isPending { handleSignal() }
      // A check of its status may follow.
      if failures.contains(where: { $0.stream === lastCall }) { return }
      // Ctrl-C during a call ends the call, and so the repetition.
      if made == repetition.count || end != nil || signals != handled { return }
      guard repetition.interval > .zero else { continue }
      guard try wait(until: { isDue || observer?.isTimeOver == true }) else {
        console.error.endEchoedLine()
        handleSignal()
        return
      }
    }
  }
}
